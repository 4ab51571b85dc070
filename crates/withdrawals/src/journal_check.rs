//! What the books decided about an intent: the request that made it, as the journal has it.
//!
//! A row can be edited with access to the database, and nothing in it would show that; the journal is hashed, and every
//! audit computes it again. So money is ordered and settled by a row only as long as the row agrees with the journal.
//!
//! Approvals are not known here: those will be requests of their own.

use std::collections::BTreeSet;

use bankroll_ledger::{AccountName, ColumnValue, Guard, HoldId, Name, Record, Request, Row, Verdict};
use bankroll_orders::IntentId;
use bankroll_store::{
    Reader, Rows, SearchQuery, SearchSubject, StoreError,
    columns::{amount_of, maybe, number_of, parsed, text},
};

use crate::{
    PayoutError,
    intent::{fee_cap, row_key},
    job::PayoutJob,
    payouts::IsFrozen,
    status::IntentStatus,
};

/// An intent whose row agrees with the journal.
pub(crate) struct CheckedIntent {
    pub row: Row,
    /// The hold of its money.
    pub hold: HoldId,
}

/// The effect of the request that made an intent.
struct Creation {
    hold: HoldId,
    /// The columns that it wrote.
    set: Vec<(String, ColumnValue)>,
}

/// Why an intent cannot be paid or settled by its row.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IntentMismatch {
    #[error("there is no such intent")]
    NoRow,
    #[error("the journal has no such intent")]
    NoRecord,
    /// The row and the journal differ: it needs an operator.
    #[error("the row of the intent differs from the decision of the books")]
    Edited,
}

/// The intent, as its row states it and the journal confirms it.
pub(crate) fn check_intent(
    reader: &Reader,
    intent: &IntentId,
) -> Result<Result<CheckedIntent, IntentMismatch>, PayoutError> {
    let sql =
        "SELECT server, asker, request_id, wallet, account, chain, asset, to_address, amount, gas_payer, fee_cap, status,
           consent_wallet, consent_audience, consent_asset, consent_expires, consent_signature, hold
         FROM withdrawal_requests WHERE id = $1";
    let Some(row) = reader.rows(sql, vec![text(intent.0.as_str())])?.pop() else {
        return Ok(Err(IntentMismatch::NoRow));
    };
    let noted = maybe(&row, "hold", number_of)?.map(HoldId);
    let Some(Creation { hold, set }) = find_creation(reader, intent, noted)? else {
        return Ok(Err(IntentMismatch::NoRecord));
    };
    let is_same = set.iter().all(|(column, value)| row.get(column) == Some(value));
    Ok(if is_same { Ok(CheckedIntent { row, hold }) } else { Err(IntentMismatch::Edited) })
}

/// Whether a job pays exactly what the books decided.
pub(crate) fn confirms(store: &Rows, job: &PayoutJob) -> Result<bool, PayoutError> {
    let Ok(CheckedIntent { row, .. }) = check_intent(store.reader(), &job.intent)? else { return Ok(false) };
    let is_same =
        (job.to, job.amount, job.fee_cap) == (parsed(&row, "to_address")?, amount_of(&row, "amount")?, fee_cap(&row)?);
    Ok(is_same && IntentStatus::of_row(&row)? == IntentStatus::Approved)
}

/// Whether the player owes something: what the chain took back of their deposits after they spent or held it.
pub(crate) fn is_in_debt(store: &Rows, job: &PayoutJob) -> Result<bool, PayoutError> {
    let sql = "SELECT account FROM withdrawal_requests WHERE id = $1";
    let Some(row) = store.read(sql, vec![text(job.intent.0.as_str())])?.pop() else { return Ok(false) };
    let Some(debt) = parsed::<AccountName>(&row, "account")?.debt() else { return Ok(false) };
    Ok(store.reader().account_named(&debt)?.is_some_and(|debt| !debt.balance.is_zero()))
}

/// Whether an operator has frozen the player: the wallet that asked for the payout, or the owner of the account that pays it.
pub(crate) fn is_frozen(store: &Rows, job: &PayoutJob, is_frozen: IsFrozen<'_>) -> Result<bool, PayoutError> {
    let sql = "SELECT wallet, account FROM withdrawal_requests WHERE id = $1";
    let Some(row) = store.read(sql, vec![text(job.intent.0.as_str())])?.pop() else { return Ok(false) };
    let wallet: Name = parsed(&row, "wallet")?;
    let owner = parsed::<AccountName>(&row, "account")?.owner.filter(|owner| *owner != wallet);
    for name in [Some(wallet), owner].into_iter().flatten() {
        if is_frozen(store.reader(), &name)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the job's server is one of these.
pub(crate) fn is_of_server(store: &Rows, job: &PayoutJob, servers: &BTreeSet<Name>) -> Result<bool, PayoutError> {
    if servers.is_empty() {
        return Ok(false);
    }
    let sql = "SELECT server FROM withdrawal_requests WHERE id = $1";
    let Some(row) = store.read(sql, vec![text(job.intent.0.as_str())])?.pop() else { return Ok(false) };
    Ok(servers.contains(&parsed::<Name>(&row, "server")?))
}

/// The intent's own request. The noted hold gives its place in the journal; without a note, or with a wrong one, the
/// journal is searched.
fn find_creation(reader: &Reader, intent: &IntentId, noted: Option<HoldId>) -> Result<Option<Creation>, StoreError> {
    if let Some(noted) = noted
        && let Some(bytes) = reader.record(noted.made_by())?
        && let Some(found) = Record::decode(&bytes).ok().and_then(|record| creation(record, intent))
    {
        return Ok(Some(found));
    }
    let mut query = SearchQuery::of(SearchSubject::Intent(intent.to_string()));
    loop {
        let page = reader.search(&query)?;
        let found = page.items.into_iter().find_map(|entry| creation(entry.record, intent));
        query.after = page.next;
        if found.is_some() || query.after.is_none() {
            return Ok(found);
        }
    }
}

/// Any request can claim to be about an intent. The one that made it has its row.
fn creation(record: Record, intent: &IntentId) -> Option<Creation> {
    let Record::Decided { request: Request { facts, .. }, verdict: Verdict::Applied(effects) } = record else {
        return None;
    };
    let fact = facts.into_iter().find(|fact| fact.row == row_key(intent) && fact.guard == Guard::Absent)?;
    Some(Creation { hold: effects.holds.first()?.hold.id, set: fact.set })
}
