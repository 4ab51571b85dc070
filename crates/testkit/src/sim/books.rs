//! The process of the books, and all that can end it: the ledger, the rows of flows, the consumer of what payouts hand over.
//!
//! It guarantees that whatever is armed happens at a commit of the step that is being made, and at none besides: commits are
//! counted by the writer, one call at a time, so the same step fails at the same place whatever the machine does.

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
use bankroll_store::{BOOKS_FILE, Clock, Consumer, Interrupt, Ledger, Options, Rows, STATEMENTS_FILE, Trouble};
use bankroll_withdrawals::{WITHDRAWALS, settlement};
use tempfile::TempDir;

/// What is to come between the writer and its disk.
#[derive(Debug, Default)]
struct Armed {
    /// By the role in whose step it is to come: what, and after how many commits that go well.
    to_come: BTreeMap<&'static str, (Trouble, u32)>,
    /// The role whose step is being made.
    role: &'static str,
    happened: Option<Trouble>,
}

pub(super) struct Books {
    folder: TempDir,
    options: Options,
    hand: Arc<AtomicU64>,
    armed: Arc<Mutex<Armed>>,
    open: Option<Open>,
}

struct Open {
    ledger: Ledger,
    rows: Rows,
    consumer: Consumer,
}

impl Books {
    pub fn new(now: u64) -> Self {
        let folder = memory_folder();
        let (clock, hand) = Clock::manual(Time(now));
        let armed = Arc::new(Mutex::new(Armed::default()));
        let asked = Arc::clone(&armed);
        let options = Options {
            clock,
            migrations: vec![DEPOSITS, WITHDRAWALS],
            interrupt: Interrupt::with(move || lock(&asked).next()),
            // The thread of the statement index has nothing to do before the books are closed.
            index_records_max: u64::MAX,
            index_pause: Duration::from_secs(3_600),
            ..Options::new(folder.path().join("books"))
        };
        let mut books = Self { folder, options, hand, armed, open: None };
        books.restart();
        books
    }

    pub fn ledger(&self) -> &Ledger {
        &self.opened().ledger
    }

    pub fn rows(&self) -> &Rows {
        &self.opened().rows
    }

    pub fn consumer(&mut self) -> (&Ledger, &mut Consumer) {
        let open = self.open.as_mut().expect("the books are open");
        (&open.ledger, &mut open.consumer)
    }

    fn opened(&self) -> &Open {
        self.open.as_ref().expect("the books are open")
    }

    pub fn set_clock(&self, now: u64) {
        self.hand.store(now, Ordering::SeqCst);
    }

    /// Closes in good order, if that is still possible, and opens again.
    pub fn restart(&mut self) {
        self.close();
        let ledger = Ledger::open(self.options.clone()).expect("books that were written can be opened");
        let rows = Rows::beside(&ledger).expect("books that are open can be read");
        let consumer = settlement::consumer(ledger.location(), 100).expect("books that are open can be read");
        self.open = Some(Open { ledger, rows, consumer });
    }

    fn close(&mut self) {
        if let Some(Open { ledger, rows, consumer }) = self.open.take() {
            drop((rows, consumer));
            ledger.close();
        }
    }

    /// The files as they are now are all that is left: nothing is copied back, nothing is said farewell to.
    pub fn cut_power(&mut self) {
        let (folder, saved) = (self.folder.path().join("books"), self.folder.path().join("saved"));
        let log = format!("{BOOKS_FILE}-wal");
        let files = [BOOKS_FILE, log.as_str()];
        std::fs::create_dir_all(&saved).expect("a folder can be made");
        files.iter().for_each(|file| copy(&folder.join(file), &saved.join(file)));
        self.close();
        let derived = [format!("{BOOKS_FILE}-shm"), STATEMENTS_FILE.to_owned()];
        derived.iter().for_each(|file| drop(std::fs::remove_file(folder.join(file))));
        files.iter().for_each(|file| copy(&saved.join(file), &folder.join(file)));
        self.restart();
    }

    /// Starts the consumer of payouts' outcomes anew.
    pub fn restart_consumer(&mut self) {
        let location = self.ledger().location().clone();
        let consumer = settlement::consumer(&location, 100).expect("books that are open can be read");
        self.open.as_mut().expect("the books are open").consumer = consumer;
    }

    /// Lets this happen to a commit in a step of this role, after so many others.
    pub fn arm(&self, role: &'static str, trouble: Trouble, after: u32) {
        lock(&self.armed).to_come.insert(role, (trouble, after));
    }

    /// The step of this role begins.
    pub fn begin_step(&self, role: &'static str) {
        lock(&self.armed).role = role;
    }

    pub fn disarm(&self) {
        *lock(&self.armed) = Armed::default();
    }

    /// Whether the process has ended in this step: whatever it would do next it does not do.
    pub fn has_ended(&self) -> bool {
        matches!(lock(&self.armed).happened, Some(Trouble::EndsBefore | Trouble::EndsAfter))
    }

    /// What has happened since this was last asked.
    pub fn take_trouble(&self) -> Option<Trouble> {
        lock(&self.armed).happened.take()
    }
}

impl Armed {
    fn next(&mut self) -> Option<Trouble> {
        let (trouble, after) = self.to_come.get_mut(self.role)?;
        if let Some(fewer) = after.checked_sub(1) {
            *after = fewer;
            return None;
        }
        self.happened = Some(*trouble);
        self.to_come.remove(self.role);
        self.happened
    }
}

impl Drop for Books {
    fn drop(&mut self) {
        self.close();
    }
}

fn lock(armed: &Mutex<Armed>) -> std::sync::MutexGuard<'_, Armed> {
    armed.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy(from: &Path, to: &Path) {
    if from.exists() {
        std::fs::copy(from, to).expect("a file in memory can be copied");
    }
}

/// A folder in memory where the machine has one: durability is other suites' business, and syncs cost most of the time.
pub(super) fn memory_folder() -> TempDir {
    let named = |folder: &Path| tempfile::Builder::new().prefix("bankroll-sim-").tempdir_in(folder);
    named(Path::new("/dev/shm")).or_else(|_| named(&std::env::temp_dir())).expect("a folder for books")
}
