//! The scrub: re-reads all books in small pieces while a writer works, and compares everything with the journal.
//!
//! One pass, in the order of its phases:
//!
//! | phase | what a piece does | what it compares |
//! | --- | --- | --- |
//! | tables (`tables.rs`) | reads a page of accounts, holds or reversals in one snapshot | names with accounts; notes a hash of each row, and the journal's end in that snapshot |
//! | replay | checks a few hundred records, as the audit does, up to the next noted end | the page, as noted, with the books replayed to exactly that end |
//! | keys, totals | no reading | no key twice; debits with credits |
//! | flows' rows | reads a page of rows that facts have set | as above: rows that differ are compared again after the records that the snapshot had |
//! | indexes (`indexes.rs`) | reads a few chunks of a run | the entries of each run with those of its records |
//!
//! So a page is always compared with the records that were committed when it was read, and never with later ones: a
//! writer that works meanwhile cannot be taken for damage. No snapshot lasts longer than a piece, so the write-ahead
//! log can restart; no piece is larger because the books are, except sorting the keys (which reads nothing).
//!
//! A finding is confirmed before it counts: the next pass begins at once, from the first record, over a new connection.
//! Its caller runs that pass without pauses ([`Scrub::is_confirming`]). If it finds nothing, the books are sound, and
//! the first finding is reported as unconfirmed.
//!
//! Bounds: memory as the audit's (all accounts and holds, about 300 bytes each; 16 bytes a key; a few hundred bytes for
//! each flow's row that a fact has set), and 16 bytes for each row that was read and not compared yet: about 650 MB for
//! a million accounts and twenty million records. The pass gives it back at its end.
//!
//! It does not know: how often it runs, and what becomes of a finding. It checks no page that has no row of the books
//! in it, and none of a flow's columns that no fact has set.

mod indexes;
mod tables;

use std::collections::VecDeque;

use bankroll_ledger::{HoldId, Record, Seq, Verdict, merkle::Hash};

use self::{
    indexes::{IndexPass, IndexSums},
    tables::{TableCursor, TableNote},
};
use super::audit::flow_rows::{RowsLeft, UndecidedRow};
use crate::{Audit, Location, Reader, StoreError, engine::Source};

/// Records that a piece checks: a few milliseconds.
const RECORDS: u64 = 512;

/// What a piece of work has come to.
#[derive(Debug)]
pub enum ScrubStep {
    /// There is more to do.
    More,
    /// The key index differs from the journal: the writer must rebuild it.
    KeyIndexDamaged { what: String },
    /// The statement index differs from the journal: its thread must rebuild it.
    StatementIndexDamaged { what: String },
    /// The books are not sound, and a second pass has confirmed it: nothing more may be decided by them.
    Unsound(StoreError),
    /// The pass is complete.
    Complete(ScrubReport),
}

/// What a complete pass has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScrubReport {
    /// Records that were read, checked and decided again.
    pub records: u64,
    /// Rows of the tables, flows' rows included.
    pub rows: u64,
    /// Entries of both indexes.
    pub entries: u64,
    /// The last record that was checked, and the head of the chain there.
    pub last: Seq,
    pub head: Hash,
    /// What an earlier pass found and this one did not.
    pub unconfirmed: Option<String>,
}

/// Passes over the books of one place, piece by piece.
#[derive(Debug)]
pub struct Scrub {
    location: Location,
    pass: Option<Pass>,
    /// The finding that the present pass confirms, or not.
    finding: Option<StoreError>,
}

impl Scrub {
    /// Opens nothing yet.
    #[must_use]
    pub fn new(location: &Location) -> Self {
        Self { location: location.clone(), pass: None, finding: None }
    }

    /// Whether this pass confirms a finding: then it should not pause.
    #[must_use]
    pub const fn is_confirming(&self) -> bool {
        self.finding.is_some()
    }

    /// Does the next piece of work. After a complete pass the next piece begins a new one.
    ///
    /// # Errors
    /// If the books cannot be read now. The next piece begins a new pass.
    pub fn piece(&mut self) -> Result<ScrubStep, StoreError> {
        let worked = match &mut self.pass {
            Some(pass) => pass.piece(),
            None => Pass::begin(&self.location).map(|pass| {
                self.pass = Some(pass);
                ScrubStep::More
            }),
        };
        match worked {
            Ok(ScrubStep::Complete(report)) => {
                self.pass = None;
                let unconfirmed = self.finding.take().map(|finding| finding.to_string());
                Ok(ScrubStep::Complete(ScrubReport { unconfirmed, ..report }))
            }
            Err(unsound) if unsound.is_unsound() => {
                self.pass = None;
                if self.finding.take().is_some() {
                    return Ok(ScrubStep::Unsound(unsound));
                }
                self.finding = Some(unsound);
                Ok(ScrubStep::More)
            }
            Err(error) => {
                self.pass = None;
                Err(error)
            }
            worked => worked,
        }
    }
}

#[derive(Debug)]
enum Phase {
    Tables(TableCursor),
    Replay,
    KeysAndTotals,
    FlowRows(RowsLeft),
    /// On to the batches that had been committed when flows' rows were read that differ.
    UndecidedRows,
    Indexes(Box<IndexPass>),
}

