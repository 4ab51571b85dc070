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
    decided_keys::DecidedKeys,
    delivery::{Answers, Delivery},
    queue::{Job, Message},
    storing::Changes,
};
use crate::{
    StoreError,
    engine::{CommitError, Engine, Head, RunWrites},
};

/// The store, which is here or away with a batch.
pub(crate) struct Disk(Option<Box<dyn Engine>>);

impl Disk {
    pub fn new(engine: Box<dyn Engine>) -> Self {
        Self(Some(engine))
    }

    pub fn engine(&mut self) -> &mut dyn Engine {
        self.0.as_deref_mut().expect("no batch is on its way")
    }
}

/// What the writer must know of a batch that is on its way.
pub(super) struct OnItsWay {
    pub keys: DecidedKeys,
    /// Where the journal ends if it arrives, but for the hash.
    pub head_to_be: Head,
    /// Memory is to be dropped once it has: it holds more than it may.
    pub forget_all: bool,
}

struct Package {
    engine: Box<dyn Engine>,
    changes: Changes,
    jobs: Vec<Job>,
    runs: Arc<RunWrites>,
}

/// The batch that is in the journal now, or why there is none, with the calls that have no answer.
type Stored = Result<Option<Batch>, (CommitError, Vec<Job>)>;

/// What became of a batch; its callers have their answers if it is durable, and none yet otherwise.
pub(crate) struct Arrived {
    engine: Box<dyn Engine>,
    stored: Stored,
    housekeeping: Result<(), StoreError>,
}

impl Arrived {
    /// The disk is back.
    pub fn unload(self, disk: &mut Disk) -> (Stored, Result<(), StoreError>) {
        disk.0 = Some(self.engine);
        (self.stored, self.housekeeping)
    }
}

/// The thread that commits.
pub(crate) struct Aside {
    /// `None` only while it is being dropped.
    packages: Option<Sender<Package>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Aside {
    pub fn start(messages: Sender<Message>, delivery: &Delivery) -> std::io::Result<Self> {
        let (packages, handed_over) = std::sync::mpsc::channel::<Package>();
        let answers = delivery.answers();
        let work = move || {
            // If this thread dies, the writer must not wait for it.
            let farewell = Farewell(messages);
            for package in handed_over {
                let arrived = package.store(&answers);
                if farewell.0.send(Message::Arrived(Box::new(arrived))).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("commits".into()).spawn(work)?;
        Ok(Self { packages: Some(packages), thread: Some(thread) })
    }

    /// Sends a decided batch on its way, and the disk with it.
    pub(super) fn send(
        &self,
        disk: &mut Disk,
        changes: Changes,
        jobs: Vec<Job>,
        runs: Arc<RunWrites>,
    ) -> Result<(), StoreError> {
        let engine = disk.0.take().expect("no batch is on its way");
        let packages = self.packages.as_ref().expect("it is not being dropped");
        packages.send(Package { engine, changes, jobs, runs }).map_err(|_| StoreError::CommitLost)
    }
}

impl Package {
    fn store(mut self, answers: &Answers) -> Arrived {
        let stored = self.changes.store(&self.jobs, self.engine.as_mut(), &self.runs);
        let (stored, housekeeping) = match stored {
            Ok(rows) => {
                let batch = self.changes.batch.take();
                answers.deliver(self.jobs, self.changes.outcomes(rows));
                (Ok(batch), self.engine.after_commit())
            }
            Err(error) => (Err((error, self.jobs)), Ok(())),
        };
        Arrived { engine: self.engine, stored, housekeeping }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.packages = None;
        if let Some(thread) = self.thread.take() {
            // It cannot panic but for a bug, which its own message tells.
            let _ = thread.join();
        }
    }
}

struct Farewell(Sender<Message>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let _ = self.0.send(Message::Lost);
    }
}
