//! Requests for intents that reach the books' node from elsewhere: game servers ask through other nodes, which build the
//! request themselves. Pure.
//!
//! A row that gates money states only what the books would have written. So a request with such a row is accepted only if
//! it equals, to the last column, the request that the books build from it under their own policy. Whether the account is
//! the one that it names, and the asset the coin of the chain, only the books know:
//! [`Intents::admit`](crate::Intents::admit) checks that.

use bankroll_ledger::{AccountId, Action, Amount, ColumnValue, Leg, Request};

use crate::{
    intent::{GasPayer, INTENTS_TABLE, WithdrawalRequest, intent_request},
    status::ApprovalPolicy,
};

/// Whether a request does more than move money, so that the books' node must admit it first. An announcement without a
/// row counts: consumers of events believe announcements.
pub(crate) fn needs_admission(request: &Request) -> bool {
    !request.facts.is_empty() || !request.events.is_empty()
}

/// The payout that the request asks for, and the account that pays it, if it is a request for an intent and nothing else.
pub(crate) fn parse_forwarded(request: &Request, policy: ApprovalPolicy) -> Option<(WithdrawalRequest, AccountId)> {
    let Action::Legs(legs) = &request.action else { return None };
    let (account, exit, world) = match legs[..] {
        [Leg::Move { from, to, amount }, Leg::Hold { account, .. }] if to == account => {
            (account, Some(amount.into()), from)
        }
        [Leg::Hold { account, .. }] => (account, None, AccountId(0)),
        _ => return None,
    };
    // An exit has a second row; the comparison below covers it.
    let fact = request.facts.first()?;
    let column = |name: &str| fact.set.iter().find(|(column, _)| column == name).map(|(_, value)| value);
    let word = |name: &str| match column(name)? {
        ColumnValue::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let amount = |name: &str| match column(name)? {
        ColumnValue::Amount(amount) => Some(*amount),
        _ => None,
    };
    let withdrawal = WithdrawalRequest {
        principal: request.principal.clone(),
        server: word("server")?.parse().ok()?,
        request_id: word("request_id")?.parse().ok()?,
        wallet: word("wallet")?.parse().ok()?,
        account: word("account")?.parse().ok()?,
        chain: word("chain")?.parse().ok()?,
        to: word("to_address")?.parse().ok()?,
        amount: amount("amount").filter(|amount| *amount != Amount::ZERO)?,
        gas: GasPayer::from_columns(word("gas_payer")?, amount("fee_cap")?)?,
        exit,
        consent: None,
    };
    (intent_request(&withdrawal, policy, account, world).ok()? == *request).then_some((withdrawal, account))
}

/// The id of the intent that a request makes, as its row states it.
pub(crate) fn intent_of(request: &Request) -> Option<&str> {
    let fact = request.facts.iter().find(|fact| fact.row.table == INTENTS_TABLE)?;
    match fact.row.columns.first()? {
        (_, ColumnValue::Text(id)) => Some(id),
        _ => None,
    }
}
