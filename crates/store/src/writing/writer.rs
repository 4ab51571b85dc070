//! The single writer: the only thread that changes the books.
//!
//! | phase | what happens | if it fails |
//! | --- | --- | --- |
//! | admit | the caller's thread checks the form and acquires permits | `SubmitRefusal`, nothing happened |
//! | gather | the calls that arrived while the last batch was in flight, up to a full batch; never waits for more | - |
//! | prefetch | accounts, holds, rows, earlier records and keys that the batch names and memory does not have | stop |
//! | decide | pure, in order of arrival, on the books in memory | a rejection is an answer |
//! | commit | one transaction, synced | rolled back for certain: the calls fail, memory is dropped; in doubt: stop |
//! | publish | the keys are known, the callers are answered | - |
//!
//! While a batch of plain money is in flight, the writer gathers the next one and decides it ahead as far as memory
//! alone allows; so at most two batches are decided and not durable. Callers cannot see that: every answer, including
//! rejections and replays, is sent after the commit of the batch it was decided in. If a batch is not committed, what
//! was decided ahead is decided again.
//!
//! "Stop" means: the calls of the batch fail with an unknown outcome, all later calls are refused, and the books must
//! be opened again, which verifies the tail of the journal.

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use bankroll_ledger::Batch;

use super::{
    changes::BatchChanges,
    commit_thread::{CommitOutcome, CommitThread, EngineSlot, InFlight},
    control::WriterControl,
    delivery::Delivery,
    draft::Draft,
    memory::WriterMemory,
    newest_head::HeadFile,
    queue::{Job, Message},
    recovery,
};
use crate::{
    Clock, StoreError, SubmitFailure,
    engine::{CommitError, Source},
    history::index::StatementIndexer,
};

/// Requests in one call, and in one batch.
pub(crate) const BATCH_MAX: usize = 8192;
/// With this many requests decided ahead, a batch is committed without gathering more.
const ENOUGH_AHEAD: usize = 1024;
/// Sets of row statements in one batch.
const ROWS_MAX: usize = 256;
/// How soon the writer polls background work on the key index while no calls arrive.
const MAINTENANCE_PAUSE: Duration = Duration::from_millis(2);

pub(crate) struct Writer {
    // `indexer` and `lookups` come before `engine_slot`, so that they are dropped first: the last connection to close
    // checkpoints the log, and these two cannot write.
    /// The thread of the statement index.
    pub indexer: StatementIndexer,
    /// A second connection, to read the key index while a batch is in flight.
    pub lookups: Box<dyn Source>,
    pub engine_slot: EngineSlot,
    pub clock: Clock,
    pub messages: Receiver<Message>,
    pub memory: WriterMemory,
    pub accounts_max: usize,
    /// Before `delivery`, to which it hands answers, so that it is dropped first.
    pub commit_thread: CommitThread,
    pub delivery: Delivery,
    /// Calls that have arrived and are in no batch yet.
    pub waiting: VecDeque<Job>,
    pub background_commit_min: usize,
    /// Where the newest head is noted.
    pub head_file: Option<Arc<HeadFile>>,
    /// Calls that were decided while the previous batch was in flight.
    pub decided_ahead: Arc<AtomicU64>,
    /// Why the writer stopped.
    pub stopped_by: Arc<OnceLock<Arc<StoreError>>>,
    /// What others ask of it.
    pub control: Arc<WriterControl>,
}