#[derive(Debug)]
struct Pass {
    audit: Audit,
    phase: Phase,
    /// Pages of tables, in the order in which they were read: the journal's end in them grows.
    notes: VecDeque<TableNote>,
    /// Flows' rows, each with the last batch that had been committed when it was read.
    undecided: VecDeque<(u64, UndecidedRow)>,
    seen: SeenRecords,
    rows: u64,
}

/// What the pass keeps of each record that was replayed.
#[derive(Debug, Default)]
struct SeenRecords {
    /// In the order of their numbers, which is the order of the journal.
    holds: Vec<HoldId>,
    sums: IndexSums,
}

impl SeenRecords {
    fn add(&mut self, seq: Seq, record: &Record) {
        if let Record::Decided { verdict: Verdict::Applied(effects), .. } = record {
            self.holds.extend(effects.holds.iter().map(|change| change.hold.id).filter(|id| id.made_by() == seq));
        }
        self.sums.add(seq, record);
    }
}

impl Pass {
    fn begin(location: &Location) -> Result<Self, StoreError> {
        let reader = Reader::open(location)?;
        let sums = IndexSums::begin(&reader)?;
        let note = in_snapshot(reader.source(), tables::assets)?;
        let rows = note.rows();
        Ok(Self {
            audit: Audit::new(reader),
            phase: Phase::Tables(TableCursor::default()),
            notes: [note].into(),
            undecided: VecDeque::new(),
            seen: SeenRecords { holds: Vec::new(), sums },
            rows,
        })
    }

    fn piece(&mut self) -> Result<ScrubStep, StoreError> {
        let next = match &mut self.phase {
            Phase::Tables(cursor) => {
                let note = in_snapshot(self.audit.reader.source(), |source| cursor.next_page(source))?;
                self.rows = self.rows.saturating_add(note.as_ref().map_or(0, TableNote::rows));
                let is_over = note.is_none();
                self.notes.extend(note);
                is_over.then_some(Phase::Replay)
            }
            Phase::Replay => match self.notes.front().map(TableNote::batch) {
                None => Some(Phase::KeysAndTotals),
                Some(batch) if self.audit.next_batch <= batch => {
                    self.replay_until(batch)?;
                    None
                }
                Some(_) => {
                    let note = self.notes.pop_front();
                    note.map_or(Ok(()), |note| note.compare(&self.audit, &self.seen.holds))?;
                    None
                }
            },
            Phase::KeysAndTotals => {
                self.audit.check_keys()?;
                self.audit.totals()?;
                Some(Phase::FlowRows(self.audit.flow_rows.take_rows()))
            }
            Phase::FlowRows(left) if left.is_empty() => Some(Phase::UndecidedRows),
            Phase::FlowRows(left) => {
                let before = count(left);
                let (reader, flow_rows) = (&self.audit.reader, &mut self.audit.flow_rows);
                let (batch, differing) = in_snapshot(reader.source(), |source| {
                    Ok((source.head()?.batch, flow_rows.compare_next(reader, left)?))
                })?;
                self.rows = self.rows.saturating_add(before.saturating_sub(count(left)));
                self.undecided.extend(differing.into_iter().map(|row| (batch, row)));
                None
            }
            Phase::UndecidedRows => match self.undecided.front().map(|(batch, _)| *batch) {
                None => Some(Phase::Indexes(Box::new(IndexPass::begin(self.audit.reader.location())?))),
                Some(batch) if self.audit.next_batch <= batch => {
                    self.replay_until(batch)?;
                    None
                }
                Some(_) => {
                    let row = self.undecided.pop_front();
                    row.map_or(Ok(()), |(_, row)| self.audit.flow_rows.decide(&row))?;
                    None
                }
            },
            Phase::Indexes(indexes) => {
                return match indexes.piece(&self.seen.sums)? {
                    Some(step) => Ok(step),
                    None => Ok(ScrubStep::Complete(ScrubReport {
                        records: self.audit.next_seq.0 - 1,
                        rows: self.rows,
                        entries: indexes.entries,
                        last: Seq(self.audit.next_seq.0 - 1),
                        head: self.audit.head,
                        unconfirmed: None,
                    })),
                };
            }
        };
        if let Some(next) = next {
            self.phase = next;
        }
        Ok(ScrubStep::More)
    }

    /// Checks the next records, up to the end of this batch.
    fn replay_until(&mut self, batch: u64) -> Result<(), StoreError> {
        let seen = &mut self.seen;
        if self.audit.advance(batch, RECORDS, &mut |seq, record| seen.add(seq, record))? {
            return Ok(());
        }
        // It was there when the page was read.
        Err(StoreError::diverged(self.audit.next_seq, format!("batch {} is missing or moved", self.audit.next_batch)))
    }
}

fn count(left: &RowsLeft) -> u64 {
    left.iter().map(|(_, rows)| rows.len() as u64).sum()
}

/// Reads in one snapshot, and ends it.
fn in_snapshot<T>(
    source: &dyn Source,
    read: impl FnOnce(&dyn Source) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    source.begin_snapshot()?;
    let found = read(source);
    let ended = source.end_snapshot();
    let found = found?;
    ended.map(|()| found)
}
