//! Merging: several sorted runs as one sorted stream.
//!
//! It keeps one decoded chunk of each run in memory and ends at the first chunk that cannot be read.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{RunEntry, RunMeta};
use crate::StoreError;

/// A run, its chunks that are not read yet, and the entries of the last one that was.
struct MergeInput {
    run: RunMeta,
    chunks: std::ops::Range<u64>,
    entries: std::vec::IntoIter<RunEntry>,
}

/// Several sorted runs as one sorted stream, one chunk of each in memory.
pub(crate) struct Merge<R> {
    read: R,
    sources: Vec<MergeInput>,
    heap: BinaryHeap<Reverse<(RunEntry, usize)>>,
    failed: bool,
}

impl<R: FnMut(&RunMeta, u64) -> Result<Vec<RunEntry>, StoreError>> Merge<R> {
    /// The runs in the order of the journal, and how to read a chunk.
    pub fn new<'a>(inputs: impl IntoIterator<Item = &'a RunMeta>, read: R) -> Self {
        let input =
            |run: &RunMeta| MergeInput { run: run.clone(), chunks: run.chunk_range(), entries: Vec::new().into_iter() };
        let sources = inputs.into_iter().map(input).collect();
        Self { read, sources, heap: BinaryHeap::new(), failed: false }
    }

    /// Brings the next entry of a source onto the heap.
    fn refill(&mut self, source: usize) -> Result<(), StoreError> {
        let MergeInput { run, chunks, entries } = &mut self.sources[source];
        let next = match entries.next() {
            Some(entry) => Some(entry),
            None => match chunks.next() {
                Some(chunk) => {
                    *entries = (self.read)(run, chunk)?.into_iter();
                    entries.next()
                }
                None => None,
            },
        };
        self.heap.extend(next.map(|entry| Reverse((entry, source))));
        Ok(())
    }

    fn advance(&mut self) -> Result<Option<RunEntry>, StoreError> {
        if self.heap.is_empty() {
            (0..self.sources.len()).try_for_each(|source| self.refill(source))?;
        }
        let Some(Reverse((entry, source))) = self.heap.pop() else { return Ok(None) };
        self.refill(source)?;
        Ok(Some(entry))
    }
}

impl<R: FnMut(&RunMeta, u64) -> Result<Vec<RunEntry>, StoreError>> Iterator for Merge<R> {
    type Item = Result<RunEntry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let advanced = self.advance().transpose();
        self.failed = matches!(advanced, Some(Err(_)));
        advanced
    }
}
