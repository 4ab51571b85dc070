//! What people decided about a deposit, as the journal proves it. Its columns show it; money never follows them alone.
//!
//! A column that no record of the journal has set counts for nothing. That a column is no longer what a record has set
//! is found by the audit of the journal, which compares the values that facts have set last.

use bankroll_ledger::{
    Column, ColumnValue, Fact, Guard, IdempotencyKey, Namespace, Principal, Record, Request, Row, Scope, Seq, Verdict,
};
use bankroll_store::{
    Reader, StoreError,
    columns::{int, maybe, number_of, text, text_of},
};

use crate::{
    DepositId, EvidenceFault, LedgerState, ReviewState,
    credit::{credit_key, row as row_key, unassignment_key},
};

/// What people decided, proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Review {
    pub state: ReviewState,
    epoch: u64,
}

impl Review {
    /// Whether people have let this inclusion through.
    pub fn releases(self, epoch: u64) -> bool {
        self.state == ReviewState::Released && self.epoch == epoch
    }
}

/// The review of a deposit: none, or as a record that its row names has set it.
pub(crate) fn review(reader: &Reader, id: &DepositId, row: &Row) -> Result<Result<Review, EvidenceFault>, StoreError> {
    let read = || {
        let state = ReviewState::from_row(text_of(row, "review_state")?);
        Ok::<_, EvidenceFault>((state, maybe(row, "review_by", text_of)?, number_of(row, "review_epoch")?))
    };
    let (state, by, epoch) = match read() {
        Ok((Some(state), by, epoch)) => (state, by, epoch),
        Ok((None, ..)) => return Ok(Err(EvidenceFault::NotDecided { column: "review_state" })),
        Err(fault) => return Ok(Err(fault)),
    };
    let Some(by) = by else {
        let is_as_seen = state == ReviewState::None && epoch == 0;
        return Ok(is_as_seen.then_some(Review { state, epoch }).ok_or(undecided("review_state")));
    };
    // One person holds, by a signed act; what several decide is a proposal.
    let (namespace, mut set) = match state {
        ReviewState::Held => (Namespace::Registry, Vec::new()),
        ReviewState::Released | ReviewState::Refused => (Namespace::Client, vec![column("review_epoch", int(epoch))]),
        ReviewState::None | ReviewState::Screening | ReviewState::Cleared => {
            return Ok(Err(undecided("review_state")));
        }
    };
    set.extend([column("review_state", text(state.as_str())), column("review_by", text(by))]);
    let found = applied(reader, namespace, by)?;
    let is_so = found.is_some_and(|(_, request)| fact_that_sets(&request, id, &set).is_some());
    Ok(if is_so { Ok(Review { state, epoch }) } else { Err(undecided("review_by")) })
}

/// The record by which people assigned the inclusion that is booked, and the text of its key; `None` if nobody has, or
/// if it was taken back.
pub(crate) fn assignment(
    reader: &Reader,
    id: &DepositId,
    row: &Row,
) -> Result<Result<Option<(String, Seq)>, EvidenceFault>, StoreError> {
    let read = || {
        let ledger = LedgerState::from_row(text_of(row, "ledger_state")?);
        Ok::<_, EvidenceFault>((ledger, maybe(row, "assigned_by", text_of)?, number_of(row, "ledger_epoch")?))
    };
    let (ledger, by, epoch) = match read() {
        Ok(read) => read,
        Err(fault) => return Ok(Err(fault)),
    };
    let (mut live, mut is_of_this) = (None, false);
    if let Some(by) = by {
        let set = [column("assigned_by", text(by))];
        let found = applied(reader, Namespace::Client, by)?;
        let found = found.and_then(|(seq, request)| Some((seq, fact_that_sets(&request, id, &set)?.guard.clone())));
        let Some((seq, guard)) = found else { return Ok(Err(undecided("assigned_by"))) };
        is_of_this = matches!(&guard, Guard::Is(columns) if columns.contains(&column("ledger_epoch", int(epoch))));
        let is_back = || Ok::<_, StoreError>(decided(reader, &unassignment_key(id, epoch))?.is_some());
        live = (is_of_this && !is_back()?).then(|| (by.to_owned(), seq));
    }
    // One that was taken back after the row was read is none of this.
    if ledger == Some(LedgerState::Credited) && !is_of_this && is_credited_to_suspense(reader, id, epoch)? {
        return Ok(Err(undecided("ledger_state")));
    }
    Ok(Ok(live))
}

/// Whether the credit of an inclusion booked it in suspense.
fn is_credited_to_suspense(reader: &Reader, id: &DepositId, epoch: u64) -> Result<bool, StoreError> {
    let set = [column("ledger_state", text(LedgerState::Suspense.as_str()))];
    let credit = decided(reader, &credit_key(id, epoch))?;
    Ok(credit.is_some_and(|(_, request)| fact_that_sets(&request, id, &set).is_some()))
}

/// The applied request of people under this key.
fn applied(reader: &Reader, namespace: Namespace, by: &str) -> Result<Option<(Seq, Request)>, StoreError> {
    let key = IdempotencyKey { namespace, scope: Scope::House, text: by.to_owned() };
    let found = decided(reader, &key)?;
    let is_peoples = |request: &Request| {
        let is_confirmed = request.confirmation.is_some() || namespace == Namespace::Registry;
        matches!(request.principal, Principal::Admin(_)) && is_confirmed
    };
    Ok(found.filter(|(_, request)| is_peoples(request)))
}

fn decided(reader: &Reader, key: &IdempotencyKey) -> Result<Option<(Seq, Request)>, StoreError> {
    Ok(reader.find_key(key)?.and_then(|entry| match entry.record {
        Record::Decided { request, verdict: Verdict::Applied(_) } => Some((entry.seq, request)),
        _ => None,
    }))
}

fn fact_that_sets<'a>(request: &'a Request, id: &DepositId, set: &[Column]) -> Option<&'a Fact> {
    let row = row_key(id);
    request.facts.iter().find(|fact| fact.row == row && set.iter().all(|column| fact.set.contains(column)))
}

fn column(name: &str, value: ColumnValue) -> Column {
    (name.to_owned(), value)
}

const fn undecided(column: &'static str) -> EvidenceFault {
    EvidenceFault::NotDecided { column }
}
