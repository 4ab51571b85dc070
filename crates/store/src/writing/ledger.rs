//! The ledger as the rest of the program uses it: a handle that can be cloned and shared.

use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::channel,
    },
    thread::JoinHandle,
    time::Duration,
};

use bankroll_ledger::{
    AccountId, AccountName, AccountPolicy, Asset, AssetId, Books, OpenRejection, Principal, Request, Time,
};
use tokio::sync::Semaphore;

use super::{
    commit_thread::{CommitThread, EngineSlot},
    control::WriterControl,
    delivery::Delivery,
    keys::{KeyIndex, RECENT_MAX},
    lock::FolderLock,
    memory::WriterMemory,
    newest_head::{self, HEAD_FILE, HeadFile},
    queue::{FACTS_WEIGHT, Job, Message, PreparedRequest, Queue},
    recovery,
    writer::{BATCH_MAX, Writer},
};
use crate::{
    Answer, Clock, Location, Migrations, PendingAnswer, RowsOutcome, Statement, StoreError, SubmitFailure,
    SubmitRefusal,
    engine::{
        Engine, Opening, Source, locate_damage,
        migrations::with_flows,
        postgres::{LeaseClaim, OnFinding, Postgres, StatementTables},
        sqlite::{OpenFiles, Sqlite, StatementsFile, open_read_only},
    },
    files,
    history::index::{IndexLocation, IndexSchedule, StatementIndexer},
};

/// The database in its folder.
pub const BOOKS_FILE: &str = "books.db";
/// The statement index in the same folder: derived, and rebuilt when it is lost.
pub const STATEMENTS_FILE: &str = "statements.db";
/// The file whose lock is the right to write to the folder; it names the holder.
pub const LOCK_FILE: &str = "books.lock";

/// Where the books are, and the limits of the writer.
#[derive(Clone, Debug)]
pub struct LedgerOptions {
    pub location: Location,
    /// How long another node must wait before it may take over from a silent one; Postgres only.
    pub lease: Duration,
    /// Where this process answers other nodes, published with the lease; empty if it does not. Postgres only.
    pub address: String,
    pub clock: Clock,
    /// How much a crash of the machine may lose.
    pub durability: Durability,
    /// Permits of the queue: about the number of requests that may wait or be processed at once. A request with facts
    /// takes seventeen.
    pub queue_max: usize,
    /// The most accounts kept in memory.
    pub accounts_in_memory_max: usize,
    /// Keys kept in memory before they are written out as a run.
    pub keys_in_memory_max: usize,
    /// The smallest batch that the commit thread commits while the next one is decided. For smaller batches the
    /// hand-over costs more time than it saves.
    pub background_commit_min: usize,
    /// How many records may wait before the indexer adds them to the statement index.
    pub index_records_max: u64,
    /// How long a record may wait for that.
    pub index_pause: Duration,
    /// Where the newest head is noted. By default [`HEAD_FILE`] in the folder of the books; for books in a database the
    /// caller names a file in the node's own folder, or there is none.
    pub head_file: Option<PathBuf>,
    /// The tables of flows.
    pub migrations: Vec<Migrations>,
    /// Faults that a simulator injects into commits.
    #[cfg(feature = "faults")]
    pub fault_point: crate::FaultPoint,
}

/// How much a crash of the machine may lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that was acknowledged: every commit is synced.
    #[default]
    Full,
    /// The newest commits, including acknowledged ones. For experiments with play money only.
    MayLoseRecentCommits,
}

impl LedgerOptions {
    /// The defaults, for a folder or a database.
    #[must_use]
    pub fn new(location: impl Into<Location>) -> Self {
        let location = location.into();
        let head_file = match &location {
            Location::Folder(folder) => Some(folder.join(HEAD_FILE)),
            Location::Postgres(_) => None,
        };
        Self {
            location,
            head_file,
            lease: Duration::from_secs(10),
            address: String::new(),
            clock: Clock::machine(),
            durability: Durability::Full,
            queue_max: 65_536,
            accounts_in_memory_max: 262_144,
            keys_in_memory_max: RECENT_MAX,
            background_commit_min: 128,
            index_records_max: 4_096,
            index_pause: Duration::from_secs(1),
            migrations: Vec::new(),
            #[cfg(feature = "faults")]
            fault_point: crate::FaultPoint::default(),
        }
    }
}

