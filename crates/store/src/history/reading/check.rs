//! Compares the derived indexes with the journal: a hash sum over the entries of each run with the sum over those it
//! must have. One pass over the journal, with the memory of a few chunks.

use bankroll_ledger::{Record, Seq};
use sha2::{Digest, Sha256};

use crate::{
    AuditProgress, Reader, StoreError,
    engine::runs::{RunEntry, RunMeta},
    history::index::{self, Term, terms_of},
    writing::keys,
};

/// Records read at a time.
const PAGE: u64 = 4_096;

/// The extent of a successful check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexReport {
    /// Entries of the key index.
    pub keys: u64,
    /// Entries of the statement index.
    pub terms: u64,
    /// The last record that the statement index covers.
    pub covered: Seq,
}

/// A sum of hashes over entries in any order; an accidental difference of the entries changes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::history) struct EntrySum {
    entries: u64,
    sum: u128,
}

impl EntrySum {
    pub fn add(&mut self, (number, place): RunEntry) {
        let digest: [u8; 32] =
            Sha256::new().chain_update(number.to_be_bytes()).chain_update(place.to_be_bytes()).finalize().into();
        let head = digest.first_chunk::<16>().map_or(0, |head| u128::from_be_bytes(*head));
        self.entries = self.entries.saturating_add(1);
        self.sum = self.sum.wrapping_add(head);
    }

    pub const fn entries(self) -> u64 {
        self.entries
    }

    /// The sum over the entries of this one that are not in an earlier one.
    pub fn since(self, earlier: Self) -> Self {
        Self { entries: self.entries.wrapping_sub(earlier.entries), sum: self.sum.wrapping_sub(earlier.sum) }
    }
}

/// A run, and the sum of the entries that follow from the journal.
struct ExpectedRun {
    run: RunMeta,
    sum: EntrySum,
}

impl Reader {
    /// Compares both indexes with the journal, in one snapshot.
    ///
    /// # Errors
    /// The first run that differs from the journal, as [`StoreError::KeyIndexDamaged`] or
    /// [`StoreError::StatementIndexDamaged`]; or a failure to read.
    pub fn check_indexes(&self, mut on_progress: impl FnMut(AuditProgress)) -> Result<IndexReport, StoreError> {
        self.in_view(|view| {
            let of = |run: RunMeta| ExpectedRun { run, sum: EntrySum::default() };
            let mut key_runs: Vec<ExpectedRun> = view.source.run_metas()?.into_iter().map(of).collect();
            let mut term_runs: Vec<ExpectedRun> = view.runs()?.into_iter().map(of).collect();
            let (mut next, last) = (1, view.head.seq.0);
            let mut terms = Vec::new();
            while next <= last {
                let page = usize::try_from(PAGE.min(last - next + 1)).unwrap_or(usize::MAX);
                for (seq, bytes) in view.source.records_from(Seq(next), page)? {
                    let record = Record::decode(&bytes).map_err(StoreError::unreadable(seq))?;
                    terms_of(&record, &mut terms);
                    note(&mut term_runs, seq, &terms);
                    if let Record::Decided { request, .. } = record {
                        note(&mut key_runs, seq, &[request.key.fingerprint().0]);
                    }
                }
                next = next.saturating_add(PAGE);
                on_progress(AuditProgress { rows: next.saturating_sub(1).min(last), rows_total: last });
            }
            let mut report = IndexReport { covered: view.index_state().covered, ..IndexReport::default() };
            for ExpectedRun { run, sum } in &key_runs {
                let stored = sum_of(run, |id| keys::decode_chunk(run, id, view.source.chunk(id)?))?;
                if stored != *sum {
                    return Err(StoreError::KeyIndexDamaged { what: differs(run) });
                }
                report.keys = report.keys.saturating_add(sum.entries);
            }
            for ExpectedRun { run, sum } in &term_runs {
                // Whether a key is unlisted does not follow from the journal alone; surplus entries are harmless.
                let entries = |id| {
                    Ok(view.term_chunk(id)?.into_iter().filter(|(term, _)| !Term(*term).is_unlisted_key()).collect())
                };
                if sum_of(run, entries)? != *sum {
                    return Err(index::damaged(differs(run)));
                }
                report.terms = report.terms.saturating_add(sum.entries);
            }
            Ok(report)
        })
    }
}

pub(in crate::history) fn differs(run: &RunMeta) -> String {
    format!("run {} (records {} to {}) differs from the journal", run.id, run.first, run.last)
}

/// Adds entries of a record to the run that covers it.
fn note(runs: &mut [ExpectedRun], seq: Seq, numbers: &[u128]) {
    let behind = runs.partition_point(|expected| expected.run.first <= seq);
    let covering = behind.checked_sub(1).and_then(|place| runs.get_mut(place)).filter(|of| seq <= of.run.last);
    if let Some(expected) = covering {
        numbers.iter().for_each(|number| expected.sum.add((*number, seq.0)));
    }
}

fn sum_of(run: &RunMeta, read: impl Fn(u64) -> Result<Vec<RunEntry>, StoreError>) -> Result<EntrySum, StoreError> {
    let mut sum = EntrySum::default();
    for id in run.chunk_range() {
        read(id)?.into_iter().for_each(|entry| sum.add(entry));
    }
    Ok(sum)
}
