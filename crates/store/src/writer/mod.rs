//! The single writer: the only thread that changes the books.
//!
//! | phase | what happens | if it fails |
//! | --- | --- | --- |
//! | admit | the caller's thread checks the form and takes room in the queue | `Refused`, nothing happened |
//! | gather | whatever has arrived while the last commit was on its way to disk, up to a full batch; never waits for more | - |
//! | prefetch | accounts, holds, rows, earlier records and keys that the batch names and memory does not have | stop |
//! | decide | pure, in order of arrival, on the books in memory | a rejection is an answer |
//! | commit | one transaction, synced | rolled back for certain: callers are told, memory is dropped; in doubt: stop |
//! | publish | the keys are known, the callers are answered | - |
//!
//! Memory runs ahead of the disk only between decide and commit, and nobody else can see it. Every answer, rejections
//! and replays included, is given after the commit of the batch it was decided in.
//!
//! "Stop" means: the callers of the batch are told that the outcome is unknown, all later calls are refused, and the
//! books must be opened again, which verifies the tail of the journal.

mod delivery;
mod draft;
mod prefetch;
mod queue;

use std::{
    sync::{Arc, OnceLock, mpsc::Receiver},
    time::Duration,
};

use bankroll_ledger::{AccountId, Asset, AssetId, Books, Time};

use crate::{
    Clock, Failure, StoreError,
    engine::{CommitError, Engine, Head},
    keys::KeyIndex,
};
pub(crate) use delivery::Delivery;
use draft::Draft;
pub use queue::{Answer, Reply};
pub(crate) use queue::{FACTS_WEIGHT, Job, Prepared, Queue, Sent};

/// Requests in one call, and in one batch.
pub(crate) const BATCH_MAX: usize = 8192;
/// Sets of row statements in one batch.
const ROWS_MAX: usize = 256;
/// Holds that expire in one batch; the rest follow in the next.
const EXPIRIES_MAX: usize = 1024;
/// How soon background work on the key index is looked at while nobody calls.
const UPKEEP_PAUSE: Duration = Duration::from_millis(2);

pub(crate) struct Writer {
    pub engine: Box<dyn Engine>,
    pub clock: Clock,
    pub jobs: Receiver<Job>,
    pub head: Head,
    pub books: Books,
    pub accounts_max: usize,
    pub assets: Vec<(AssetId, Asset)>,
    pub last_account: AccountId,
    pub keys: KeyIndex,
    pub recent_max: usize,
    pub next_expiry: Option<Time>,
    pub delivery: Delivery,
    /// A call that did not fit into the batch any more.
    pub left_over: Option<Job>,
    /// Why the writer stopped, for whoever asks.
    pub stopped_by: Arc<OnceLock<Arc<StoreError>>>,
}

impl Writer {
    /// Works until it is told to stop or must.
    pub fn run(mut self) {
        loop {
            let Some(mut jobs) = self.gather() else { return };
            let stop = jobs.iter().any(|job| matches!(job, Job::Stop));
            if let Err(error) = self.work(&mut jobs) {
                // Before anybody is told, so that who is told can ask why.
                let _ = self.stopped_by.set(Arc::new(error));
                jobs.drain(..).for_each(|job| job.fail(&Failure::Unknown));
                return;
            }
            if stop {
                return;
            }
        }
    }

    /// Waits for the first job, or for something else that is due, and takes what has arrived behind it.
    fn gather(&mut self) -> Option<Vec<Job>> {
        let mut jobs = Vec::new();
        match (self.left_over.take(), self.pause()) {
            (Some(job), _) => jobs.push(job),
            (None, Some(pause)) => match self.jobs.recv_timeout(pause) {
                Ok(job) => jobs.push(job),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => return Some(jobs),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return None,
            },
            (None, None) => jobs.push(self.jobs.recv().ok()?),
        }
        let (mut requests, mut rows) = jobs[0].weight();
        while !matches!(jobs.last(), Some(Job::Stop))
            && let Ok(job) = self.jobs.try_recv()
        {
            let (more_requests, more_rows) = job.weight();
            (requests, rows) = (requests + more_requests, rows + more_rows);
            if requests > BATCH_MAX || rows > ROWS_MAX {
                self.left_over = Some(job);
                break;
            }
            jobs.push(job);
        }
        Some(jobs)
    }

    /// How long to wait at most; `None` for as long as it takes.
    fn pause(&self) -> Option<Duration> {
        let until_expiry = self.next_expiry.map(|expiry| {
            let wait = Duration::from_micros(expiry.0.saturating_sub(self.clock.now().0));
            // A clock that stands still must not make this loop spin.
            wait.max(UPKEEP_PAUSE)
        });
        let upkeep = self.keys.has_upkeep().then_some(UPKEEP_PAUSE);
        until_expiry.into_iter().chain(upkeep).min()
    }

    /// Decides, commits and answers one batch.
    fn work(&mut self, jobs: &mut Vec<Job>) -> Result<(), StoreError> {
        let mut refused = Vec::new();
        loop {
            match self.engine.begin() {
                Err(StoreError::Locked) => return self.give_up_batch(jobs, &Failure::Locked),
                begun => begun?,
            }
            let mut draft = Draft::new(self.head, self.clock.now(), std::mem::take(&mut refused), self.keys.hasher());
            draft.fill(self, jobs)?;
            self.look_after_keys(|keys, engine| keys.prepare_upkeep(engine))?;
            let committed = draft.store(jobs, self.engine.as_mut(), self.keys.pending());
            match committed {
                Ok(rows) => {
                    self.publish(draft, jobs, rows);
                    return self.engine.after_commit();
                }
                Err(CommitError::FactRefused(place)) => {
                    refused = draft.into_refused();
                    refused.push(place);
                    self.books.forget_all();
                }
                Err(CommitError::NothingHappened(error)) => {
                    let failure =
                        if matches!(error, StoreError::Full) { Failure::StorageFull } else { Failure::Locked };
                    return self.give_up_batch(jobs, &failure);
                }
                Err(CommitError::Fatal(error)) => return Err(error),
            }
        }
    }

    fn publish(&mut self, draft: Draft, jobs: &mut Vec<Job>, rows: Vec<crate::RowsChanged>) {
        self.keys.committed();
        let all_expired = draft.all_expired();
        let outcomes = draft.publish(self, rows);
        self.delivery.deliver(std::mem::take(jobs), outcomes, all_expired);
        if self.books.account_count() > self.accounts_max {
            self.books.forget_all();
        } else {
            self.books.forget_all_but_accounts();
        }
    }

    /// The transaction was rolled back for certain: everybody is told, and memory is read again from the store.
    fn give_up_batch(&mut self, jobs: &mut Vec<Job>, failure: &Failure) -> Result<(), StoreError> {
        jobs.drain(..).for_each(|job| job.fail(failure));
        self.books.forget_all();
        self.next_expiry = self.engine.next_expiry()?;
        if self.engine.head()? != self.head {
            return Err(StoreError::diverged(self.head.seq, "a batch that was rolled back is in the journal"));
        }
        self.keys.rolled_back();
        Ok(())
    }

    /// Does something with the key index; if it is damaged, builds it again from the journal and does it once more.
    fn look_after_keys<T>(
        &mut self,
        mut work: impl FnMut(&mut KeyIndex, &mut dyn Engine) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match work(&mut self.keys, self.engine.as_mut()) {
            Err(StoreError::KeyIndexDamaged { .. }) => {
                self.keys = KeyIndex::rebuild(self.engine.as_mut(), self.head.seq, self.recent_max)?;
                work(&mut self.keys, self.engine.as_mut())
            }
            done => done,
        }
    }
}
