//! A small world for the tests: one server, some players, money from a wallet.

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, Asset, IdempotencyKey, Leg, Name, Namespace, Principal,
    References, Request, Scope, Settler, Time, Unit,
};
use bankroll_store::{Answer, Audit, AuditReport, Clock, Ledger, LedgerOptions, Location, Reader};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tempfile::TempDir;

use bankroll_testkit::postgres;

pub struct World {
    pub folder: TempDir,
    pub ledger: Option<Ledger>,
    pub options: LedgerOptions,
    clock: Arc<AtomicU64>,
    next_key: AtomicU64,
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn game_server() -> Principal {
    Principal::GameServer(name("arena"))
}

pub fn hold(account: AccountId, amount: u128, expires: Option<u64>, settler: Settler) -> Leg {
    Leg::Hold { account, amount: Amount::new(amount), expires: expires.map(Time), settler }
}

pub fn moving(from: AccountId, to: AccountId, amount: u128) -> Leg {
    Leg::Move { from, to, amount: Amount::new(amount) }
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// On the engine that the suite is run for: SQLite, or the Postgres server that the environment names.
    pub fn with(set: impl FnOnce(&mut LedgerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        Self::at(folder, location, set)
    }

    /// In a folder, for tests about files.
    pub fn in_folder(set: impl FnOnce(&mut LedgerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = folder.path().into();
        Self::at(folder, location, set)
    }

    /// At a place of the caller's choice.
    pub fn at(folder: TempDir, location: Location, set: impl FnOnce(&mut LedgerOptions)) -> Self {
        let (clock, hand) = Clock::manual(Time(1_000_000));
        let mut options = LedgerOptions { clock, ..LedgerOptions::new(location) };
        set(&mut options);
        let ledger = Some(Ledger::create(options.clone()).unwrap());
        let world = Self { folder, ledger, options, clock: hand, next_key: AtomicU64::new(1) };
        let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
        world.ledger().list_asset(ether).unwrap();
        world
    }

    pub fn ledger(&self) -> &Ledger {
        self.ledger.as_ref().unwrap()
    }

    pub fn reader(&self) -> Reader {
        Reader::open(&self.options.location).unwrap()
    }

    pub fn reopen(&mut self) {
        self.ledger.take().unwrap().close();
        self.ledger = Some(Ledger::open(self.options.clone()).unwrap());
    }

    pub fn set_time(&self, micros: u64) {
        self.clock.store(micros, Ordering::SeqCst);
        self.ledger().tick().unwrap();
    }

    /// Runs a query on the database itself, the store's tables and the flows' alike: two columns, as text.
    pub fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        match &self.options.location {
            Location::Folder(folder) => {
                let database = rusqlite::Connection::open(folder.join("books.db")).unwrap();
                let mut rows = database.prepare(sql).unwrap();
                rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap()
            }
            Location::Postgres(url) => postgres::pairs(url, sql),
        }
    }

    /// Opens an account of the server or the house.
    pub fn account(&self, kind: AccountKind, owner: Option<&str>) -> AccountId {
        let house = matches!(
            kind,
            AccountKind::House | AccountKind::Suspense | AccountKind::InTransit | AccountKind::NetworkFees
        );
        let scope = if house { Scope::House } else { Scope::Server(name("arena")) };
        let name = AccountName { scope, kind, asset: bankroll_ledger::AssetId(1), owner: owner.map(name) };
        self.ledger().open_accounts(&Principal::System, vec![name]).unwrap()[0].unwrap()
    }

    /// A player with these funds, deposited from the server's wallet.
    pub fn player(&self, wallet: &str, funds: u128) -> AccountId {
        let (custody, account) =
            (self.account(AccountKind::Custody, Some("hot")), self.account(AccountKind::Funds, Some(wallet)));
        if funds > 0 {
            self.deposit(moving(custody, account, funds));
        }
        account
    }

    pub fn deposit(&self, leg: Leg) -> Answer {
        let key = self.fresh_key(Namespace::Deposits);
        let answer = self.ledger().apply(request(key, Principal::Indexer, vec![leg])).unwrap();
        answer.effects().unwrap();
        answer
    }

    pub fn fresh_key(&self, namespace: Namespace) -> IdempotencyKey {
        let number = self.next_key.fetch_add(1, Ordering::SeqCst);
        IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text: format!("story-{number}") }
    }

    pub fn play(&self, legs: Vec<Leg>) -> Answer {
        self.ledger().apply(request(self.fresh_key(Namespace::Client), game_server(), legs)).unwrap()
    }

    pub fn system(&self, legs: Vec<Leg>) -> Answer {
        self.ledger().apply(request(self.fresh_key(Namespace::System), Principal::System, legs)).unwrap()
    }

    /// Balance and held amount.
    pub fn balances(&self, id: AccountId) -> (u128, u128) {
        let account = self.reader().account(id).unwrap().unwrap();
        (account.balance.units(), account.held.units())
    }

    pub fn audit(&self) -> AuditReport {
        Audit::new(self.reader()).run(|_| {}).unwrap().0
    }
}

pub fn request(key: IdempotencyKey, principal: Principal, legs: Vec<Leg>) -> Request {
    Request {
        key,
        principal,
        confirmation: None,
        action: Action::Legs(legs),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    }
}
