//! The statement index: the journal places of each term. A term is an account, a hold, a wallet or a reference.
//!
//! It is derived and may lag. No decision depends on it: every place it names is confirmed by the record there, and
//! records after its end are read from the journal. So a thread of its own writes it, into a store of its own, and
//! the writer of the books never waits for it.
//!
//! | step | where | bound |
//! | --- | --- | --- |
//! | new run | [`StatementIndexer`], when enough records wait or a pause is over | [`RUN_RECORDS_MAX`] records in memory |
//! | merge | the same thread, eight neighbours of one level | a chunk of each in memory |
//! | lookup | binary search over the chunks of each run, by reading them | two chunks in memory |
//!
//! Runs cover consecutive stretches of the journal, so the places of a term are read run by run, in order, without a
//! merge. Torn, missing or foreign runs, and runs ahead of the journal, are detected: chunks and rows carry
//! checksums, the newest run names the head of the hash chain under which it was built. A reader then reads the
//! journal instead, and the thread truncates the index to its sound part and continues from there.
//!
//! It does not know: what a statement looks like, or where its chunks are stored.

mod build;
mod chunk;
mod indexer;
mod lookup;
mod term;
mod throttle;
mod unlisted_key;

use std::ops::Range;

use bankroll_ledger::merkle::Hash;

use crate::{
    StoreError,
    engine::{Source, runs::RunMeta},
};

pub(crate) use indexer::{IndexSchedule, StatementIndexer};
pub(crate) use lookup::{places, read as read_chunk};
pub(crate) use term::{Term, TextKind, terms_of};
pub(crate) use unlisted_key::KnownServers;

/// The most records that a new run covers.
pub(crate) const RUN_RECORDS_MAX: u64 = 65_536;

/// A run, and the batch at its end: the chain's head there identifies every record that the index covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexRun {
    pub meta: RunMeta,
    /// The batch that has the run's last record.
    pub batch: u64,
    /// The head of the chain after that batch.
    pub head: Hash,
}

/// Reads the index. Another process may be writing it; two results are consistent only within a snapshot.
pub(crate) trait IndexSource: Send {
    fn begin_snapshot(&self) -> Result<(), StoreError>;
    fn end_snapshot(&self) -> Result<(), StoreError>;
    /// The runs in the order of the journal. An edited row is an error.
    fn runs(&self) -> Result<Vec<IndexRun>, StoreError>;
    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError>;
}

/// Writes the index, from one thread.
pub(crate) trait IndexStore: IndexSource {
    /// All or nothing. A crash of the machine may lose the newest writes, in order.
    fn write(&self, writes: &IndexWrites) -> Result<(), StoreError>;
    /// Drops every chunk outside these ranges: left-overs of an interrupted build.
    fn sweep(&self, live: &[Range<u64>]) -> Result<(), StoreError>;
}

/// Where an index is: a file, or tables of a database.
pub(crate) trait IndexLocation: Send {
    /// Opens the index, or creates an empty one. [`StoreError::StatementIndexDamaged`] if it cannot be used.
    fn open(&self) -> Result<Box<dyn IndexStore>, StoreError>;
    /// Replaces whatever is there by an empty index.
    fn recreate(&self) -> Result<Box<dyn IndexStore>, StoreError>;
}

/// One change of the index.
#[derive(Debug, Default)]
pub(crate) struct IndexWrites {
    pub chunks: Vec<(u64, Vec<u8>)>,
    pub added: Option<IndexRun>,
    pub removed: Vec<u64>,
    pub dropped_chunks: Vec<Range<u64>>,
}

impl IndexRun {
    /// A checksum over the row, to detect edits.
    pub fn checksum(&self) -> u32 {
        let RunMeta { id, level, first, last, entries, first_chunk, chunks } = &self.meta;
        let mut hasher = crc32fast::Hasher::new();
        for number in [*id, u64::from(*level), first.0, last.0, *entries, *first_chunk, *chunks, self.batch] {
            hasher.update(&number.to_be_bytes());
        }
        hasher.update(&self.head);
        hasher.finalize()
    }
}

/// The runs that a reader may trust: without a gap from the first record on, none after the journal's end, the newest
/// built under the journal's own chain. Readers ignore all others.
pub(crate) fn sound_runs(mut runs: Vec<IndexRun>, books: &dyn Source) -> Result<Vec<IndexRun>, StoreError> {
    let mut next = 1;
    let unbroken = runs.iter().take_while(|run| {
        let fits = run.meta.first.0 == next && run.meta.last >= run.meta.first;
        next = run.meta.last.0.saturating_add(1);
        fits
    });
    let unbroken = unbroken.count();
    runs.truncate(unbroken);
    while let Some(newest) = runs.last() {
        let stored = books.batches_from(newest.batch, 1)?.pop();
        let same = stored.is_some_and(|(batch, head)| {
            let last = batch.first.0.saturating_add(u64::from(batch.count));
            batch.number == newest.batch && head == newest.head && (batch.first.0..last).contains(&newest.meta.last.0)
        });
        if same {
            break;
        }
        runs.pop();
    }
    Ok(runs)
}

pub(crate) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::StatementIndexDamaged { what: what.into() }
}