impl Writer {
    /// Works until it is asked to stop or an error stops it.
    pub fn run(mut self) {
        let (mut in_flight, mut jobs) = (None, Vec::new());
        loop {
            let worked = self.next_batch(&mut in_flight, &mut jobs);
            match worked {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    // Set before the calls fail, so that their callers can read the reason.
                    let _ = self.stopped_by.set(Arc::new(error));
                    jobs.drain(..).for_each(|job| job.fail(&SubmitFailure::Unknown));
                    return;
                }
            }
        }
    }

    /// Gathers, decides and commits one batch, or hands it to the commit thread; `false` if it was asked to stop.
    fn next_batch(&mut self, in_flight: &mut Option<InFlight>, jobs: &mut Vec<Job>) -> Result<bool, StoreError> {
        let ahead = match in_flight.take() {
            Some(last) => self.decide_until_committed(last, jobs)?,
            None => None,
        };
        // A large batch that is decided already is committed at once: gathering more would leave the disk idle.
        if ahead.as_ref().is_none_or(|draft| draft.changes.answers.len() < ENOUGH_AHEAD) {
            self.gather(jobs);
        }
        if let Some(error) = self.control.take_stop() {
            if error.is_unsound() {
                // The next holder must not decide by these books either. If the database is gone, no holder can; this
                // writer stops in any case.
                let _ = self.engine_slot.engine().note_finding(&error.to_string());
            }
            return Err(error);
        }
        let stop = jobs.iter().any(|job| matches!(job, Job::Stop));
        *in_flight = self.work(jobs, ahead)?;
        Ok(!stop)
    }

    /// Decides what arrives, as far as memory alone can, until the last batch is durable.
    fn decide_until_committed(&mut self, last: InFlight, jobs: &mut Vec<Job>) -> Result<Option<Draft>, StoreError> {
        let mut draft = Draft::new(last.next_head, self.clock.now(), Vec::new(), self.memory.keys.hasher());
        let mut may_go_on = !last.forget_all && !self.memory.has_due_holds(draft.changes.now);
        let mut weight = 0;
        loop {
            while may_go_on && let Some(job) = self.waiting.pop_front() {
                weight += job.weight().0;
                jobs.push(job);
                may_go_on = weight <= BATCH_MAX
                    && draft.decide_ahead(&mut self.memory, self.lookups.as_ref(), &last.keys, jobs);
                if may_go_on {
                    self.decided_ahead.fetch_add(1, Ordering::Relaxed);
                } else {
                    self.waiting.extend(jobs.pop());
                    self.waiting.rotate_right(1);
                }
            }
            match self.messages.recv() {
                Ok(Message::Call(job)) => self.waiting.push_back(job),
                Ok(Message::Committed(outcome)) => {
                    let is_durable = self.finish_in_flight(&last, *outcome, jobs)?;
                    if !is_durable || jobs.is_empty() {
                        return Ok(None);
                    }
                    draft.changes.before.hash = self.memory.head.hash;
                    // The records decided ahead have their journal places already; they must be the next ones.
                    if draft.changes.before != self.memory.head {
                        return Err(StoreError::diverged(
                            self.memory.head.seq,
                            "a batch did not end at the expected record",
                        ));
                    }
                    return Ok(Some(draft));
                }
                Ok(Message::CommitThreadLost) | Err(_) => return Err(StoreError::CommitLost),
            }
        }
    }

    /// Takes the engine back; returns whether the batch in flight is durable. If the outcome is unknown, its calls
    /// join the jobs, which then fail with an unknown outcome.
    fn finish_in_flight(
        &mut self,
        last: &InFlight,
        outcome: CommitOutcome,
        jobs: &mut Vec<Job>,
    ) -> Result<bool, StoreError> {
        let (stored, housekeeping) = outcome.return_engine(&mut self.engine_slot);
        match stored {
            Ok(batch) => {
                self.memory.follow(batch.as_ref(), &last.keys);
                self.notify_indexer(batch.as_ref());
                housekeeping?;
            }
            Err((CommitError::NothingHappened(error), mut given_up)) => {
                self.give_up_batch(&mut given_up, &error)?;
                return Ok(false);
            }
            Err((CommitError::Fatal(error), in_doubt)) => {
                jobs.extend(in_doubt);
                return Err(error);
            }
            Err((CommitError::FactRefused(_), _)) => {
                unreachable!("batches with facts are not committed in the background")
            }
        }
        if last.forget_all {
            self.memory.books.forget_all();
        }
        Ok(true)
    }

    /// Adds the waiting calls to the batch; if there are none, waits for the first call or for the next due work.
    fn gather(&mut self, jobs: &mut Vec<Job>) {
        if jobs.is_empty() && self.waiting.is_empty() {
            let first = match self.pause() {
                Some(pause) => self.messages.recv_timeout(pause),
                None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            self.waiting.extend(first.ok().and_then(Message::call));
        }
        let (mut requests, mut rows) = (0, 0);
        for job in jobs.iter() {
            let (more_requests, more_rows) = job.weight();
            (requests, rows) = (requests + more_requests, rows + more_rows);
        }
        while !matches!(jobs.last(), Some(Job::Stop)) {
            let next = self.waiting.pop_front().or_else(|| self.messages.try_recv().ok().and_then(Message::call));
            let Some(job) = next else { return };
            let (more_requests, more_rows) = job.weight();
            (requests, rows) = (requests + more_requests, rows + more_rows);
            if requests > BATCH_MAX || rows > ROWS_MAX {
                self.waiting.push_front(job);
                return;
            }
            jobs.push(job);
        }
    }

    /// How long to wait for a call at most; `None` without a limit.
    fn pause(&mut self) -> Option<Duration> {
        let until_expiry = self.memory.next_expiry.map(|expiry| {
            let wait = Duration::from_micros(expiry.0.saturating_sub(self.clock.now().0));
            // A clock that stands still must not turn this loop into a busy wait.
            wait.max(MAINTENANCE_PAUSE)
        });
        let maintenance = self.memory.keys.has_maintenance().then_some(MAINTENANCE_PAUSE);
        until_expiry.into_iter().chain(maintenance).chain(self.engine_slot.engine().max_idle()).min()
    }

    /// Decides the rest of the batch, then commits and answers it, or hands it to the commit thread.
    fn work(&mut self, jobs: &mut Vec<Job>, mut ahead: Option<Draft>) -> Result<Option<InFlight>, StoreError> {
        let mut refused = Vec::new();
        loop {
            match self.engine_slot.engine().begin() {
                Err(locked @ StoreError::Locked) => {
                    self.give_up_batch(jobs, &locked)?;
                    return Ok(None);
                }
                begun => begun?,
            }
            let mut draft = ahead.take().unwrap_or_else(|| {
                Draft::new(self.memory.head, self.clock.now(), std::mem::take(&mut refused), self.memory.keys.hasher())
            });
            let (memory, engine) = (&mut self.memory, self.engine_slot.engine());
            let rebuilds = self.control.take_rebuild_keys();
            let rebuilt = if rebuilds { memory.rebuild_keys(engine) } else { Ok(()) };
            let filled = rebuilt.and_then(|()| draft.fill(memory, engine, jobs));
            match filled.and_then(|()| memory.with_key_index(engine, |keys, engine| keys.prepare_maintenance(engine))) {
                Err(error) if error.is_transient() => {
                    self.engine_slot.engine().reconnect()?;
                    if rebuilds {
                        self.control.ask_rebuild_keys();
                    }
                    self.give_up_batch(jobs, &StoreError::Unreachable)?;
                    return Ok(None);
                }
                filled => filled?,
            }
            let (mut changes, refused_before) = draft.finish();
            if self.may_commit_in_background(&changes, jobs) {
                return self.commit_in_background(changes, std::mem::take(jobs)).map(Some);
            }
            let head_file = self.head_file.as_deref();
            match changes.store(jobs, self.engine_slot.engine(), &self.memory.keys.pending(), head_file) {
                Ok(rows) => {
                    self.publish(changes, jobs, rows);
                    self.head_file.iter().for_each(|file| file.sync_if_due());
                    return self.engine_slot.engine().after_commit().map(|()| None);
                }
                Err(CommitError::FactRefused(place)) => {
                    refused = refused_before;
                    refused.push(place);
                    self.memory.books.forget_all();
                }
                Err(CommitError::NothingHappened(error)) => {
                    self.give_up_batch(jobs, &error)?;
                    return Ok(None);
                }
                Err(CommitError::Fatal(error)) => return Err(error),
            }
        }
    }

    /// Plain money only: no fact that its table may refuse, no rows, accounts or ticks that need an answer of their
    /// own, no expiry after which only the store knows the next one.
    fn may_commit_in_background(&self, changes: &BatchChanges, jobs: &[Job]) -> bool {
        changes.answers.len() >= self.background_commit_min
            && !self.memory.has_due_holds(changes.now)
            && jobs.iter().all(Job::is_plain_money)
    }

    fn commit_in_background(&mut self, mut changes: BatchChanges, jobs: Vec<Job>) -> Result<InFlight, StoreError> {
        let next_head = changes.next_head();
        let keys = changes.keys.take();
        self.memory.next_expiry = self.memory.next_expiry.into_iter().chain(changes.next_expiry).min();
        self.commit_thread.send(&mut self.engine_slot, changes, jobs, self.memory.keys.pending())?;
        self.memory.books.forget_all_but_accounts();
        Ok(InFlight { keys, next_head, forget_all: self.memory.books.account_count() > self.accounts_max })
    }

    fn publish(&mut self, mut changes: BatchChanges, jobs: &mut Vec<Job>, rows: Vec<crate::RowsOutcome>) {
        let all_expired = changes.all_expired();
        self.memory.publish(&mut changes, self.engine_slot.engine());
        self.notify_indexer(changes.batch.as_ref());
        self.delivery.deliver(std::mem::take(jobs), changes.outcomes(rows), all_expired);
        if self.memory.books.account_count() > self.accounts_max {
            self.memory.books.forget_all();
        } else {
            self.memory.books.forget_all_but_accounts();
        }
    }

    /// Tells the statement index where the durable journal ends.
    fn notify_indexer(&self, batch: Option<&Batch>) {
        if batch.is_some() {
            self.indexer.follow(self.memory.head.seq);
        }
    }

    /// The transaction was rolled back for certain: fails its calls, and reads memory again from the store.
    fn give_up_batch(&mut self, jobs: &mut Vec<Job>, error: &StoreError) -> Result<(), StoreError> {
        let failure = match error {
            StoreError::Full => SubmitFailure::StorageFull,
            StoreError::Unreachable => SubmitFailure::Unreachable,
            _ => SubmitFailure::Locked,
        };
        jobs.drain(..).for_each(|job| job.fail(&failure));
        self.memory.books.forget_all();
        while let Err(error) = self.reload() {
            if !error.is_transient() {
                return Err(error);
            }
            // Reconnecting waits for a server that restarts, and fails if the books are lost for good.
            self.engine_slot.engine().reconnect()?;
        }
        self.memory.keys.rolled_back();
        Ok(())
    }

    fn reload(&mut self) -> Result<(), StoreError> {
        self.memory.next_expiry = self.engine_slot.engine().source().next_expiry()?;
        if recovery::head(self.engine_slot.engine().source())? == self.memory.head {
            Ok(())
        } else {
            Err(StoreError::diverged(self.memory.head.seq, "a batch that was rolled back is in the journal"))
        }
    }
}
