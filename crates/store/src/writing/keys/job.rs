//! Background work on the key index: sorting a full table into a run, or merging neighbours.
//!
//! A job only computes. It hands finished chunks over a bounded channel to the writer, which stores them slice by
//! slice in its own commits; the run counts from the commit that stores its summary. A job that is dropped, with or
//! without the process, leaves chunks that no run refers to; they are swept when the books are opened.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    },
    thread,
};

use bankroll_ledger::Seq;

use super::{
    RecentKeys,
    filter::BloomFilter,
    run::{CHUNK_ENTRIES, Run, decode_chunk, encode_chunk},
};
use crate::{
    StoreError,
    engine::{
        Source,
        runs::{Merge, RunEntry, RunMeta},
    },
};

/// Chunks that may wait between the thread and the writer: half a megabyte.
const CHUNKS_WAITING: usize = 64;

enum RunPiece {
    Chunk(Vec<u8>),
    Done(Box<(BloomFilter, Vec<u128>, u64)>),
    Failed(StoreError),
}

#[derive(Debug)]
pub(super) struct RunJob {
    /// The runs that the new one replaces; none for a flush.
    pub replaces: Vec<u64>,
    meta: RunMeta,
    /// `None` only while the job is being dropped.
    pieces: Option<Receiver<RunPiece>>,
    thread: Option<thread::JoinHandle<()>>,
    peeked: Option<RunPiece>,
    done: Option<Box<(BloomFilter, Vec<u128>, u64)>>,
}

impl std::fmt::Debug for RunPiece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RunPiece")
    }
}

impl RunJob {
    pub fn flush(id: u64, first: Seq, last: Seq, keys: Arc<RecentKeys>, first_chunk: u64) -> Self {
        let meta = RunMeta { id, level: 0, first, last, entries: 0, first_chunk, chunks: 0 };
        Self::start(meta, Vec::new(), move |out| {
            let mut entries = keys.entries();
            entries.sort_unstable();
            let count = entries.len() as u64;
            RunBuilder::new(out, (first, last), count).push_all(entries.into_iter().map(Ok))
        })
    }

    pub fn merge(id: u64, inputs: Vec<RunMeta>, reader: Box<dyn Source>, first_chunk: u64) -> Self {
        let level = inputs[0].level + 1;
        let (first, last) = (inputs[0].first, inputs[inputs.len() - 1].last);
        let meta = RunMeta { id, level, first, last, entries: 0, first_chunk, chunks: 0 };
        let replaces = inputs.iter().map(|input| input.id).collect();
        Self::start(meta, replaces, move |out| {
            let count = inputs.iter().map(|input| input.entries).sum();
            let merged = Merge::new(&inputs, |run, id| decode_chunk(run, id, reader.chunk(id)?));
            RunBuilder::new(out, (first, last), count).push_all(merged)
        })
    }

    fn start(
        meta: RunMeta,
        replaces: Vec<u64>,
        work: impl FnOnce(SyncSender<RunPiece>) -> Result<(), JobStop> + Send + 'static,
    ) -> Self {
        let (out, pieces) = sync_channel(CHUNKS_WAITING);
        let failed = out.clone();
        let thread = thread::spawn(move || {
            if let Err(JobStop::Failed(error)) = work(out) {
                // Fails only if the ledger was closed meanwhile.
                let _ = failed.send(RunPiece::Failed(error));
            }
        });
        Self { replaces, meta, pieces: Some(pieces), thread: Some(thread), peeked: None, done: None }
    }

    pub fn first_chunk(&self) -> u64 {
        self.meta.first_chunk
    }

    /// Waits until there is a piece to take.
    pub fn wait(&mut self) {
        if self.peeked.is_none() && self.done.is_none() {
            let piece = self.pieces.as_ref().and_then(|pieces| pieces.recv().ok());
            self.peeked = Some(piece.unwrap_or_else(|| RunPiece::Failed(job_died())));
        }
    }

    /// Takes the finished chunks and numbers them.
    pub fn take(&mut self, most: usize, next_chunk: &mut u64) -> Result<Vec<(u64, Vec<u8>)>, StoreError> {
        let mut chunks = Vec::new();
        while chunks.len() < most && self.done.is_none() {
            let next = || self.pieces.as_ref().map_or(Err(TryRecvError::Disconnected), Receiver::try_recv);
            let piece = match self.peeked.take().map_or_else(next, Ok) {
                Ok(piece) => piece,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(job_died()),
            };
            match piece {
                RunPiece::Chunk(data) => {
                    chunks.push((*next_chunk, data));
                    *next_chunk += 1;
                    self.meta.chunks += 1;
                }
                RunPiece::Done(done) => self.done = Some(done),
                RunPiece::Failed(error) => return Err(error),
            }
        }
        Ok(chunks)
    }

    /// The run, once all its chunks were taken.
    pub fn finished(&mut self) -> Option<Run> {
        let (filter, fences, entries) = *self.done.take()?;
        self.meta.entries = entries;
        Some(Run::new(self.meta.clone(), filter, fences))
    }
}

impl Drop for RunJob {
    /// Waits for the thread, which ends at its next chunk once the receiver is dropped: after the books are closed,
    /// nothing reads them.
    fn drop(&mut self) {
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn job_died() -> StoreError {
    StoreError::KeyIndexDamaged { what: "a background job on it died".into() }
}

enum JobStop {
    /// The writer is gone.
    Closed,
    Failed(StoreError),
}

/// Cuts a sorted stream into chunks.
struct RunBuilder {
    out: SyncSender<RunPiece>,
    /// The stretch of the journal that the run covers.
    stretch: (Seq, Seq),
    chunk: Vec<RunEntry>,
    filter: BloomFilter,
    fences: Vec<u128>,
    entries: u64,
}

impl RunBuilder {
    fn new(out: SyncSender<RunPiece>, stretch: (Seq, Seq), count: u64) -> Self {
        let chunk = Vec::with_capacity(CHUNK_ENTRIES);
        Self { out, stretch, chunk, filter: BloomFilter::for_keys(count), fences: Vec::new(), entries: 0 }
    }

    fn push_all(mut self, sorted: impl Iterator<Item = Result<RunEntry, StoreError>>) -> Result<(), JobStop> {
        for entry in sorted {
            let entry = entry.map_err(JobStop::Failed)?;
            self.filter.insert(entry.0);
            self.entries += 1;
            self.chunk.push(entry);
            if self.chunk.len() == CHUNK_ENTRIES {
                self.cut()?;
            }
        }
        if !self.chunk.is_empty() {
            self.cut()?;
        }
        let done = Box::new((self.filter, self.fences, self.entries));
        self.out.send(RunPiece::Done(done)).map_err(|_| JobStop::Closed)
    }

    fn cut(&mut self) -> Result<(), JobStop> {
        let data = encode_chunk(self.stretch, self.fences.len() as u64, &self.chunk);
        self.fences.push(self.chunk[0].0);
        self.chunk.clear();
        self.out.send(RunPiece::Chunk(data)).map_err(|_| JobStop::Closed)
    }
}
