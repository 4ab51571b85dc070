//! What proofs about the journal are made from: batches with their heads, and the record that opened an account.

use bankroll_ledger::{AccountId, Batch, Record, Seq, merkle::Hash};

use crate::{Reader, StoreError, history::index::Term};

impl Reader {
    /// The batches from this number on, each with the head after it; fewer than `most` at the end of the journal.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn batches(&self, from: u64, most: usize) -> Result<Vec<(Batch, Hash)>, StoreError> {
        let last = self.head()?.batch;
        let left = last.saturating_add(1).saturating_sub(from);
        // Asking behind the end is no damage.
        let most = most.min(usize::try_from(left).unwrap_or(most));
        if most == 0 {
            return Ok(Vec::new());
        }
        self.located(self.source().batches_from(from, most))
    }

    /// The place of the record that opened an account; `None` if there is no such account.
    ///
    /// # Errors
    /// If the books cannot be read, or the journal does not have the record.
    pub fn opening_of(&self, account: AccountId) -> Result<Option<Seq>, StoreError> {
        self.in_view(|view| {
            if view.source.accounts(&[account])?.is_empty() {
                return Ok(None);
            }
            let found = view.places(&[Term::opened(account)], 1..=view.head.seq.0, false, 1)?;
            let missing = || StoreError::diverged(view.head.seq, format!("no record opens account {account}"));
            let place = found.first().copied().ok_or_else(missing)?;
            match view.record(place)? {
                Record::AccountOpened { id, .. } if id == account => Ok(Some(place)),
                _ => Err(missing()),
            }
        })
    }
}
