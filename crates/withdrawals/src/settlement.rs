//! Settling (role `books`): what became of a payout moves its money, in the commit that consumes the row that says so.
//!
//! | outcome | the hold | gas |
//! | --- | --- | --- |
//! | paid | posted to the wallet's account | paid by the house: to `network_fees`; by the player: out of his hold, the rest freed |
//! | reverted | freed | as above |
//! | cancelled | freed | the house's, since it was its wish |
//! | never signed | freed | none |

use bankroll_ledger::{
    AccountName, Action, Amount, BlockRef, Fact, Guard, HoldId, Key, Kind, Leg, Namespace, Otherwise, Principal,
    References, Request, Scope, Value,
};
use bankroll_orders::IntentId;
use bankroll_store::{
    Consumed, Consumer, InboxRow, Location, PAYOUT_EVENTS, Reader, StoreError,
    columns::{BadRow, amount_of, number_of, parsed, text},
};
use serde::Deserialize;
use serde_json::json;

use crate::{
    decided::{Decided, Undecided, decided, fee_cap},
    intent::{event, row},
};

/// What the payouts role says became of an intent.
#[derive(Clone, Debug, Deserialize)]
struct Ended {
    outcome: String,
    tx_hash: Option<String>,
    block: Option<BlockRef>,
    fee: Amount,
    custody: String,
}

/// What a settlement is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settling {
    /// The intent.
    pub intent: IntentId,
    /// Whose server.
    pub scope: Scope,
    /// The hold of its money.
    pub hold: HoldId,
    /// What it pays.
    pub amount: Amount,
    /// What the player has set aside for gas, if he pays for it.
    pub fee_cap: Option<Amount>,
    /// The account of the wallet.
    pub custody: bankroll_ledger::AccountId,
    /// Where gas goes that the house pays.
    pub network_fees: bankroll_ledger::AccountId,
    /// What became of it.
    pub outcome: Settled,
}

/// What became of an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Whether it was paid.
    pub is_paid: bool,
    /// Whether the player pays for gas that was used in vain, too.
    pub is_players_gas: bool,
    /// What gas did cost.
    pub fee: Amount,
    /// The transaction, if there is one.
    pub tx_hash: Option<String>,
    /// Its block.
    pub block: Option<BlockRef>,
    /// Why it was not paid.
    pub reason: Option<&'static str>,
}

/// Takes in what the payouts role hands over: call its `round` again and again.
///
/// # Errors
/// If the books cannot be opened for reading.
pub fn consumer(location: &Location, rows_max: usize) -> Result<Consumer, StoreError> {
    let reader = Reader::open(location)?;
    let understand = move |row: &InboxRow| understand(&reader, row);
    Ok(Consumer::new(PAYOUT_EVENTS, &["payout.ended"], location, rows_max, understand))
}

fn understand(reader: &Reader, row: &InboxRow) -> Consumed {
    let Ok(ended) = serde_json::from_str::<Ended>(&row.body) else {
        return Consumed::Refused("its body is not what became of a payout".into());
    };
    match settling(reader, row, ended) {
        Ok(Ok(settling)) => request(&settling).map_or_else(
            || Consumed::Refused("more gas than the player has set aside".into()),
            |request| Consumed::Money(Box::new(request)),
        ),
        Ok(Err(refused)) => Consumed::Refused(refused.into()),
        Err(later) => Consumed::Later(later),
    }
}

