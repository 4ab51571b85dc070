//! Timelines: everything that happened to a subject, in order: the records about it, and the records linked to them
//! (all changes of their holds, reversals, and what was reversed).

use std::collections::BTreeSet;

use bankroll_ledger::{HoldChange, HoldId, Record, Seq, Verdict};

use super::{HistoryView, JournalEntry, SearchQuery, SearchSubject};
use crate::{Reader, StoreError, history::index::Term};

/// Records that one hold can have in a timeline.
const HOLD_MAX: usize = 256;

/// The history of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// In the order of the journal.
    pub entries: Vec<JournalEntry>,
    /// Whether this is everything; otherwise the limit was reached.
    pub complete: bool,
}

impl Reader {
    /// Everything that happened to a subject: up to `most` records about it or linked to these.
    ///
    /// For a wallet these are the newest ones, and links are not followed: linked records touch its accounts too.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn timeline(&self, subject: &SearchSubject, most: usize) -> Result<Timeline, StoreError> {
        let newest = matches!(subject, SearchSubject::Wallet(_));
        let query = SearchQuery { descending: newest, most, ..SearchQuery::of(subject.clone()) };
        let found = self.search(&query)?;
        let complete = found.next.is_none();
        let mut entries = found.items;
        if newest {
            entries.reverse();
            return Ok(Timeline { entries, complete });
        }
        self.in_view(|view| view.follow(entries.clone(), complete, most))
    }

    /// The record that reversed a transfer, if any.
    ///
    /// # Errors
    /// If the books cannot be read.
    pub fn reversal_of(&self, seq: Seq) -> Result<Option<Seq>, StoreError> {
        self.source().reversal_of(seq)
    }
}

impl HistoryView<'_> {
    /// Adds linked records, up to `most` in total.
    fn follow(&self, mut entries: Vec<JournalEntry>, mut complete: bool, most: usize) -> Result<Timeline, StoreError> {
        let mut seen: BTreeSet<Seq> = entries.iter().map(|entry| entry.seq).collect();
        let mut place = 0;
        while place < entries.len() {
            for seq in self.linked(&entries[place])? {
                if seen.len() >= most {
                    complete &= seen.contains(&seq);
                } else if seen.insert(seq) {
                    entries.push(self.entry(seq)?);
                }
            }
            place += 1;
        }
        entries.sort_by_key(|entry| entry.seq);
        Ok(Timeline { entries, complete })
    }

    /// The records linked to a record.
    fn linked(&self, entry: &JournalEntry) -> Result<Vec<Seq>, StoreError> {
        let (holds, reverses): (Vec<HoldId>, Option<Seq>) = match &entry.record {
            Record::Decided { verdict: Verdict::Applied(effects), .. } => {
                (effects.holds.iter().map(hold_of).collect(), effects.reverses)
            }
            Record::HoldExpired(change) => (vec![hold_of(change)], None),
            _ => return Ok(Vec::new()),
        };
        let mut linked: Vec<Seq> = reverses.into_iter().chain(self.source.reversal_of(entry.seq)?).collect();
        for hold in holds {
            linked.extend(self.places(&[Term::hold(hold)], 1..=self.head.seq.0, false, HOLD_MAX)?);
        }
        Ok(linked)
    }
}

fn hold_of(change: &HoldChange) -> HoldId {
    change.hold.id
}
