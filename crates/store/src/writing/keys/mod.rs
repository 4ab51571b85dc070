//! The key index: the journal place at which each idempotency key was decided.
//!
//! Money depends on it, so it must not lag: the newest keys are in memory (rebuilt from the journal's tail when the
//! books are opened), older ones in sorted runs in the store. A run covers an unbroken stretch of the journal and is
//! written once, in key order; runs of one size are merged into a larger one in the background, so that random keys
//! cost the same as ordered ones and nothing is ever written at a random position.
//!
//! | step | where | bound |
//! | --- | --- | --- |
//! | newest keys | hash table | [`RECENT_MAX`] keys, 17 MiB |
//! | flush | sorted by a thread, stored by the writer, one slice a commit | `SLICE_CHUNKS` chunks of 8 KiB a commit |
//! | lookup | a filter per run in memory, then one chunk read | 2 bytes of memory a key, 1 false positive in 1,000 |
//! | merge | [`runs::FAN_IN`] neighbours of one level, streamed by a thread | a channel of 64 chunks |
//!
//! The index is derived. A run that is missing, torn or edited is noticed (runs must cover the journal without a gap,
//! rows, chunks and summaries carry checksums that cover what they belong to) and the whole index is rebuilt from the
//! journal.

mod filter;
mod hasher;
mod job;
mod run;

use std::{
    collections::{HashMap, VecDeque},
    ops::Range,
    sync::Arc,
};

use bankroll_ledger::{Fingerprint, Record, Seq};

use super::recovery::verified_batches;
use crate::{
    StoreError,
    engine::{
        Engine, RunWrites,
        runs::{self, RunEntry, RunMeta},
    },
};
pub(crate) use hasher::KeyHasher;
use job::RunJob;
use run::Run;
pub(crate) use run::{decode_chunk, places_in_run};

/// How many keys stay in the hash table before they are written out as a run.
pub(crate) const RECENT_MAX: usize = 262_144;
/// The most chunks that one commit writes, for each full table that waits to be written.
const SLICE_CHUNKS: usize = 256;

/// Newest keys, and the place each was decided at. Two keys with one fingerprint keep both entries.
#[derive(Debug)]
struct RecentKeys {
    places: HashMap<u128, u64, KeyHasher>,
    twins: Vec<RunEntry>,
}

impl RecentKeys {
    fn new(hasher: KeyHasher) -> Self {
        Self { places: HashMap::with_hasher(hasher), twins: Vec::new() }
    }

    fn insert(&mut self, (fingerprint, place): RunEntry) {
        if let Some(older) = self.places.insert(fingerprint, place) {
            self.twins.push((fingerprint, older));
        }
    }

    fn find(&self, fingerprint: u128, found: &mut Vec<Seq>) {
        found.extend(self.places.get(&fingerprint).map(|place| Seq(*place)));
        found.extend(self.twins.iter().filter(|(twin, _)| *twin == fingerprint).map(|(_, place)| Seq(*place)));
    }

    fn entries(&self) -> Vec<RunEntry> {
        self.places
            .iter()
            .map(|(fingerprint, place)| (*fingerprint, *place))
            .chain(self.twins.iter().copied())
            .collect()
    }
}

/// A full table that waits to be stored as a run.
#[derive(Debug)]
struct FrozenKeys {
    keys: Arc<RecentKeys>,
    first: Seq,
    last: Seq,
}

/// The key index of one ledger.
#[derive(Debug)]
pub(crate) struct KeyIndex {
    recent: RecentKeys,
    recent_max: usize,
    /// The first journal place whose key is in `recent`.
    recent_first: Seq,
    /// The last journal place whose key is in the index.
    absorbed: Seq,
    frozen: VecDeque<FrozenKeys>,
    /// In the order of the journal.
    runs: Vec<Run>,
    job: Option<RunJob>,
    next_run: u64,
    next_chunk: u64,
    dropped: Vec<Range<u64>>,
    pending: PendingWrites,
}

/// What the next commit writes for the index, and the run that counts once it is durable.
#[derive(Debug, Default)]
struct PendingWrites {
    writes: Arc<RunWrites>,
    finished: Option<Run>,
}

impl KeyIndex {
    /// Loads the summaries of the runs and the keys of the journal's tail; `last` is where the journal ends.
    pub fn load(engine: &mut dyn Engine, last: Seq, recent_max: usize) -> Result<Self, StoreError> {
        let stored = engine.source().runs()?;
        let runs: Vec<Run> = stored.into_iter().map(Run::load).collect::<Result<_, _>>()?;
        let mut next = Seq(1);
        for run in &runs {
            if run.meta.first != next || run.meta.last > last {
                return Err(StoreError::KeyIndexDamaged { what: format!("no run begins at record {next}") });
            }
            next = run.meta.last.next();
            run.check_ends(|chunk| engine.source().chunk(chunk))?;
        }
        let live: Vec<Range<u64>> = runs.iter().map(|run| run.meta.chunk_range()).collect();
        engine.sweep_chunks(&live)?;
        let mut index = Self::empty(recent_max);
        index.next_run = runs.iter().map(|run| run.meta.id + 1).max().unwrap_or(1);
        index.next_chunk = live.iter().map(|range| range.end).max().unwrap_or(1);
        index.runs = runs;
        index.recent_first = next;
        index.absorbed = Seq(next.0 - 1);
        while index.absorb_page(engine, last)? {}
        Ok(index)
    }