/// What is settled; or why it never will be; or why not now.
fn settling(reader: &Reader, row: &InboxRow, ended: Ended) -> Result<Result<Settling, &'static str>, String> {
    let later = |error: StoreError| error.to_string();
    let bad = |error: BadRow| error.to_string();
    let Ok(intent) = row.subject.parse().map(IntentId) else { return Ok(Err("there is no such intent")) };
    let Decided { row: found, hold } = match decided(reader, &intent).map_err(|error| error.to_string())? {
        Ok(decided) => decided,
        Err(Undecided::NoRow) => return Ok(Err("there is no such intent")),
        // Somebody may put it right again.
        Err(undecided) => return Err(undecided.to_string()),
    };
    let found = &found;
    let (is_paid, is_players_gas, reason) = match ended.outcome.as_str() {
        "paid" => (true, true, None),
        "reverted" => (false, true, Some("reverted")),
        "cancelled" => (false, false, Some("cancelled")),
        "never_signed" => (false, false, Some("never_signed")),
        _ => return Ok(Err("an outcome that this program does not know")),
    };
    let asset = bankroll_ledger::AssetId(u32::try_from(number_of(found, "asset").map_err(bad)?).unwrap_or(u32::MAX));
    let number = |name: &AccountName| {
        let account = reader.account_named(name).map_err(later)?;
        account.map(|account| account.id).ok_or_else(|| format!("{name} is not open"))
    };
    let network_fees = AccountName { scope: Scope::House, kind: Kind::NetworkFees, asset, owner: None };
    let custody = ended.custody.parse::<AccountName>().ok();
    let Some(custody) = custody.filter(|name| name.kind == Kind::Custody && name.asset == asset) else {
        return Ok(Err("it names no account of a wallet"));
    };
    Ok(Ok(Settling {
        intent,
        scope: Scope::Server(parsed(found, "server").map_err(bad)?),
        hold,
        amount: amount_of(found, "amount").map_err(bad)?,
        fee_cap: fee_cap(found).map_err(bad)?,
        custody: number(&custody)?,
        network_fees: number(&network_fees)?,
        outcome: Settled {
            is_paid,
            is_players_gas,
            fee: ended.fee,
            tx_hash: ended.tx_hash,
            block: ended.block,
            reason,
        },
    }))
}

/// The request that settles an intent; `None` if gas did cost more than the player has set aside.
#[must_use]
pub fn request(settling: &Settling) -> Option<Request> {
    let Settling { hold, custody, outcome, .. } = settling;
    let (hold, custody, fee) = (*hold, *custody, outcome.fee);
    let paid = if outcome.is_paid { settling.amount } else { Amount::ZERO };
    let cap = settling.fee_cap.filter(|_| outcome.is_players_gas);
    let posted = cap.map_or(Some(paid), |_| paid.checked_add(fee))?;
    let held = settling.amount.checked_add(settling.fee_cap.unwrap_or(Amount::ZERO))?;
    let rest = held.checked_sub(posted)?;
    let mut legs = Vec::new();
    if !posted.is_zero() {
        legs.push(Leg::Post { hold, to: custody, amount: posted });
    }
    if !rest.is_zero() {
        legs.push(Leg::Release { hold });
    }
    if cap.is_none() && !fee.is_zero() {
        legs.push(Leg::Move { from: settling.network_fees, to: custody, amount: fee });
    }
    let columns = |columns: &[(&str, Value)]| {
        columns.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Vec<_>>()
    };
    let status = if outcome.is_paid { "completed" } else { "failed" };
    let fact = Fact {
        row: row(&settling.intent),
        guard: Guard::Is(columns(&[("status", text("approved"))])),
        otherwise: Otherwise::Conflict,
        set: columns(&[
            ("status", text(status)),
            ("final_tx_hash", outcome.tx_hash.as_deref().map_or(Value::Null, text)),
            ("fee", Value::Amount(fee)),
            ("reason", outcome.reason.map_or(Value::Null, text)),
        ]),
    };
    let told =
        json!({ "intent": settling.intent, "status": status, "tx_hash": outcome.tx_hash, "reason": outcome.reason });
    let kind = if outcome.is_paid { "withdrawal.completed" } else { "withdrawal.failed" };
    Some(Request {
        key: Key {
            namespace: Namespace::Payouts,
            scope: settling.scope.clone(),
            text: format!("settle/{}", settling.intent),
        },
        principal: Principal::System,
        confirmation: None,
        action: Action::Legs(legs),
        references: References {
            intent: Some(settling.intent.to_string()),
            tx_hash: outcome.tx_hash.clone(),
            block: outcome.block.clone(),
            ..References::default()
        },
        facts: vec![fact],
        events: vec![event(kind, &settling.intent, &told)],
    })
}
