//! The statement index: which journal places a term is at. A term is an account, a hold, a wallet or a reference.
//!
//! It is derived and may trail. Nothing is decided by it: every place it names is confirmed against the record there,
//! and the records behind its end are read from the journal. So it is written by a thread of its own, into a store of
//! its own, and the writer of the books never waits for it.
//!
//! | step | where | bound |
//! | --- | --- | --- |
//! | new run | [`Indexer`], when enough records wait or a moment has passed | [`RUN_RECORDS_MAX`] records sorted in memory |
//! | merge | the same thread, eight neighbours of one level | a chunk of each in memory |
//! | lookup | binary search over the chunks of each run, by reading them | two chunks in memory |
//!
//! Since runs cover stretches of the journal one behind the other, the places of a term are read run by run, in order,
//! without a merge. What is torn, missing, foreign or ahead of the journal is noticed: chunks and rows carry checksums,
//! the newest run names the head of the hash chain it was made under. A reader then reads the journal instead, and the
//! thread cuts the index back to what is sound and goes on from there.
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

pub(crate) use indexer::{IndexSchedule, Indexer};
pub(crate) use lookup::{places, read as read_chunk};
pub(crate) use term::{Term, TextKind, terms_of};
pub(crate) use unlisted_key::KnownServers;

/// How many records a new run covers at the most.
pub(crate) const RUN_RECORDS_MAX: u64 = 65_536;

/// A run, and the batch under which it was made: the chain's head there stands for every record that the index covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexRun {
    pub meta: RunMeta,
    /// The batch that has the run's last record.
    pub batch: u64,
    /// The head of the chain after that batch.
    pub head: Hash,
}

/// Where the index is read. Another process may be writing it; two answers belong together within a snapshot.
pub(crate) trait IndexSource: Send {
    fn begin_snapshot(&self) -> Result<(), StoreError>;
    fn end_snapshot(&self) -> Result<(), StoreError>;
    /// The runs in the order of the journal. A row that is not what was written is an error.
    fn runs(&self) -> Result<Vec<IndexRun>, StoreError>;
    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError>;
}

/// Where the index is written, by one thread.
pub(crate) trait IndexStore: IndexSource {
    /// All of it or nothing. A crash of the machine may lose the newest of these, in order.
    fn write(&self, writes: &IndexWrites) -> Result<(), StoreError>;
    /// Drops every chunk outside these ranges: what an interrupted build left behind.
    fn sweep(&self, live: &[Range<u64>]) -> Result<(), StoreError>;
}

/// The place of an index: a file, or tables of a database.
pub(crate) trait IndexLocation: Send {
    /// Opens the index, or makes an empty one. [`StoreError::StatementIndexDamaged`] if it cannot be used.
    fn open(&self) -> Result<Box<dyn IndexStore>, StoreError>;
    /// Makes an empty one in the place of whatever is there.
    fn start_anew(&self) -> Result<Box<dyn IndexStore>, StoreError>;
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
    /// A checksum over the row, so that an edited one is noticed.
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

/// The runs that can be relied on: unbroken from the first record on, none beyond the journal's end, the newest made
/// under the chain that the journal has. What else is stored does not matter to a reader.
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
