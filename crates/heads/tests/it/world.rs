//! A small world: books that grow by whole batches, a key of the deployment, and a clock that a story moves.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use bankroll_heads::{
    HEADS, HeadSigner, HeadsError, PublishedRound, SignedHead,
    publish::{self, HeadDraft},
    views,
};
use bankroll_ledger::{
    AccountId, Action, Amount, Asset, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope, Seq, Time,
    Unit,
    merkle::{self, Hash},
};
use bankroll_orders::{Address, ChainId, typed_data::WalletSignature};
use bankroll_store::{Audit, Clock, FaultKind, FaultPoint, Ledger, LedgerOptions, Location, Reader, Rows};
use bankroll_testkit::{checksums, postgres};
use k256::ecdsa::SigningKey;
use tempfile::TempDir;

pub const AUDIENCE: &str = "funds.example";
pub const CHAIN: ChainId = ChainId(31337);
pub const START: u64 = 1_794_787_200;

pub struct World {
    folder: TempDir,
    options: LedgerOptions,
    open: Option<(Ledger, Rows)>,
    clock: Arc<AtomicU64>,
    /// The fault of the next commit.
    pub fault: Arc<Mutex<Option<FaultKind>>>,
    pub key: SigningKey,
    /// The most batches that one step publishes.
    pub batches_max: u64,
    numbers: AtomicU64,
}

impl World {
    /// Books with an asset, the wallet `hot`, Alice and Bob: two batches.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        Self::at(folder, location)
    }

    /// The same in a folder: faults are injected into commits there.
    pub fn in_folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = folder.path().into();
        Self::at(folder, location)
    }

    fn at(folder: TempDir, location: Location) -> Self {
        let (clock, now) = Clock::manual(Time(START * 1_000_000));
        let fault = Arc::new(Mutex::new(None));
        let injected = Arc::clone(&fault);
        let options = LedgerOptions {
            clock,
            migrations: vec![HEADS],
            fault_point: FaultPoint::with(move || injected.lock().unwrap().take()),
            ..LedgerOptions::new(location)
        };
        let key = SigningKey::from_slice(&[0x42; 32]).unwrap();
        let (numbers, batches_max) = (AtomicU64::new(1), publish::BATCHES_MAX);
        let mut world = Self { folder, options, open: None, clock: now, fault, key, batches_max, numbers };
        world.restart();
        let coin =
            Asset { chain: "eip155:31337".parse().unwrap(), unit: Unit::Native, decimals: 2, symbol: "SIM".into() };
        world.ledger().list_asset(coin).unwrap();
        let names = ["@house/custody/1/hot", "arena/funds/1/alice", "arena/funds/1/bob"];
        let names = names.map(|name| name.parse().unwrap()).to_vec();
        world.ledger().open_accounts(&Principal::System, names).unwrap();
        world
    }

    /// The process ends, and another one opens the books.
    pub fn restart(&mut self) {
        self.close();
        let ledger = Ledger::open_or_create(self.options.clone()).unwrap();
        let rows = Rows::open(&ledger).unwrap();
        self.open = Some((ledger, rows));
    }

    pub fn close(&mut self) {
        if let Some((ledger, rows)) = self.open.take() {
            drop(rows);
            ledger.close();
        }
    }

    pub fn ledger(&self) -> &Ledger {
        &self.open.as_ref().unwrap().0
    }

    pub fn rows(&self) -> &Rows {
        &self.open.as_ref().unwrap().1
    }

    pub fn reader(&self) -> Reader {
        Reader::open(&self.options.location).unwrap()
    }

    pub fn location(&self) -> &Location {
        &self.options.location
    }

    /// The folder of the books; only with books in a folder.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub fn pass(&self, seconds: u64) {
        self.clock.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }

    pub fn now(&self) -> Time {
        Time(self.clock.load(Ordering::SeqCst))
    }

    pub fn address(&self) -> Address {
        Address::of(self.key.verifying_key())
    }

    fn with_signer<T>(&self, ask: impl FnOnce(&HeadSigner<'_>) -> T) -> T {
        let sign = |digest: &[u8; 32]| WalletSignature::by(&self.key, digest);
        let (address, batches_max) = (self.address(), self.batches_max);
        ask(&HeadSigner { audience: AUDIENCE, chain: CHAIN, address, batches_max, sign: &sign })
    }

    pub fn publish(&self) -> Result<Option<PublishedRound>, HeadsError> {
        self.publish_at(self.now())
    }

    pub fn publish_at(&self, now: Time) -> Result<Option<PublishedRound>, HeadsError> {
        self.with_signer(|signer| publish::step(signer, self.rows(), now))
    }

    pub fn draft(&self) -> Result<Option<HeadDraft>, HeadsError> {
        self.with_signer(|signer| publish::draft(signer, self.rows().reader(), self.now()))
    }

    /// Publishes what there is.
    pub fn published(&self) -> SignedHead {
        self.publish().unwrap().expect("there is something new").head
    }

    /// Alice gets money from outside: one batch.
    pub fn give(&self, amount: u128) -> Seq {
        let number = self.numbers.fetch_add(1, Ordering::SeqCst);
        let (from, to) = (AccountId(1), AccountId(2));
        let request = Request {
            key: IdempotencyKey {
                namespace: Namespace::Deposits,
                scope: Scope::House,
                text: format!("story-{number}"),
            },
            principal: Principal::Indexer,
            confirmation: None,
            action: Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(amount) }]),
            references: References::default(),
            facts: Vec::new(),
            events: Vec::new(),
        };
        self.ledger().apply(request).unwrap().seq.unwrap()
    }

    /// Grows the journal until it has this many batches.
    pub fn grow_to(&self, batches: u64) {
        while self.rows().reader().head().unwrap().batch < batches {
            self.give(1);
        }
    }

    /// The root over the heads of the first batches, from the heads alone.
    pub fn root_of(&self, batches: u64) -> Hash {
        let all = self.reader().batches(1, usize::try_from(batches).unwrap()).unwrap();
        merkle::root(&all.iter().map(|(_, head)| merkle::leaf(head)).collect::<Vec<_>>())
    }

    pub fn latest(&self) -> Option<SignedHead> {
        views::latest(&self.reader()).unwrap()
    }

    pub fn audit(&self) {
        Audit::new(self.reader()).run(|_| {}).unwrap();
        bankroll_heads::audit::run(&self.reader()).unwrap();
    }

    /// Runs SQL that no role may run: triggers are off.
    pub fn edit(&self, sql: &str) {
        checksums::edit(self.location(), sql);
    }
}