    /// Rebuilds the index from the journal alone, and stores it.
    pub fn rebuild(engine: &mut dyn Engine, last: Seq, recent_max: usize) -> Result<Self, StoreError> {
        let emptied = super::recovery::commit_runs(engine, &RunWrites { removes_all: true, ..RunWrites::default() });
        emptied.and_then(|()| engine.sweep_chunks(&[])).map_err(|error| match error {
            StoreError::Damaged { what } | StoreError::KeyIndexDamaged { what } => {
                StoreError::row_damaged("key_chunks", format!("the key index cannot be emptied ({what})"))
            }
            error => error,
        })?;
        let mut index = Self::empty(recent_max);
        while index.absorb_page(engine, last)? {
            index.finish_maintenance(engine)?;
        }
        Ok(index)
    }

    fn empty(recent_max: usize) -> Self {
        Self {
            recent: RecentKeys::new(KeyHasher::new()),
            recent_max,
            recent_first: Seq(1),
            absorbed: Seq(0),
            frozen: VecDeque::new(),
            runs: Vec::new(),
            job: None,
            next_run: 1,
            next_chunk: 1,
            dropped: Vec::new(),
            pending: PendingWrites::default(),
        }
    }

    /// The hasher of this index's tables.
    pub fn hasher(&self) -> KeyHasher {
        *self.recent.places.hasher()
    }

    /// Adds the keys of the next batches; `false` if there are none. A key that is missing here would be decided again,
    /// so every batch is verified against the chain.
    fn absorb_page(&mut self, engine: &mut dyn Engine, last: Seq) -> Result<bool, StoreError> {
        let from = self.absorbed.next();
        if from > last {
            return Ok(false);
        }
        let gap = |at: Seq| StoreError::diverged(at, "the journal has a gap");
        let (first, _) = engine.source().batch_of(from)?.ok_or_else(|| gap(from))?;
        let verified = verified_batches(engine.source(), first.number)?;
        // A run may end within a batch.
        for (seq, bytes) in verified.iter().flat_map(|(_, records)| records).filter(|(seq, _)| *seq >= from) {
            let record = Record::decode(bytes).map_err(StoreError::unreadable(*seq))?;
            if let Record::Decided { request, .. } = record {
                self.recent.insert((request.key.fingerprint().0, seq.0));
            }
            self.absorbed = *seq;
        }
        if self.absorbed < from {
            return Err(gap(from));
        }
        self.freeze_if_full();
        Ok(true)
    }

    /// The places at which each key may have been decided, with the key's position in `keys`.
    pub fn candidates(
        &self,
        mut chunk: impl FnMut(u64) -> Result<Option<Vec<u8>>, StoreError>,
        keys: &[Fingerprint],
    ) -> Result<Vec<(usize, Seq)>, StoreError> {
        let mut found = Vec::new();
        let mut places = Vec::new();
        for (position, key) in keys.iter().enumerate() {
            self.find_in_memory(*key, &mut places);
            found.extend(places.drain(..).map(|place| (position, place)));
        }
        // Run by run, so that the filter's cache lines are fetched for many keys at once; and in the order of the run,
        // so that keys of one chunk follow each other.
        let mut likely = Vec::new();
        for run in &self.runs {
            likely.extend(keys.iter().enumerate().filter(|(_, key)| run.may_have(key.0)));
            likely.sort_unstable_by_key(|(_, key)| key.0);
            let mut chunks = run.chunks(&mut chunk);
            for (position, key) in likely.drain(..) {
                chunks.find(key.0, &mut places)?;
                found.extend(places.drain(..).map(|place| (position, place)));
            }
        }
        // In journal order, in which they will be read.
        found.sort_unstable_by_key(|(_, place)| *place);
        Ok(found)
    }

    /// Whether none of the keys was ever used; stops at the first that may have been.
    pub fn are_new(
        &self,
        mut chunk: impl FnMut(u64) -> Result<Option<Vec<u8>>, StoreError>,
        keys: &[Fingerprint],
    ) -> Result<bool, StoreError> {
        let mut places = Vec::new();
        keys.iter().for_each(|key| self.find_in_memory(*key, &mut places));
        for run in &self.runs {
            let mut chunks = run.chunks(&mut chunk);
            for key in keys.iter().filter(|key| run.may_have(key.0)) {
                if !places.is_empty() {
                    return Ok(false);
                }
                chunks.find(key.0, &mut places)?;
            }
        }
        Ok(places.is_empty())
    }

