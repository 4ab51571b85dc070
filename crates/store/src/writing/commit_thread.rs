//! The commit thread: it commits one batch while the writer decides the next.
//!
//! The engine moves to this thread with the batch and comes back with the outcome, so at most one batch is in flight
//! and only one thread can use the engine. Only batches of plain money are committed here. The writer itself commits
//! a batch of which the store may refuse one request, or that reads its own effects back.

use std::{
    sync::{Arc, mpsc::Sender},
    thread,
};

use bankroll_ledger::Batch;

use super::{
    changes::BatchChanges,
    decided_keys::DecidedKeys,
    delivery::{AnswerChannel, Delivery},
    newest_head::HeadFile,
    queue::{Job, Message},
};
use crate::{
    StoreError,
    engine::{CommitError, Engine, JournalHead, RunWrites},
};

/// Holds the engine while no batch is in flight.
pub(crate) struct EngineSlot(Option<Box<dyn Engine>>);

impl EngineSlot {
    pub fn new(engine: Box<dyn Engine>) -> Self {
        Self(Some(engine))
    }

    pub fn engine(&mut self) -> &mut dyn Engine {
        self.0.as_deref_mut().expect("no batch is in flight")
    }
}

/// What the writer must know about the batch in flight.
pub(super) struct InFlight {
    pub keys: DecidedKeys,
    /// Where the journal ends if it is committed, except the hash.
    pub next_head: JournalHead,
    /// Whether to drop the books in memory after the commit, because they exceed their limit.
    pub forget_all: bool,
}

struct CommitTask {
    engine: Box<dyn Engine>,
    changes: BatchChanges,
    jobs: Vec<Job>,
    runs: Arc<RunWrites>,
}

/// The committed batch, or the error with the calls that have no answer yet.
type CommitResult = Result<Option<Batch>, (CommitError, Vec<Job>)>;

/// The outcome of a batch. If it is durable, its callers have their answers; otherwise they have none yet.
pub(crate) struct CommitOutcome {
    engine: Box<dyn Engine>,
    stored: CommitResult,
    housekeeping: Result<(), StoreError>,
}

impl CommitOutcome {
    /// Puts the engine back.
    pub fn return_engine(self, engine_slot: &mut EngineSlot) -> (CommitResult, Result<(), StoreError>) {
        engine_slot.0 = Some(self.engine);
        (self.stored, self.housekeeping)
    }
}

/// The thread that commits batches.
pub(crate) struct CommitThread {
    /// `None` only while it is being dropped.
    tasks: Option<Sender<CommitTask>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl CommitThread {
    pub fn start(
        messages: Sender<Message>,
        delivery: &Delivery,
        head_file: Option<Arc<HeadFile>>,
    ) -> std::io::Result<Self> {
        let (tasks, handed_over) = std::sync::mpsc::channel::<CommitTask>();
        let answers = delivery.answers();
        let work = move || {
            // If this thread dies, the writer must not wait for it.
            let notify = NotifyOnDrop(messages);
            for task in handed_over {
                let outcome = task.store(&answers, head_file.as_deref());
                if notify.0.send(Message::Committed(Box::new(outcome))).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("commits".into()).spawn(work)?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Sends a decided batch to the thread, with the engine.
    pub(super) fn send(
        &self,
        engine_slot: &mut EngineSlot,
        changes: BatchChanges,
        jobs: Vec<Job>,
        runs: Arc<RunWrites>,
    ) -> Result<(), StoreError> {
        let engine = engine_slot.0.take().expect("no batch is in flight");
        let tasks = self.tasks.as_ref().expect("it is not being dropped");
        tasks.send(CommitTask { engine, changes, jobs, runs }).map_err(|_| StoreError::CommitLost)
    }
}

impl CommitTask {
    fn store(mut self, answers: &AnswerChannel, head_file: Option<&HeadFile>) -> CommitOutcome {
        let stored = self.changes.store(&self.jobs, self.engine.as_mut(), &self.runs, head_file);
        let (stored, housekeeping) = match stored {
            Ok(rows) => {
                let batch = self.changes.batch.take();
                answers.deliver(self.jobs, self.changes.outcomes(rows));
                head_file.inspect(|file| file.sync_if_due());
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
            // It panics only because of a bug, and then has printed its own message.
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
