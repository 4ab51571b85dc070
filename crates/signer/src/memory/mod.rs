//! The memory: an append-only, hash-chained log of every promise and signature, in a SQLite file.
//!
//! It guarantees:
//! - an entry is synced to disk before a method returns (WAL, `synchronous = FULL`, both read back);
//! - after any failure but a full disk it must be reopened, because the content of the disk is unknown;
//! - opening verifies every entry, every column and every index, and syncs them all, or refuses;
//! - one process has it open: the file is locked, and the kernel releases the lock when the process ends.
//!
//! It does not know the rules; [`judge`](crate::judge()) decides. Time is an argument.

mod error;
mod log;
mod opening;
mod recall;
mod snapshot;
mod verify;

use std::{collections::BTreeSet, path::PathBuf};

use bankroll_money::Time;
use bankroll_orders::{Address, IntentId, MemoryHead, MemoryId, Order, StopReason};
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};

pub use error::{MemoryError, OpenError};
pub use log::MemoryEntry;
pub use snapshot::MemorySnapshot;

use crate::judge::{LimitUsage, TransactionFields};
use log::MemoryHash;
use opening::MemoryLock;

/// A signer's memory, opened for writing.
pub struct Memory {
    // Before the lock in drop order: the lock must not be released while the connection can still write.
    connection: Connection,
    _lock: MemoryLock,
    path: PathBuf,
    id: MemoryId,
    state: MemoryState,
    failed: bool,
    interrupt: Option<MemoryFaultPoint>,
}

/// Derived from all entries.
#[derive(Clone, Debug)]
struct MemoryState {
    count: u64,
    hash: MemoryHash,
    /// The time of the newest entry.
    latest: Time,
    wallets: BTreeSet<Address>,
    stopped: Option<StopReason>,
}

/// A stage at which a simulator can stop the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitStage {
    /// Nothing of the entry is on disk.
    BeforeCommit,
    /// The entry is on disk; the caller does not know it yet.
    AfterCommit,
}

/// Returns true to stop the process at this stage; the memory then behaves as after a crash.
pub type MemoryFaultPoint = Box<dyn FnMut(CommitStage, &MemoryEntry) -> bool + Send>;

impl Memory {
    /// Lets a simulator stop it at any stage.
    #[cfg(feature = "faults")]
    pub fn interrupt_with(&mut self, interrupt: MemoryFaultPoint) {
        self.interrupt = Some(interrupt);
    }

    /// The head without a seal.
    #[must_use]
    pub fn head(&self) -> MemoryHead {
        MemoryHead { memory: self.id, count: self.state.count, hash: self.state.hash, seal: [0; 32] }
    }

    #[must_use]
    pub fn wallets(&self) -> &BTreeSet<Address> {
        &self.state.wallets
    }

    pub(crate) fn of_other_keys(&self, wallet: Address) -> OpenError {
        OpenError::OtherKey { path: self.path.clone(), wallet, known: self.state.wallets.iter().copied().collect() }
    }

    /// Why it has stopped permanently, if it has.
    #[must_use]
    pub fn stopped(&self) -> Option<StopReason> {
        self.state.stopped
    }

    /// The time, but never before the newest entry: setting the clock back does not revive expired orders.
    #[must_use]
    pub fn time(&self, now: Time) -> Time {
        now.max(self.state.latest)
    }

    /// Starts the history of a key that has never signed anything.
    ///
    /// # Errors
    /// See [`MemoryError`].
    pub fn adopt(&mut self, wallet: Address, at: Time) -> Result<(), MemoryError> {
        if self.state.wallets.contains(&wallet) {
            return Ok(());
        }
        self.append(&MemoryEntry::Wallet(wallet), at).map(|_| ())
    }

    /// Stores that an order is about to be signed; returns the entry's number.
    ///
    /// # Errors
    /// See [`MemoryError`]. The order must not be signed then.
    pub fn promise(&mut self, order: &Order, counted: LimitUsage, at: Time) -> Result<u64, MemoryError> {
        self.append(&MemoryEntry::Promised { order: order.clone(), counted }, at)
    }

