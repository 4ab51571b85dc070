//! Intents as they come to the books' node from elsewhere: game servers ask through other nodes, with requests that they
//! have made themselves. Pure.
//!
//! A row that gates money says only what the books would have written. So a request with such a row is believed only if it
//! is, to the last column, the one that [`intent::request`](crate::intent::request) makes of it under the books' own policy.
//! Whether its account is the one that it names, and its asset the coin of its chain, whoever knows the books must say.

use bankroll_ledger::{AccountId, Action, Amount, Effects, Leg, Request, Value};
use bankroll_store::{
    Statement,
    columns::{any, int, text},
};

use crate::intent::{GasPayer, Policy, Wanted, request};

/// The table of intents, by which a request for one is known.
pub const TABLE: &str = "withdrawal_requests";
/// What a new intent announces.
pub const CREATED: &str = "withdrawal.created";

/// What the request wants paid, and from which account, if it is an intent and nothing else.
#[must_use]
pub fn understand(asked: &Request, policy: Policy) -> Option<(Wanted, AccountId)> {
    let Action::Legs(legs) = &asked.action else { return None };
    let (account, exit, world) = match legs[..] {
        [Leg::Move { from, to, amount }, Leg::Hold { account, .. }] if to == account => (account, Some(amount), from),
        [Leg::Hold { account, .. }] => (account, None, AccountId(0)),
        _ => return None,
    };
    let [fact] = &asked.facts[..] else { return None };
    let column = |name: &str| fact.set.iter().find(|(column, _)| column == name).map(|(_, value)| value);
    let word = |name: &str| match column(name)? {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let amount = |name: &str| match column(name)? {
        Value::Amount(amount) => Some(*amount),
        _ => None,
    };
    let wanted = Wanted {
        principal: asked.principal.clone(),
        server: word("server")?.parse().ok()?,
        request_id: word("request_id")?.parse().ok()?,
        wallet: word("wallet")?.parse().ok()?,
        account: word("account")?.parse().ok()?,
        chain: word("chain")?.parse().ok()?,
        to: word("to_address")?.parse().ok()?,
        amount: amount("amount").filter(|amount| *amount != Amount::ZERO)?,
        gas: if word("gas_payer")? == "house" { GasPayer::House } else { GasPayer::Player(amount("fee_cap")?) },
        exit,
    };
    (request(&wanted, policy, account, world)? == *asked).then_some((wanted, account))
}

/// What notes the hold in the intent's row, so that nobody has to look for it in the journal when it is settled.
#[must_use]
pub fn noting(asked: &Request, effects: &Effects) -> Option<Statement> {
    let fact = asked.facts.iter().find(|fact| fact.row.table == TABLE)?;
    let (_, id) = fact.row.columns.first()?;
    let hold = effects.holds.first()?.hold.id;
    let id = if let Value::Text(id) = id { text(id) } else { return None };
    Some(any("UPDATE withdrawal_requests SET hold = $1 WHERE id = $2 AND hold IS NULL", vec![int(hold.0), id]))
}
