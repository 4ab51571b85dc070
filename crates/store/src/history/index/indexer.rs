//! The thread that maintains the statement index: it polls the journal's end and builds runs of the waiting records.
//!
//! It reads the books over a connection of its own and writes only to the index. An error there (a full disk, a damaged
//! file) only makes readers slower: the next step tries again, from the sound part.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use bankroll_ledger::Seq;

use super::{
    IndexLocation, IndexRun, IndexStore, IndexWrites, RUN_RECORDS_MAX, build, damaged, lookup, sound_runs,
    throttle::{Interruption, LAG_MAX, Throttle},
};
use crate::{
    StoreError,
    engine::{
        JournalHead, Source,
        runs::{self, RunMeta},
    },
};

/// Runs that are still built when the books are closed, so that the next reader finds most records indexed.
const RUNS_AT_CLOSE: u64 = 4;

/// The shortest pause between two polls when there was nothing to do.
const POLL_MIN: Duration = Duration::from_millis(1);
/// From this number of runs on, merging comes first, even if records wait: a reader may have to read each of them.
const RUNS_MAX: usize = 48;

/// How often a damaged index is opened again before it is recreated.
const FAILURES_MAX: u32 = 2;

/// When a run is built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexSchedule {
    /// When this many records wait.
    pub records: u64,
    /// Or when a record has waited this long.
    pub pause: Duration,
}

/// The thread; dropping this ends it.
#[derive(Debug)]
pub(crate) struct StatementIndexer {
    /// `None` only while it is being dropped.
    stop: Option<Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    end: Arc<AtomicU64>,
}

impl StatementIndexer {
    /// Starts the thread for books that end here. When `rebuild` is set, it clears it and rebuilds the index.
    pub fn start(
        books: Box<dyn Source>,
        location: Box<dyn IndexLocation>,
        schedule: IndexSchedule,
        end: Seq,
        rebuild: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let (stop, stopped) = channel::<()>();
        let end = Arc::new(AtomicU64::new(end.0));
        let throttle = Throttle::new(stopped, Arc::clone(&end));
        let work = move || {
            let mut worker = IndexWorker {
                books,
                location,
                schedule,
                index: None,
                caught_up_at: Instant::now(),
                throttle,
                failures: 0,
                rebuild,
            };
            let mut wait = Duration::ZERO;
            while worker.throttle.wait(wait) {
                wait = if worker.step() { Duration::ZERO } else { (schedule.pause / 4).max(POLL_MIN) };
            }
            worker.throttle.closing = true;
            for _ in 0..RUNS_AT_CLOSE {
                // After damage another step is needed: it opens the index again, or recreates it.
                if !worker.step() && worker.failures == 0 {
                    break;
                }
            }
        };
        let thread = thread::Builder::new().name("statements".into()).spawn(work)?;
        Ok(Self { stop: Some(stop), thread: Some(thread), end })
    }

    /// The journal ends here now.
    pub fn follow(&self, end: Seq) {
        self.end.store(end.0, Ordering::Relaxed);
    }
}

impl Drop for StatementIndexer {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It panics only because of a bug, and then has printed its own message.
            let _ = thread.join();
        }
    }
}

/// An index that is open.
struct OpenIndex {
    store: Box<dyn IndexStore>,
    /// In the order of the journal.
    runs: Vec<IndexRun>,
    /// Runs from earlier sessions that are not verified yet, by number.
    unverified: Vec<u64>,
    next_run: u64,
    next_chunk: u64,
}

struct IndexWorker {
    books: Box<dyn Source>,
    location: Box<dyn IndexLocation>,
    schedule: IndexSchedule,
    index: Option<OpenIndex>,
    /// When no record was waiting the last time.
    caught_up_at: Instant,
    throttle: Throttle,
    /// How often the index was found damaged since something was last stored in it.
    failures: u32,
    /// Whether the index differs from the journal in a way that it cannot see itself.
    rebuild: Arc<AtomicBool>,
}

impl IndexWorker {
    /// Does the next piece of work; returns whether there may be more at once.
    fn step(&mut self) -> bool {
        if self.rebuild.swap(false, Ordering::Relaxed) {
            (self.index, self.failures) = (None, FAILURES_MAX);
        }
        // After an error the index is opened again without its damaged part; if that does not help, it is recreated.
        match self.work() {
            Ok(more) => more,
            Err(Interruption::Failed(StoreError::StatementIndexDamaged { .. })) => {
                self.failures = self.failures.saturating_add(1);
                false
            }
            Err(Interruption::Failed(_) | Interruption::Closing) => false,
        }
    }

    fn work(&mut self) -> Result<bool, Interruption> {
        let end = self.throttle.observe_end();
        let trailing = |index: &OpenIndex| end.0.saturating_sub(index.covered().0);
        if self.throttle.is_bursting() && self.index.as_ref().is_none_or(|index| trailing(index) < LAG_MAX) {
            return Ok(false);
        }
        let head = self.books.head()?;
        let mut index = match self.index.take() {
            Some(index) => index,
            // Books without a record have no index.
            None if head.seq == Seq(0) => return Ok(false),
            None => self.open()?,
        };
        let worked = self.advance(&mut index, &head);
        if worked.is_ok() {
            self.index = Some(index);
        }
        worked
    }