    fn find_in_memory(&self, key: Fingerprint, places: &mut Vec<Seq>) {
        self.recent.find(key.0, places);
        self.frozen.iter().for_each(|frozen| frozen.keys.find(key.0, places));
    }

    /// Adds the keys of a durable batch; `last` is the batch's last place.
    pub fn publish(&mut self, keys: impl Iterator<Item = (Fingerprint, Seq)>, last: Seq) {
        for (key, seq) in keys {
            self.recent.insert((key.0, seq.0));
        }
        self.absorbed = last;
        self.freeze_if_full();
    }

    fn freeze_if_full(&mut self) {
        if self.recent.places.len() >= self.recent_max {
            let next = RecentKeys::new(self.hasher());
            let keys = Arc::new(std::mem::replace(&mut self.recent, next));
            self.frozen.push_back(FrozenKeys { keys, first: self.recent_first, last: self.absorbed });
            self.recent_first = self.absorbed.next();
        }
    }

    /// Whether the next commit should write something for the index.
    pub fn has_maintenance(&self) -> bool {
        self.job.is_some() || !self.frozen.is_empty() || !self.dropped.is_empty() || self.mergeable().is_some()
    }

    /// Prepares the next slice, unless one is pending; never waits for the threads that sort and merge.
    pub fn prepare_maintenance(&mut self, engine: &mut dyn Engine) -> Result<(), StoreError> {
        if !self.pending.writes.is_empty() {
            return Ok(());
        }
        self.start_job(engine)?;
        let mut writes = RunWrites::default();
        let most = SLICE_CHUNKS * (1 + self.frozen.len());
        if let Some(job) = &mut self.job {
            writes.chunks = job.take(most, &mut self.next_chunk)?;
            if let Some(run) = job.finished() {
                writes.added = Some((run.meta.clone(), run.summary()));
                writes.removed.clone_from(&job.replaces);
                self.pending.finished = Some(run);
            }
        }
        if let Some(dropped) = self.dropped.pop() {
            let end = dropped.end.min(dropped.start + most as u64);
            writes.dropped_chunks.push(dropped.start..end);
            if end < dropped.end {
                self.dropped.push(end..dropped.end);
            }
        }
        self.pending.writes = Arc::new(writes);
        Ok(())
    }

    /// What the next commit writes for the index.
    pub fn pending(&self) -> Arc<RunWrites> {
        Arc::clone(&self.pending.writes)
    }

    /// Stores everything that is pending, and waits for the threads: only while no calls are served.
    fn finish_maintenance(&mut self, engine: &mut dyn Engine) -> Result<(), StoreError> {
        while self.has_maintenance() {
            self.start_job(engine)?;
            if let Some(job) = &mut self.job {
                job.wait();
            }
            self.prepare_maintenance(engine)?;
            super::recovery::commit_runs(engine, &self.pending.writes)?;
            self.committed();
        }
        Ok(())
    }

    /// The pending writes are durable.
    pub fn committed(&mut self) {
        let Some(run) = std::mem::take(&mut self.pending).finished else { return };
        let job = self.job.take().expect("a run is finished by a job");
        if job.replaces.is_empty() {
            self.frozen.pop_front();
        }
        let (gone, kept): (Vec<Run>, Vec<Run>) =
            self.runs.drain(..).partition(|run| job.replaces.contains(&run.meta.id));
        self.dropped.extend(gone.iter().map(|run| run.meta.chunk_range()));
        self.runs = kept;
        self.runs.push(run);
        self.runs.sort_by_key(|run| run.meta.first);
    }

    /// The commit with the pending writes was rolled back: drops the job; the next commit starts it again.
    pub fn rolled_back(&mut self) {
        self.dropped.extend_from_slice(&std::mem::take(&mut self.pending).writes.dropped_chunks);
        if let Some(job) = self.job.take() {
            self.dropped.push(job.first_chunk()..self.next_chunk);
        }
    }

    fn start_job(&mut self, engine: &mut dyn Engine) -> Result<(), StoreError> {
        if self.job.is_some() {
            return Ok(());
        }
        let id = self.next_run;
        if let Some(frozen) = self.frozen.front() {
            self.job = Some(RunJob::flush(id, frozen.first, frozen.last, Arc::clone(&frozen.keys), self.next_chunk));
        } else if let Some(range) = self.mergeable() {
            let inputs: Vec<RunMeta> = self.runs[range].iter().map(|run| run.meta.clone()).collect();
            self.job = Some(RunJob::merge(id, inputs, engine.open_reader()?, self.next_chunk));
        } else {
            return Ok(());
        }
        self.next_run += 1;
        Ok(())
    }

    /// Neighbours of one level that are due to be merged.
    fn mergeable(&self) -> Option<Range<usize>> {
        runs::mergeable(self.runs.len(), |place| self.runs[place].meta.level)
    }
}
