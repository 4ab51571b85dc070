//! The balance of an account at a time: two lookups, for the last record that changed its balance and the last that
//! changed its held amount.

use bankroll_ledger::{AccountId, Amount, HoldChange, Record, Seq, Time, Verdict};

use super::HistoryView;
use crate::{Reader, StoreError, history::index::Term};

/// Balance and held amount of an account after a record of the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BalanceAt {
    /// The last record that changed the account; `None` if there was none.
    pub seq: Option<Seq>,
    /// Held amounts included.
    pub balance: Amount,
    pub held: Amount,
}

impl Reader {
    /// The balance of an account at a time: after the last batch at or before it.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn balance_at(&self, account: AccountId, at: Time) -> Result<BalanceAt, StoreError> {
        self.in_view(|view| view.balance_after(account, view.batches.last_until(at)?))
    }
}

impl HistoryView<'_> {
    /// The balance of an account after the record at this place.
    pub(super) fn balance_after(&self, account: AccountId, last: Seq) -> Result<BalanceAt, StoreError> {
        let newest = |term| -> Result<Option<Seq>, StoreError> { Ok(self.places(&[term], 1..=last.0, true, 1)?.pop()) };
        let (posted, held) = (newest(Term::posted(account))?, newest(Term::held_in(account))?);
        let mut found = BalanceAt { seq: posted.max(held), ..BalanceAt::default() };
        if let Some(seq) = posted {
            found.balance = balance_after(&self.record(seq)?, account).ok_or_else(|| wrongly_listed(seq))?;
        }
        if let Some(seq) = held {
            found.held = held_after(&self.record(seq)?, account).ok_or_else(|| wrongly_listed(seq))?;
        }
        Ok(found)
    }
}

/// An account's number is its term, so a record that the index lists for it must be about it; otherwise the index is
/// damaged.
fn wrongly_listed(seq: Seq) -> StoreError {
    crate::history::index::damaged(format!("record {seq} is not about the account it is listed under"))
}

fn balance_after(record: &Record, account: AccountId) -> Option<Amount> {
    let Record::Decided { verdict: Verdict::Applied(effects), .. } = record else { return None };
    effects.postings.iter().rev().find_map(|posting| match account {
        _ if posting.from == account => Some(posting.from_after),
        _ if posting.to == account => Some(posting.to_after),
        _ => None,
    })
}

fn held_after(record: &Record, account: AccountId) -> Option<Amount> {
    let changes: &[HoldChange] = match record {
        Record::Decided { verdict: Verdict::Applied(effects), .. } => &effects.holds,
        Record::HoldExpired(change) => std::slice::from_ref(change),
        _ => return None,
    };
    changes.iter().rev().find(|change| change.hold.account == account).map(|change| change.held_after)
}
