//! Committing beside the writer: while one batch is on its way to disk, the next is decided.
//!
//! The disk goes along with the batch and comes back with word of what became of it, so that there is one batch on its
//! way at the most and nobody else can touch the store meanwhile. Only batches of plain money go aside; whatever could
//! make the store refuse one request of a batch, or reads its own effects back, is committed by the writer itself.

use std::{
    sync::{Arc, mpsc::Sender},
    thread,
};

use bankroll_ledger::Batch;

use super::{
    changes::BatchChanges,
    decided_keys::DecidedKeys,
    delivery::{AnswerChannel, Delivery},
    queue::{Job, Message},
};
use crate::{
    StoreError,
    engine::{CommitError, Engine, JournalHead, RunWrites},
};

/// The store, which is here or away with a batch.
pub(crate) struct EngineSlot(Option<Box<dyn Engine>>);

impl EngineSlot {
    pub fn new(engine: Box<dyn Engine>) -> Self {
        Self(Some(engine))
    }

    pub fn engine(&mut self) -> &mut dyn Engine {
        self.0.as_deref_mut().expect("no batch is on its way")
    }
}

/// What the writer must know of a batch that is on its way.
pub(super) struct InFlight {
    pub keys: DecidedKeys,
    /// Where the journal ends if it arrives, but for the hash.
    pub next_head: JournalHead,
    /// Memory is to be dropped once it has: it holds more than it may.
    pub forget_all: bool,
}

struct CommitTask {
    engine: Box<dyn Engine>,
    changes: BatchChanges,
    jobs: Vec<Job>,
    runs: Arc<RunWrites>,
}

/// The batch that is in the journal now, or why there is none, with the calls that have no answer.
type CommitResult = Result<Option<Batch>, (CommitError, Vec<Job>)>;

/// What became of a batch; its callers have their answers if it is durable, and none yet otherwise.
pub(crate) struct CommitOutcome {
    engine: Box<dyn Engine>,
    stored: CommitResult,
    housekeeping: Result<(), StoreError>,
}

impl CommitOutcome {
    /// The disk is back.
    pub fn unload(self, engine_slot: &mut EngineSlot) -> (CommitResult, Result<(), StoreError>) {
        engine_slot.0 = Some(self.engine);
        (self.stored, self.housekeeping)
    }
}

/// The thread that commits.
pub(crate) struct CommitThread {
    /// `None` only while it is being dropped.
    tasks: Option<Sender<CommitTask>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl CommitThread {
    pub fn start(messages: Sender<Message>, delivery: &Delivery) -> std::io::Result<Self> {
        let (tasks, handed_over) = std::sync::mpsc::channel::<CommitTask>();
        let answers = delivery.answers();
        let work = move || {
            // If this thread dies, the writer must not wait for it.
            let notify = NotifyOnDrop(messages);
            for task in handed_over {
                let arrived = task.store(&answers);
                if notify.0.send(Message::Committed(Box::new(arrived))).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("commits".into()).spawn(work)?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Sends a decided batch on its way, and the disk with it.
    pub(super) fn send(
        &self,
        engine_slot: &mut EngineSlot,
        changes: BatchChanges,
        jobs: Vec<Job>,
        runs: Arc<RunWrites>,
    ) -> Result<(), StoreError> {
        let engine = engine_slot.0.take().expect("no batch is on its way");
        let tasks = self.tasks.as_ref().expect("it is not being dropped");
        tasks.send(CommitTask { engine, changes, jobs, runs }).map_err(|_| StoreError::CommitLost)
    }
}

impl CommitTask {
    fn store(mut self, answers: &AnswerChannel) -> CommitOutcome {
        let stored = self.changes.store(&self.jobs, self.engine.as_mut(), &self.runs);
        let (stored, housekeeping) = match stored {
            Ok(rows) => {
                let batch = self.changes.batch.take();
                answers.deliver(self.jobs, self.changes.outcomes(rows));
                (Ok(batch), self.engine.after_commit())
            }
            Err(error) => (Err((error, self.jobs)), Ok(())),
        };
        CommitOutcome { engine: self.engine, stored, housekeeping }
    }
}

impl Drop for CommitThread {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // It cannot panic but for a bug, which its own message tells.
            let _ = thread.join();
        }
    }
}

struct NotifyOnDrop(Sender<Message>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(Message::CommitThreadLost);
    }
}