/// The books of one folder, open for writing.
#[derive(Clone, Debug)]
pub struct Ledger {
    queue: Queue,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    location: Location,
    queue_max: usize,
    writer: Mutex<Option<JoinHandle<()>>>,
    stopped_by: Arc<OnceLock<Arc<StoreError>>>,
    /// The same with the place of a damage, found when the reason is first asked for.
    located: OnceLock<Arc<StoreError>>,
    control: Arc<WriterControl>,
    files: OpenFiles,
    decided_ahead: Arc<AtomicU64>,
    jobs: std::sync::mpsc::Sender<Message>,
}

impl Ledger {
    /// Opens existing books: acquires the lock or lease, checks the settings, migrates, verifies the tail of the journal
    /// and starts the writer. Creates nothing: a mistyped folder must not become a second ledger.
    ///
    /// # Errors
    /// If there are none, another process has them, a setting is unsafe, or the stored data is not sound.
    pub fn open(options: LedgerOptions) -> Result<Self, StoreError> {
        Self::start(options, Opening::Existing)
    }

    /// Creates empty books, and opens them.
    ///
    /// # Errors
    /// If there are books already, or they cannot be created.
    pub fn create(options: LedgerOptions) -> Result<Self, StoreError> {
        Self::start(options, Opening::New)
    }

    /// Opens the books, and creates them if there are none. For books that can be lost: demos and experiments.
    ///
    /// # Errors
    /// As [`Ledger::open`] and [`Ledger::create`].
    pub fn open_or_create(options: LedgerOptions) -> Result<Self, StoreError> {
        Self::start(options, Opening::ExistingOrNew)
    }

    fn start(options: LedgerOptions, opening: Opening) -> Result<Self, StoreError> {
        let location = options.location.clone();
        Self::try_start(options, opening).map_err(|error| locate_damage(&location, error))
    }

    fn try_start(options: LedgerOptions, opening: Opening) -> Result<Self, StoreError> {
        refuse_lost_tail_of_file(&options)?;
        let (mut engine, lock) = open_engine(&options, opening, OnFinding::Refuse)?;
        let head = recovery::head(engine.source())?;
        refuse_lost_tail(&options, engine.source())?;
        recovery::verify_tail(engine.source(), &head)?;
        let keys = match KeyIndex::load(engine.as_mut(), head.seq, options.keys_in_memory_max) {
            Err(StoreError::KeyIndexDamaged { .. }) => {
                KeyIndex::rebuild(engine.as_mut(), head.seq, options.keys_in_memory_max)?
            }
            loaded => loaded?,
        };
        let head_file = note_heads(&options, engine.source())?;
        let (jobs, receiver) = channel();
        let (stopped_by, decided_ahead) = (Arc::default(), Arc::default());
        let control = Arc::<WriterControl>::default();
        let delivery = Delivery::start().map_err(StoreError::io(THREAD))?;
        let statements: Box<dyn IndexLocation> = match &options.location {
            Location::Folder(folder) => Box::new(StatementsFile(folder.join(STATEMENTS_FILE))),
            Location::Postgres(url) => Box::new(StatementTables(url.clone())),
        };
        let schedule = IndexSchedule { records: options.index_records_max, pause: options.index_pause };
        let indexer = StatementIndexer::start(
            engine.open_reader()?,
            statements,
            schedule,
            head.seq,
            control.rebuild_statements(),
        );
        let files = engine.open_files();
        let writer = Writer {
            indexer: indexer.map_err(StoreError::io(THREAD))?,
            clock: options.clock,
            messages: receiver,
            memory: WriterMemory {
                head,
                books: Books::default(),
                assets: engine.source().assets()?,
                last_account: engine.source().last_ids()?.1,
                keys,
                recent_max: options.keys_in_memory_max,
                next_expiry: engine.source().next_expiry()?,
            },
            accounts_max: options.accounts_in_memory_max,
            commit_thread: CommitThread::start(jobs.clone(), &delivery, head_file.clone())
                .map_err(StoreError::io(THREAD))?,
            head_file,
            delivery,
            waiting: VecDeque::new(),
            background_commit_min: options.background_commit_min,
            decided_ahead: Arc::clone(&decided_ahead),
            stopped_by: Arc::clone(&stopped_by),
            control: Arc::clone(&control),
            lookups: engine.open_reader()?,
            engine_slot: EngineSlot::new(engine),
        };
        let run = move || {
            writer.run();
            // Released only after the database is closed.
            drop(lock);
        };
        let thread = std::thread::Builder::new().name("books".into()).spawn(run);
        let thread = thread.map_err(StoreError::io(THREAD))?;
        let permits = Arc::new(Semaphore::new(options.queue_max));
        let shared = Shared {
            location: options.location,
            queue_max: options.queue_max,
            writer: Mutex::new(Some(thread)),
            stopped_by,
            located: OnceLock::new(),
            control,
            files,
            decided_ahead,
            jobs: jobs.clone(),
        };
        Ok(Self { queue: Queue { jobs, permits }, shared: Arc::new(shared) })
    }

