//! The entries of a statement for programs: CSV columns that never change their order, and JSON.

use bankroll_ledger::{Account, Side};
use bankroll_store::{Direction, StatementChange, StatementLine};
use bankroll_terminal::when;
use serde_json::{Value, json};

use crate::journal::{DisplayContext, key_json, namespace_word, principal_words, references_json};

/// The columns of a statement. New ones go to the end.
pub const HEADER: [&str; 26] = [
    "seq",
    "line",
    "at",
    "account",
    "change",
    "other_account",
    "amount",
    "amount_decimal",
    "symbol",
    "sign",
    "balance",
    "balance_decimal",
    "held",
    "hold",
    "key_namespace",
    "key_scope",
    "key",
    "principal",
    "deposit",
    "intent",
    "tx_hash",
    "hand",
    "block",
    "reverses",
    "reversed_by",
    "entry",
];

/// `+` if an entry adds to the balance (or to the held amount), `-` if it takes from it.
pub fn sign(account: &Account, line: &StatementLine) -> &'static str {
    let adds = match line.change {
        StatementChange::Moved { direction, .. } => {
            (direction == Direction::In) == (account.name.kind.side() == Side::Credit)
        }
        StatementChange::Held(_) => true,
        StatementChange::Posted(_) | StatementChange::Released(_) | StatementChange::Expired(_) => false,
    };
    if adds { "+" } else { "-" }
}

/// The kind of an entry, as CSV and JSON have it. These words never change. `in` always adds to the balance of the
/// account, `out` always takes from it, whichever side the account is on.
pub fn word(account: &Account, line: &StatementLine) -> &'static str {
    match line.change {
        StatementChange::Moved { .. } if sign(account, line) == "+" => "in",
        StatementChange::Moved { .. } => "out",
        StatementChange::Held(_) => "held",
        StatementChange::Posted(_) => "posted",
        StatementChange::Released(_) => "released",
        StatementChange::Expired(_) => "expired",
    }
}

/// The bookkeeper's word for a move: a posting debits one account and credits the other.
const fn debit_or_credit(change: StatementChange) -> Option<&'static str> {
    match change {
        StatementChange::Moved { direction: Direction::In, .. } => Some("credit"),
        StatementChange::Moved { direction: Direction::Out, .. } => Some("debit"),
        _ => None,
    }
}

pub fn line_cells(account: &Account, line: &StatementLine, display: &DisplayContext<'_>) -> Vec<String> {
    let asset = account.name.asset;
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let (other, hold) = ends(line);
    let (key, about) = (line.key.as_ref(), &line.references);
    vec![
        line.seq.to_string(),
        line.line.to_string(),
        when::show(line.at),
        account.name.to_string(),
        word(account, line).to_owned(),
        other.map_or_else(String::new, |other| display.account(other)),
        line.amount.to_string(),
        display.assets.decimal(asset, line.amount),
        display.assets.get(asset).map_or_else(String::new, |asset| asset.symbol.clone()),
        if sign(account, line) == "+" { "adds" } else { "takes" }.to_owned(),
        line.balance.to_string(),
        display.assets.decimal(asset, line.balance),
        line.held.to_string(),
        number(hold),
        key.map_or_else(String::new, |key| namespace_word(key.namespace).to_owned()),
        key.map_or_else(String::new, |key| key.scope.to_string()),
        text(key.map(|key| &key.text)),
        line.by.as_ref().map_or_else(String::new, principal_words),
        text(about.deposit.as_ref()),
        text(about.intent.as_ref()),
        text(about.tx_hash.as_ref()),
        text(about.hand.as_ref()),
        about.block.as_ref().map_or_else(String::new, |block| format!("{} {}", block.number, block.hash)),
        number(line.reverses.map(|seq| seq.0)),
        number(line.reversed_by.map(|seq| seq.0)),
        debit_or_credit(line.change).unwrap_or_default().to_owned(),
    ]
}

pub fn line_json(account: &Account, line: &StatementLine, display: &DisplayContext<'_>) -> Value {
    let asset = account.name.asset;
    let (other, hold) = ends(line);
    json!({
        "seq": line.seq,
        "line": line.line,
        "at": when::show(line.at),
        "at_micros": line.at,
        "change": word(account, line),
        "sign": sign(account, line),
        "entry": debit_or_credit(line.change),
        "other_account": other.map(|other| json!({ "id": other, "name": display.name_of(other).map(|name| name.to_string()) })),
        "hold": hold,
        "amount": line.amount,
        "amount_decimal": display.assets.decimal(asset, line.amount),
        "balance": line.balance,
        "balance_decimal": display.assets.decimal(asset, line.balance),
        "held": line.held,
        "key": line.key.as_ref().map(key_json),
        "principal": line.by.as_ref().map(principal_words),
        "references": references_json(&line.references),
        "reverses": line.reverses,
        "reversed_by": line.reversed_by,
    })
}

/// The other account of a move, or the entry's hold.
fn ends(line: &StatementLine) -> (Option<bankroll_ledger::AccountId>, Option<u64>) {
    match line.change {
        StatementChange::Moved { other, .. } => (Some(other), None),
        StatementChange::Held(hold)
        | StatementChange::Posted(hold)
        | StatementChange::Released(hold)
        | StatementChange::Expired(hold) => (None, Some(hold.0)),
    }
}
