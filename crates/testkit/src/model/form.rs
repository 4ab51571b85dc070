//! The checks of a request that need no books.

use bankroll_ledger::{Action, ColumnValue, Fact, Guard, Leg, Principal, Request, Settler};

use super::{RejectionCode, rights};

pub(super) fn check(request: &Request) -> Result<(), RejectionCode> {
    if !is_plain(&request.key.text) {
        return Err("key_malformed");
    }
    if let Action::Legs(legs) = &request.action {
        if (legs.is_empty() && request.facts.is_empty()) || legs.len() > 16 {
            return Err("legs_out_of_range");
        }
        if legs.iter().any(|leg| amount(leg) == Some(0)) {
            return Err("amount_zero");
        }
        if legs.iter().any(|leg| matches!(leg, Leg::Move { from, to, .. } if from.0 == to.0)) {
            return Err("accounts_must_differ");
        }
    }
    if !extras_are_fine(request) {
        return Err("fact_malformed");
    }
    if !rights::may_use_key(&request.principal, &request.key) {
        return Err("key_not_allowed");
    }
    let legs = match &request.action {
        Action::Legs(legs) => legs.as_slice(),
        Action::Reverse(_) => &[],
    };
    let records_only = legs.is_empty() && matches!(request.action, Action::Legs(_));
    if let Principal::Admin(person) = &request.principal
        && !records_only
    {
        let second = request.confirmation.as_ref().map(|confirmation| confirmation.by.as_str());
        if second.is_none() || second == Some(person.as_str()) {
            return Err("not_confirmed");
        }
    }
    let for_system = |leg: &Leg| matches!(leg, Leg::Hold { settler: Settler::System, .. });
    if legs.iter().any(for_system) && !makes_its_intent(request) && !matches!(request.principal, Principal::System) {
        return Err("hold_needs_intent");
    }
    Ok(())
}

/// One of its facts makes a row whose key begins with the intent that the request names.
fn makes_its_intent(request: &Request) -> bool {
    let intent = request.references.intent.clone().map(ColumnValue::Text);
    let made = request.facts.iter().filter(|fact| matches!(fact.guard, Guard::Absent));
    let mut keys = made.filter_map(|fact| fact.row.columns.first());
    intent.is_some_and(|intent| keys.any(|(_, key)| *key == intent))
}

fn amount(leg: &Leg) -> Option<u128> {
    match leg {
        Leg::Move { amount, .. } | Leg::Hold { amount, .. } | Leg::Post { amount, .. } => Some(amount.units()),
        Leg::Release { .. } => None,
    }
}

/// 1 to 255 bytes, no control characters.
fn is_plain(text: &str) -> bool {
    let control = |letter: char| (letter as u32) < 32 || (127..=159).contains(&(letter as u32));
    !text.is_empty() && text.len() < 256 && !text.chars().any(control)
}

fn extras_are_fine(request: &Request) -> bool {
    let references = &request.references;
    let named = [&references.deposit, &references.intent, &references.tx_hash, &references.hand];
    let named = named.into_iter().flatten().chain(references.block.as_ref().map(|block| &block.hash));
    let mut texts = named.chain(request.events.iter().map(|event| &event.resource));
    texts.all(|text| is_plain(text))
        && request.facts.len() <= 16
        && request.events.len() <= 16
        && request.facts.iter().all(fact_is_fine)
        && request.events.iter().all(|event| !event.body.bytes().any(|byte| byte == 0))
        && rough_size(request) <= 16 * 1024
}

fn fact_is_fine(fact: &Fact) -> bool {
    let guarded = match &fact.guard {
        Guard::Absent if fact.set.is_empty() => return false,
        Guard::Absent => Vec::new(),
        Guard::Is(columns) => columns.clone(),
    };
    let mut columns = fact.row.columns.iter().chain(&guarded).chain(&fact.set);
    let is_key = |name: &str| fact.row.columns.iter().any(|(key, _)| key == name);
    if fact.set.iter().any(|(name, _)| is_key(name)) {
        return false;
    }
    let has_zero = |value: &ColumnValue| matches!(value, ColumnValue::Text(text) if text.bytes().any(|byte| byte == 0));
    let columns_are_fine = columns.all(|(name, value)| is_identifier(name) && !has_zero(value));
    !fact.row.columns.is_empty() && is_identifier(&fact.row.table) && columns_are_fine
}

fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
        && text.len() <= 63
}

/// Counts the texts only. Streams stay far below the limit or far above it, so that the encoding does not matter.
fn rough_size(request: &Request) -> usize {
    let value = |value: &ColumnValue| match value {
        ColumnValue::Text(text) => text.len(),
        ColumnValue::Bytes(bytes) => bytes.len(),
        ColumnValue::Null | ColumnValue::Int(_) | ColumnValue::Amount(_) => 0,
    };
    let facts = request.facts.iter().flat_map(|fact| fact.row.columns.iter().chain(&fact.set));
    let events = request.events.iter().map(|event| event.resource.len() + event.body.len());
    facts.map(|(name, set)| name.len() + value(set)).chain(events).sum()
}
