//! Records for programs. Amounts are strings: a JSON number is a double to most readers.

use std::collections::BTreeMap;

use bankroll_ledger::{
    AcceptedLoss, AccountId, AccountName, Amount, Effects, HoldChange, IdempotencyKey, Record, References, Seq, Verdict,
};
use bankroll_store::JournalEntry;
use bankroll_terminal::when;
use serde_json::{Value, json};

use super::{DisplayContext, namespace_word, principal_words};

/// A loss of acknowledged records that a person has accepted.
pub fn loss_json(loss: &AcceptedLoss) -> Value {
    json!({
        "type": "loss_accepted", "by": loss.by, "why": loss.why,
        "lost": { "batch": loss.batch, "seq": loss.seq, "head": hex::encode(loss.head) },
    })
}

pub fn entry_json(entry: &JournalEntry, reversed_by: Option<Seq>, display: &DisplayContext<'_>) -> Value {
    let mut value = match &entry.record {
        Record::AssetListed { id, asset } => json!({
            "type": "asset_listed", "asset": { "id": id, "chain": asset.chain, "symbol": asset.symbol, "decimals": asset.decimals },
        }),
        Record::AccountOpened { id, name, by, .. } => json!({
            "type": "account_opened", "account": { "id": id, "name": name.to_string() }, "principal": principal_words(by),
        }),
        Record::Decided { request, verdict } => {
            let (result, effects) = match verdict {
                Verdict::Applied(effects) => ("applied", effects.clone()),
                Verdict::Rejected(rejection) => (rejection.code(), Effects::default()),
            };
            // A rejected request announces nothing.
            let announced = if matches!(verdict, Verdict::Applied(_)) { request.events.as_slice() } else { &[] };
            let events: Vec<Value> = announced
                .iter()
                .map(|event| json!({ "kind": event.kind, "resource": event.resource, "body": event.body }))
                .collect();
            json!({
                "type": "decided",
                "result": result,
                "key": key_json(&request.key),
                "principal": principal_words(&request.principal),
                "confirmed_by": request.confirmation.as_ref().map(|yes| &yes.by),
                "references": references_json(&request.references),
                "postings": effects.postings.iter().map(|posting| json!({
                    "direction": display.readable(posting).map(|posting| posting.direction.word()),
                    "debit": account(posting.from, display), "credit": account(posting.to, display),
                    "amount": posting.amount, "amount_decimal": decimal(posting.from, posting.amount, display),
                    "debit_balance_after": posting.from_after, "credit_balance_after": posting.to_after,
                })).collect::<Vec<_>>(),
                "holds": effects.holds.iter().map(|change| hold_json(change, display)).collect::<Vec<_>>(),
                "reverses": effects.reverses,
                "reversed_by": reversed_by,
                "events": events,
            })
        }
        Record::LossAccepted(loss) => loss_json(loss),
        Record::HoldExpired(change) => json!({ "type": "hold_expired", "holds": [hold_json(change, display)] }),
    };
    value["seq"] = json!(entry.seq);
    value["at"] = json!(when::show(entry.at));
    value["at_micros"] = json!(entry.at);
    value
}

/// What a record itself says, without any books: accounts are their numbers, with names where these are given, amounts
/// are in base units. The JSON is the same wherever it is made, so that a check can compare it.
pub fn proven_json(entry: &JournalEntry, names: &BTreeMap<AccountId, AccountName>) -> Value {
    let mut value = entry_json(entry, None, &DisplayContext::with_names(names));
    remove_nulls(&mut value);
    value
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

fn hold_json(change: &HoldChange, display: &DisplayContext<'_>) -> Value {
    let hold = &change.hold;
    json!({
        "id": hold.id, "account": account(hold.account, display), "state": hold.state, "remaining": hold.remaining,
        "held_after": change.held_after, "expires": hold.expires.map(when::show),
    })
}

fn account(id: AccountId, display: &DisplayContext<'_>) -> Value {
    json!({ "id": id, "name": display.name_of(id).map(|name| name.to_string()) })
}

fn decimal(id: AccountId, amount: Amount, display: &DisplayContext<'_>) -> Option<String> {
    display.asset_of(id).map(|asset| display.assets.decimal(asset, amount))
}

pub fn key_json(key: &IdempotencyKey) -> Value {
    json!({ "namespace": namespace_word(key.namespace), "scope": key.scope.to_string(), "text": key.text })
}

pub fn references_json(references: &References) -> Value {
    let References { deposit, intent, tx_hash, hand, block } = references;
    let block = block.as_ref().map(|block| json!({ "number": block.number, "hash": block.hash }));
    json!({ "deposit": deposit, "intent": intent, "tx_hash": tx_hash, "hand": hand, "block": block })
}