    fn open(&self) -> Result<OpenIndex, StoreError> {
        let store = if self.failures < FAILURES_MAX { self.location.open() } else { self.location.recreate() };
        let store = match store {
            Err(StoreError::StatementIndexDamaged { .. }) => self.location.recreate()?,
            opened => opened?,
        };
        let (store, stored) = match store.runs() {
            Err(StoreError::StatementIndexDamaged { .. }) => {
                drop(store);
                (self.location.recreate()?, Vec::new())
            }
            stored => (store, stored?),
        };
        let sound = sound_runs(stored.clone(), self.books.as_ref())?;
        let removed = stored.iter().filter(|run| !sound.contains(run)).map(|run| run.meta.id).collect();
        store.write(&IndexWrites { removed, ..IndexWrites::default() })?;
        let live: Vec<_> = sound.iter().map(|run| run.meta.chunk_range()).collect();
        store.sweep(&live)?;
        Ok(OpenIndex {
            next_run: stored.iter().map(|run| run.meta.id.saturating_add(1)).max().unwrap_or(1),
            next_chunk: live.iter().map(|range| range.end).max().unwrap_or(1),
            unverified: sound.iter().map(|run| run.meta.id).collect(),
            runs: sound,
            store,
        })
    }

    fn advance(&mut self, index: &mut OpenIndex, head: &JournalHead) -> Result<bool, Interruption> {
        let closing = self.throttle.closing;
        if !closing && let Some(id) = index.unverified.pop() {
            index.verify(id)?;
            return Ok(true);
        }
        if !closing && index.runs.len() >= RUNS_MAX && self.merge(index)? {
            return Ok(true);
        }
        let covered = index.covered();
        let waiting =
            head.seq.0.checked_sub(covered.0).ok_or_else(|| damaged("it covers more than the journal has"))?;
        if waiting == 0 {
            self.caught_up_at = Instant::now();
        }
        let due = waiting >= self.schedule.records || self.caught_up_at.elapsed() >= self.schedule.pause || closing;
        if waiting == 0 || !due {
            // While no run is due: merges, one at a time.
            return if closing { Ok(false) } else { self.merge(index) };
        }
        let last = if waiting > RUN_RECORDS_MAX { Seq(covered.0 + RUN_RECORDS_MAX) } else { head.seq };
        index.add_run(self.books.as_ref(), last, &mut self.throttle)?;
        (self.caught_up_at, self.failures) = (Instant::now(), 0);
        Ok(head.seq > last || index.mergeable().is_some())
    }

    fn merge(&mut self, index: &mut OpenIndex) -> Result<bool, Interruption> {
        let merged = index.merge(&mut self.throttle)?;
        if merged {
            self.failures = 0;
        }
        Ok(merged)
    }
}

impl OpenIndex {
    fn covered(&self) -> Seq {
        self.runs.last().map_or(Seq(0), |run| run.meta.last)
    }

    fn add_run(&mut self, books: &dyn Source, last: Seq, throttle: &mut Throttle) -> Result<(), Interruption> {
        let first = self.covered().next();
        let mut rest = || throttle.yield_to_writer();
        let entries = build::entries_of(books, first, last, &mut rest)?;
        let (batch, head) = books.batch_of(last)?.ok_or_else(|| StoreError::diverged(last, "a batch is missing"))?;
        // Level 0 for every size: if levels never rise along the journal, there are always neighbours of one level to
        // merge.
        let level = 0;
        let (id, first_chunk) = (self.next_run, self.next_chunk);
        let meta = RunMeta { id, level, first, last, entries: 0, first_chunk, chunks: 0 };
        let run = IndexRun { meta, batch: batch.number, head };
        let stored = build::store_run(self.store.as_ref(), run, entries.into_iter().map(Ok), &[], &mut rest)?;
        self.note(stored);
        Ok(())
    }

    /// Merges the oldest neighbours that are due; returns whether there were any.
    fn merge(&mut self, throttle: &mut Throttle) -> Result<bool, Interruption> {
        let Some(range) = self.mergeable() else { return Ok(false) };
        let inputs = &self.runs[range.clone()];
        let merged = build::merge(self.store.as_ref(), inputs, self.next_run, self.next_chunk, &mut || {
            throttle.yield_to_writer()
        })?;
        self.runs.drain(range);
        self.note(merged);
        self.runs.sort_by_key(|run| run.meta.first);
        Ok(true)
    }

    fn mergeable(&self) -> Option<std::ops::Range<usize>> {
        runs::mergeable(self.runs.len(), |place| self.runs[place].meta.level)
    }

    fn note(&mut self, run: IndexRun) {
        self.next_run = run.meta.id + 1;
        self.next_chunk = run.meta.chunk_range().end;
        self.runs.push(run);
    }

    /// Reads a run of an earlier session completely; if it is damaged, truncates the index before it.
    fn verify(&mut self, id: u64) -> Result<(), StoreError> {
        let Some(place) = self.runs.iter().position(|run| run.meta.id == id) else { return Ok(()) };
        match lookup::verify(self.store.as_ref(), &self.runs[place].meta) {
            Err(StoreError::StatementIndexDamaged { .. }) => {
                let gone: Vec<IndexRun> = self.runs.split_off(place);
                self.store.write(&IndexWrites {
                    removed: gone.iter().map(|run| run.meta.id).collect(),
                    dropped_chunks: gone.iter().map(|run| run.meta.chunk_range()).collect(),
                    ..IndexWrites::default()
                })
            }
            verified => verified,
        }
    }
}