    /// Stores the transaction of a promise.
    ///
    /// # Errors
    /// See [`MemoryError`]. The transaction must not be handed out then.
    pub fn sign(&mut self, promise: u64, transaction: &TransactionFields, at: Time) -> Result<(), MemoryError> {
        self.append(&MemoryEntry::Signed { promise, transaction: transaction.clone() }, at).map(|_| ())
    }

    /// Stores that an intent is never signed.
    ///
    /// # Errors
    /// See [`MemoryError`].
    pub fn revoke(&mut self, intent: &IntentId, at: Time) -> Result<(), MemoryError> {
        self.append(&MemoryEntry::Revoked(intent.clone()), at).map(|_| ())
    }

    /// Stops permanently, even if that cannot be stored.
    ///
    /// # Errors
    /// See [`MemoryError`].
    pub fn stop(&mut self, why: StopReason, at: Time) -> Result<(), MemoryError> {
        self.state.stopped = Some(why);
        self.append(&MemoryEntry::Stopped(why), at).map(|_| ())
    }

    /// Checkpoints SQLite's log into the file and closes it.
    ///
    /// # Errors
    /// SQLite's. Everything written stays written.
    pub fn close(self) -> Result<(), MemoryError> {
        let checkpoint = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        checkpoint.map_err(|error| MemoryError::Failed(Some(error)))
    }

    /// Appends an entry and syncs it; returns its number.
    fn append(&mut self, entry: &MemoryEntry, at: Time) -> Result<u64, MemoryError> {
        if self.failed {
            return Err(MemoryError::Failed(None));
        }
        self.reach(CommitStage::BeforeCommit, entry)?;
        let next = self.state.after(entry, self.time(at));
        self.commit(entry, &next).map_err(|error| self.write_failure(error))?;
        self.state = next;
        self.reach(CommitStage::AfterCommit, entry)?;
        Ok(self.state.count)
    }

    fn commit(&mut self, entry: &MemoryEntry, next: &MemoryState) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        insert(&transaction, entry, next)?;
        transaction.commit()
    }

    /// After a full disk nothing was written and SQLite still works; after any other error, above all a failed sync,
    /// the content of the disk is unknown.
    fn write_failure(&mut self, error: rusqlite::Error) -> MemoryError {
        if error.sqlite_error_code() == Some(ErrorCode::DiskFull) && self.connection.is_autocommit() {
            return MemoryError::Full;
        }
        self.failed = true;
        MemoryError::Failed(Some(error))
    }

    fn reach(&mut self, stage: CommitStage, entry: &MemoryEntry) -> Result<(), MemoryError> {
        if self.interrupt.as_mut().is_some_and(|interrupt| interrupt(stage, entry)) {
            self.failed = true;
            return Err(MemoryError::Failed(None));
        }
        Ok(())
    }
}

fn insert(connection: &Connection, entry: &MemoryEntry, next: &MemoryState) -> rusqlite::Result<()> {
    let log::EntryColumns { order_id, intent, chain, wallet, nonce, token, paid, fees, promise } = entry.columns();
    let (seq, at, body) = (next.count.cast_signed(), next.latest.0.to_be_bytes(), entry.encode());
    let mut statement = connection.prepare_cached(
        "INSERT INTO log (seq, at, body, hash, order_id, intent, chain, wallet, nonce, token, paid, fees, promise)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let row = params![seq, at, body, next.hash, order_id, intent, chain, wallet, nonce, token, paid, fees, promise];
    statement.execute(row).map(|_| ())
}

impl MemoryState {
    fn new(memory: MemoryId) -> Self {
        Self { count: 0, hash: log::genesis(memory), latest: Time(0), wallets: BTreeSet::new(), stopped: None }
    }

    fn after(&self, entry: &MemoryEntry, at: Time) -> Self {
        let count = self.count.checked_add(1).expect("a log never reaches 2^64 entries");
        let mut next =
            Self { count, hash: log::follow(&self.hash, count, at, &entry.encode()), latest: at, ..self.clone() };
        match entry {
            MemoryEntry::Wallet(wallet) => {
                next.wallets.insert(*wallet);
            }
            MemoryEntry::Stopped(why) => next.stopped = Some(*why),
            MemoryEntry::Promised { .. } | MemoryEntry::Signed { .. } | MemoryEntry::Revoked(_) => {}
        }
        next
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memory({} at {})", self.path.display(), self.state.count)
    }
}
