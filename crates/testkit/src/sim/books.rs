//! The process that keeps the books, and the faults that can end it: the ledger, the rows of flows, the consumer of
//! payout outcomes.
//!
//! It guarantees that an armed fault fires at a commit of the current step and at no other: the writer counts commits,
//! one call at a time, so the same step fails at the same commit on every machine.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bankroll_deposits::DEPOSITS;
use bankroll_ledger::Time;
use bankroll_store::{
    BOOKS_FILE, Clock, FaultKind, FaultPoint, HEAD_FILE, InboxConsumer, Ledger, LedgerOptions, Rows, STATEMENTS_FILE,
};
use bankroll_withdrawals::{WITHDRAWALS, settlement};
use tempfile::TempDir;

/// Faults that are armed between the writer and its disk.
#[derive(Debug, Default)]
struct ArmedFaults {
    /// By the role in whose step it fires: the fault, and the number of successful commits before it.
    pending: BTreeMap<&'static str, (FaultKind, u32)>,
    /// The role of the current step.
    role: &'static str,
    happened: Option<FaultKind>,
}

pub(super) struct SimBooks {
    folder: TempDir,
    options: LedgerOptions,
    clock_hand: Arc<AtomicU64>,
    armed: Arc<Mutex<ArmedFaults>>,
    open: Option<OpenBooks>,
}

struct OpenBooks {
    ledger: Ledger,
    rows: Rows,
    consumer: InboxConsumer,
}

impl OpenBooks {
    fn new(ledger: Ledger) -> Self {
        let rows = Rows::open(&ledger).expect("books that are open can be read");
        let consumer = settlement::consumer(ledger.location(), 100).expect("books that are open can be read");
        Self { ledger, rows, consumer }
    }
}

impl SimBooks {
    pub fn new(now: u64) -> Self {
        let folder = memory_folder();
        let (clock, clock_hand) = Clock::manual(Time(now));
        let armed = Arc::new(Mutex::new(ArmedFaults::default()));
        let faults = Arc::clone(&armed);
        let options = LedgerOptions {
            clock,
            migrations: vec![DEPOSITS, WITHDRAWALS],
            fault_point: FaultPoint::with(move || lock(&faults).next()),
            // The statement index is not updated before the books are closed.
            index_records_max: u64::MAX,
            index_pause: Duration::from_secs(3_600),
            ..LedgerOptions::new(folder.path().join("books"))
        };
        let ledger = Ledger::create(options.clone()).expect("books can be created in a new folder");
        Self { folder, options, clock_hand, armed, open: Some(OpenBooks::new(ledger)) }
    }

    pub fn ledger(&self) -> &Ledger {
        &self.opened().ledger
    }

    pub fn rows(&self) -> &Rows {
        &self.opened().rows
    }

    pub fn consumer(&mut self) -> (&Ledger, &mut InboxConsumer) {
        let open = self.open.as_mut().expect("the books are open");
        (&open.ledger, &mut open.consumer)
    }

    fn opened(&self) -> &OpenBooks {
        self.open.as_ref().expect("the books are open")
    }

    pub fn set_clock(&self, now: u64) {
        self.clock_hand.store(now, Ordering::SeqCst);
    }

    /// Closes cleanly, if that is still possible, and opens again. Books that are lost are an error, not empty books.
    pub fn restart(&mut self) {
        self.close();
        let ledger = Ledger::open(self.options.clone()).expect("books that were written can be opened");
        self.open = Some(OpenBooks::new(ledger));
    }

    fn close(&mut self) {
        if let Some(OpenBooks { ledger, rows, consumer }) = self.open.take() {
            drop((rows, consumer));
            ledger.close();
        }
    }

    /// Only the current files survive: no checkpoint, no clean shutdown.
    pub fn cut_power(&mut self) {
        let (folder, saved) = (self.folder.path().join("books"), self.folder.path().join("saved"));
        let log = format!("{BOOKS_FILE}-wal");
        let files = [BOOKS_FILE, log.as_str(), HEAD_FILE];
        std::fs::create_dir_all(&saved).expect("a folder can be made");
        files.iter().for_each(|file| copy(&folder.join(file), &saved.join(file)));
        self.close();
        let derived = [format!("{BOOKS_FILE}-shm"), STATEMENTS_FILE.to_owned()];
        derived.iter().for_each(|file| drop(std::fs::remove_file(folder.join(file))));
        files.iter().for_each(|file| copy(&saved.join(file), &folder.join(file)));
        self.restart();
    }

    /// Restarts the consumer of payout outcomes.
    pub fn restart_consumer(&mut self) {
        let location = self.ledger().location().clone();
        let consumer = settlement::consumer(&location, 100).expect("books that are open can be read");
        self.open.as_mut().expect("the books are open").consumer = consumer;
    }

    /// Arms a fault for a commit in a step of this role, after so many others.
    pub fn arm(&self, role: &'static str, trouble: FaultKind, after: u32) {
        lock(&self.armed).pending.insert(role, (trouble, after));
    }

    pub fn begin_step(&self, role: &'static str) {
        lock(&self.armed).role = role;
    }

    pub fn disarm(&self) {
        *lock(&self.armed) = ArmedFaults::default();
    }

    /// Whether the process has ended in this step, so that it does nothing more.
    pub fn has_ended(&self) -> bool {
        matches!(lock(&self.armed).happened, Some(FaultKind::EndsBefore | FaultKind::EndsAfter))
    }

    /// The fault that fired since the last call.
    pub fn take_trouble(&self) -> Option<FaultKind> {
        lock(&self.armed).happened.take()
    }
}

impl ArmedFaults {
    fn next(&mut self) -> Option<FaultKind> {
        let (trouble, after) = self.pending.get_mut(self.role)?;
        if let Some(fewer) = after.checked_sub(1) {
            *after = fewer;
            return None;
        }
        self.happened = Some(*trouble);
        self.pending.remove(self.role);
        self.happened
    }
}

impl Drop for SimBooks {
    fn drop(&mut self) {
        self.close();
    }
}

fn lock(armed: &Mutex<ArmedFaults>) -> std::sync::MutexGuard<'_, ArmedFaults> {
    armed.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy(from: &Path, to: &Path) {
    if from.exists() {
        std::fs::copy(from, to).expect("a file in memory can be copied");
    }
}

/// A folder in memory where the machine has one: other suites test durability, and syncs would take most of the time.
pub(super) fn memory_folder() -> TempDir {
    let named = |folder: &Path| tempfile::Builder::new().prefix("bankroll-sim-").tempdir_in(folder);
    named(Path::new("/dev/shm")).or_else(|_| named(&std::env::temp_dir())).expect("a folder for books")
}