    /// Where the books are.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.shared.location
    }

    pub(super) fn files(&self) -> &OpenFiles {
        &self.shared.files
    }

    pub(super) fn control(&self) -> &WriterControl {
        &self.shared.control
    }

    /// Hands requests to the writer, which decides each on its own, in order; the answers keep that order.
    ///
    /// # Errors
    /// If there are no free permits, the call is too large, or the writer has stopped. Nothing happened then.
    pub fn submit(&self, requests: Vec<Request>) -> Result<PendingAnswer<Vec<Answer>>, SubmitRefusal> {
        let given = self.check_count(&requests)?;
        // Permits first: refusing a caller that never stops must be cheap.
        let mut permits = self.queue.try_acquire(given)?;
        let (requests, weight) = self.prepared(requests)?;
        if weight > given {
            permits.merge(self.queue.try_acquire(weight - given)?);
        }
        self.queue.send(|reply| Job::Money { requests, reply, permits })
    }

    /// The same for flows, which cannot pass "busy" on to a caller: blocks this thread until permits are free, in
    /// FIFO order.
    ///
    /// # Errors
    /// If the call is too large, or the writer has stopped. Nothing happened then.
    pub fn submit_in_turn(&self, requests: Vec<Request>) -> Result<PendingAnswer<Vec<Answer>>, SubmitRefusal> {
        self.check_count(&requests)?;
        let (requests, weight) = self.prepared(requests)?;
        // All at once: two callers that each hold some and wait for more could deadlock.
        let permits = self.queue.acquire(weight)?;
        self.queue.send(|reply| Job::Money { requests, reply, permits })
    }

    fn check_count(&self, requests: &[Request]) -> Result<usize, SubmitRefusal> {
        let (given, most) = (requests.len(), BATCH_MAX.min(self.shared.queue_max));
        if (1..=most).contains(&given) { Ok(given) } else { Err(SubmitRefusal::CallSize { given, most }) }
    }

    /// The prepared requests, and the permits that they need.
    fn prepared(&self, requests: Vec<Request>) -> Result<(Vec<PreparedRequest>, usize), SubmitRefusal> {
        let requests: Vec<PreparedRequest> = requests.into_iter().map(PreparedRequest::new).collect();
        let weight = requests.iter().map(PreparedRequest::weight).sum();
        if weight > self.shared.queue_max {
            // It can never fit; "busy" would make the caller retry forever.
            let (given, most) = (requests.len(), self.shared.queue_max / FACTS_WEIGHT);
            return Err(SubmitRefusal::CallSize { given, most });
        }
        Ok((requests, weight))
    }

    /// Hands one request to the writer and waits for its answer.
    ///
    /// # Errors
    /// If the call was not accepted, or has no answer.
    pub fn apply(&self, request: Request) -> Result<Answer, SubmitError> {
        let mut answers = self.submit(vec![request])?.wait()?;
        answers.pop().ok_or(SubmitError::Failed(SubmitFailure::Unknown))
    }

    /// Opens accounts with the policy of their kind; one that exists keeps the policy it has.
    ///
    /// # Errors
    /// If the call was not accepted, or has no answer.
    pub fn open_accounts(
        &self,
        by: &Principal,
        names: Vec<AccountName>,
    ) -> Result<Vec<Result<AccountId, OpenRejection>>, SubmitError> {
        let names =
            names.into_iter().map(|name| (AccountPolicy::of(name.kind), name)).map(|(policy, name)| (name, policy));
        self.open_accounts_with(by, names.collect())
    }

    /// Opens accounts, each with its own policy.
    ///
    /// # Errors
    /// If the call was not accepted, or has no answer.
    pub fn open_accounts_with(
        &self,
        by: &Principal,
        names: Vec<(AccountName, AccountPolicy)>,
    ) -> Result<Vec<Result<AccountId, OpenRejection>>, SubmitError> {
        let given = names.len();
        if !(1..=BATCH_MAX).contains(&given) {
            return Err(SubmitRefusal::CallSize { given, most: BATCH_MAX }.into());
        }
        // The caller waits for the answer anyway.
        let permits = self.queue.acquire(given.min(self.shared.queue_max))?;
        Ok(self.queue.send(|reply| Job::Open { by: by.clone(), names, reply, permits })?.wait()?)
    }

    /// Lists an asset; a listed asset keeps its number.
    ///
    /// # Errors
    /// If the call was not accepted, or has no answer.
    pub fn list_asset(&self, asset: Asset) -> Result<AssetId, SubmitError> {
        Ok(self.queue.send(|reply| Job::List { asset, reply })?.wait()?)
    }

    /// Writes rows of a flow, all or none, with the next commit.
    ///
    /// # Errors
    /// If there are no free permits, or the writer has stopped.
    pub fn write_rows(&self, statements: Vec<Statement>) -> Result<PendingAnswer<RowsOutcome>, SubmitRefusal> {
        let permits = self.queue.try_acquire(self.permits_of(&statements))?;
        self.queue.send(|reply| Job::Rows { statements, reply, permits })
    }

    /// The same for flows: blocks this thread until permits are free, in FIFO order.
    ///
    /// # Errors
    /// If the writer has stopped.
    pub fn write_rows_in_turn(&self, statements: Vec<Statement>) -> Result<PendingAnswer<RowsOutcome>, SubmitRefusal> {
        let permits = self.queue.acquire(self.permits_of(&statements))?;
        self.queue.send(|reply| Job::Rows { statements, reply, permits })
    }

    /// A set of statements cannot be split: one that is larger than the queue takes all permits.
    fn permits_of(&self, statements: &[Statement]) -> usize {
        statements.len().clamp(1, self.shared.queue_max)
    }

    /// Makes the writer read the clock; returns when the holds that are due have expired.
    ///
    /// # Errors
    /// If the call was not accepted, or has no answer.
    pub fn tick(&self) -> Result<(), SubmitError> {
        Ok(self.queue.send(|reply| Job::Tick { reply })?.wait()?)
    }

    /// Why the writer stopped, if an error stopped it.
    #[must_use]
    pub fn stopped_by(&self) -> Option<Arc<StoreError>> {
        let shared = &self.shared;
        let stopped_by = shared.stopped_by.get()?;
        let damage = match stopped_by.as_ref() {
            StoreError::Damaged { what } => StoreError::Damaged { what: what.clone() },
            StoreError::PagesDamaged { place, what, remedy } => {
                StoreError::PagesDamaged { place: place.clone(), what: what.clone(), remedy: remedy.clone() }
            }
            _ => return Some(Arc::clone(stopped_by)),
        };
        Some(Arc::clone(shared.located.get_or_init(|| Arc::new(locate_damage(&shared.location, damage)))))
    }

    /// How many calls were decided while the previous batch was in flight, since the books were opened.
    #[must_use]
    pub fn decided_ahead(&self) -> u64 {
        self.shared.decided_ahead.load(Ordering::Relaxed)
    }

    /// Lets the writer finish its work and waits until the lock is released.
    pub fn close(self) {
        self.shared.close();
    }
}

impl Shared {
    fn close(&self) {
        let thread = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Fails only if the writer has stopped already.
            let _ = self.jobs.send(Message::Call(Job::Stop));
            let _ = thread.join();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

/// Opens the database and acquires the right to write to it.
pub(super) fn open_engine(
    options: &LedgerOptions,
    opening: Opening,
    on_finding: OnFinding,
) -> Result<(Box<dyn Engine>, Option<FolderLock>), StoreError> {
    if opening == Opening::New {
        refuse_where_books_were(options)?;
    }
    let sets = with_flows(&options.migrations);
    let now = options.clock.now();
    match &options.location {
        Location::Folder(folder) => {
            let path = folder.join(BOOKS_FILE);
            // Checked before anything is created, the lock included.
            if !is_there(folder, opening)? {
                files::create_folder(folder).map_err(StoreError::io(folder))?;
            }
            let lock = FolderLock::acquire(&folder.join(LOCK_FILE))?;
            if !is_there(folder, opening)? {
                refuse_where_books_were(options)?;
                Sqlite::create(&path, &sets, now)?;
            }
            let mut engine = Sqlite::open(&path, options.durability, &sets, now)?;
            engine.restore_derived()?;
            #[cfg(feature = "faults")]
            {
                engine.fault_point = options.fault_point.clone();
            }
            Ok((Box::new(engine), Some(lock)))
        }
        Location::Postgres(url) => {
            let (holder, address) = (holder_name(now), options.address.clone());
            let claim = LeaseClaim { holder, address, lease: options.lease, moves: false, on_finding };
            let mut engine = Postgres::open(url, claim, opening, &sets, now)?;
            engine.restore_derived()?;
            Ok((Box::new(engine), None))
        }
    }
}

/// Records that vanished with the journal's end are noticed before anything is decided without them.
pub(super) fn refuse_lost_tail(options: &LedgerOptions, source: &dyn Source) -> Result<(), StoreError> {
    if options.durability == Durability::MayLoseRecentCommits {
        return Ok(());
    }
    let noted = newest_head::noted_heads(&options.location, options.head_file.as_deref())?;
    newest_head::refuse_certainly_lost(source, &noted)
}

/// The same before a writer opens the file: opening copies the log back and empties it, and a damaged log may still have
/// pages that a person can save.
fn refuse_lost_tail_of_file(options: &LedgerOptions) -> Result<(), StoreError> {
    let (Location::Folder(folder), Some(head_file)) = (&options.location, &options.head_file) else { return Ok(()) };
    let path = folder.join(BOOKS_FILE);
    if !path.exists() || newest_head::read_file(head_file)?.is_none() {
        return Ok(());
    }
    // What cannot be opened here is refused by the opening itself.
    open_read_only(&path).map_or(Ok(()), |source| refuse_lost_tail(options, &source))
}

/// Begins to note heads. Where recent commits may be lost, a note could be ahead of what is durable, so there is none.
fn note_heads(options: &LedgerOptions, source: &dyn Source) -> Result<Option<Arc<HeadFile>>, StoreError> {
    let Some(path) = options.head_file.as_deref() else { return Ok(None) };
    match options.durability {
        Durability::Full => Ok(Some(Arc::new(HeadFile::start(path, source)?))),
        Durability::MayLoseRecentCommits => match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io(path)(error)),
            _ => Ok(None),
        },
    }
}

/// A note of a head means that there were books: if they are gone, new ones must not take their place in silence.
fn refuse_where_books_were(options: &LedgerOptions) -> Result<(), StoreError> {
    let Some(path) = options.head_file.as_deref() else { return Ok(()) };
    match newest_head::read_file(path)? {
        None => Ok(()),
        Some(_) => Err(StoreError::BooksWereHere { path: path.into() }),
    }
}

/// Whether the folder has books; an error unless that is what the caller expects.
pub(super) fn is_there(folder: &Path, opening: Opening) -> Result<bool, StoreError> {
    let path = folder.join(BOOKS_FILE);
    match (path.metadata(), opening) {
        (Ok(_), Opening::New) => Err(StoreError::LedgerExists { path }),
        // Books are created whole, so this is not a ledger that was begun.
        (Ok(file), _) if file.len() == 0 => Err(StoreError::NoBooksInFile { path }),
        (Ok(_), _) => Ok(true),
        (Err(error), Opening::Existing) if error.kind() == ErrorKind::NotFound => {
            Err(StoreError::NoLedger { path: folder.into() })
        }
        (Err(error), _) if error.kind() == ErrorKind::NotFound => Ok(false),
        (Err(error), _) => Err(StoreError::io(path)(error)),
    }
}

/// A name that no other writer has or ever had. Processes on two machines may share a process id, and clocks may be
/// wrong, so the name ends with random bits.
pub(super) fn holder_name(now: Time) -> String {
    let chance = RandomState::new().hash_one(now.0);
    format!("process {}-{}-{chance:016x}", std::process::id(), now.0)
}

/// Stands for the path in the error if a thread cannot be started.
const THREAD: &str = "a thread for the writer";

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// Not accepted; nothing happened.
    #[error(transparent)]
    Refused(#[from] SubmitRefusal),
    /// Accepted, and failed.
    #[error(transparent)]
    Failed(#[from] SubmitFailure),
}
