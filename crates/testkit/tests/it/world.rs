//! A small ledger for tests: one server, some players, money from a wallet.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, Asset, AssetId, Fact, IdempotencyKey, Leg, Namespace,
    Principal, References, Request, Scope, Settler, Time, Unit,
};
use bankroll_store::{
    Answer, Audit, AuditReport, BOOKS_FILE, Clock, Ledger, LedgerOptions, Location, Reader, StoreError,
};
use bankroll_testkit::{model::TABLES, postgres, streams::name};
use rusqlite::Connection;
use tempfile::TempDir;

pub struct World {
    pub folder: TempDir,
    pub options: LedgerOptions,
    ledger: Option<Ledger>,
    clock: Arc<AtomicU64>,
    next_key: AtomicU64,
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// On the engine of the suite: SQLite, or the Postgres server that the environment names.
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

    /// On a server of the test's own.
    pub fn on(location: Location) -> Self {
        Self::on_with(location, |_| {})
    }

    pub fn on_with(location: Location, set: impl FnOnce(&mut LedgerOptions)) -> Self {
        Self::at(tempfile::tempdir().unwrap(), location, set)
    }

    fn at(folder: TempDir, location: Location, set: impl FnOnce(&mut LedgerOptions)) -> Self {
        let (clock, hand) = Clock::manual(Time(1_000_000));
        let mut options =
            LedgerOptions { clock, background_commit_min: 2, migrations: vec![TABLES], ..LedgerOptions::new(location) };
        set(&mut options);
        let ledger = Some(Ledger::create(options.clone()).unwrap());
        let world = Self { folder, options, ledger, clock: hand, next_key: AtomicU64::new(1) };
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

    pub fn close(&mut self) {
        self.ledger.take().unwrap().close();
    }

    pub fn try_open(&mut self) -> Result<(), StoreError> {
        self.ledger = Some(Ledger::open(self.options.clone())?);
        Ok(())
    }

    pub fn reopen(&mut self) {
        self.close();
        self.try_open().unwrap();
    }

    /// Edits the store's tables directly, bypassing their triggers.
    pub fn edit(&self, sql: &str) {
        match &self.options.location {
            Location::Folder(folder) => {
                Connection::open(folder.join(BOOKS_FILE)).unwrap().execute_batch(sql).unwrap();
            }
            Location::Postgres(url) => {
                let all = "SET search_path = books, public; SET session_replication_role = replica";
                postgres::run(url.reveal(), &format!("{all}; {}", sql.replace("x''", "''")));
            }
        }
    }

    /// The number that a query on the store's tables returns.
    pub fn count(&self, sql: &str) -> i64 {
        match &self.options.location {
            Location::Folder(folder) => {
                Connection::open(folder.join(BOOKS_FILE)).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
            }
            Location::Postgres(url) => {
                let session = postgres::Session::open(url.reveal());
                session.run("SET search_path = books, public");
                session.count(sql)
            }
        }
    }

    /// Changes one bit of a column of bytes.
    pub fn flip(&self, table: &str, column: &str, id: i64, place: usize, bit: u32) {
        let Location::Folder(folder) = &self.options.location else {
            let byte = format!("set_byte({column}, {place}, get_byte({column}, {place}) # {})", 1 << bit);
            return self.edit(&format!("UPDATE {table} SET {column} = {byte} WHERE id = {id}"));
        };
        let books = Connection::open(folder.join(BOOKS_FILE)).unwrap();
        let sql = format!("SELECT {column} FROM {table} WHERE id = ?1");
        let mut data: Vec<u8> = books.query_row(&sql, [id], |row| row.get(0)).unwrap();
        data[place] ^= 1 << bit;
        let update = format!("UPDATE {table} SET {column} = ?2 WHERE id = ?1");
        assert_eq!(books.execute(&update, rusqlite::params![id, data]), Ok(1));
    }

    pub fn set_time(&self, micros: u64) {
        self.clock.store(micros, Ordering::SeqCst);
        self.ledger().tick().unwrap();
    }

    /// Opens an account of the server, or of the house.
    pub fn account(&self, kind: AccountKind, owner: Option<&str>) -> AccountId {
        let house = matches!(
            kind,
            AccountKind::House | AccountKind::Suspense | AccountKind::InTransit | AccountKind::NetworkFees
        );
        let scope = if house { Scope::House } else { Scope::Server(name("arena")) };
        let name = AccountName { scope, kind, asset: AssetId(1), owner: owner.map(name) };
        self.ledger().open_accounts(&Principal::System, vec![name]).unwrap()[0].unwrap()
    }

    /// A player with so much in their funds.
    pub fn player(&self, wallet: &str, funds: u128) -> AccountId {
        let (custody, account) =
            (self.account(AccountKind::Custody, Some("hot")), self.account(AccountKind::Funds, Some(wallet)));
        if funds > 0 {
            self.submit(self.deposit(custody, account, funds)).effects().unwrap();
        }
        account
    }

    pub fn deposit(&self, custody: AccountId, account: AccountId, amount: u128) -> Request {
        self.request(Principal::Indexer, vec![moving(custody, account, amount)])
    }

    pub fn play(&self, legs: Vec<Leg>) -> Request {
        self.request(Principal::GameServer(name("arena")), legs)
    }

    pub fn request(&self, principal: Principal, legs: Vec<Leg>) -> Request {
        let namespace = match principal {
            Principal::Indexer => Namespace::Deposits,
            Principal::System => Namespace::System,
            _ => Namespace::Client,
        };
        let text = format!("story-{}", self.next_key.fetch_add(1, Ordering::SeqCst));
        let text = if let Principal::Admin(person) = &principal { format!("admin/{person}/{text}") } else { text };
        let key = IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text };
        let (references, facts, events) = (References::default(), Vec::<Fact>::new(), Vec::new());
        Request { key, principal, confirmation: None, action: Action::Legs(legs), references, facts, events }
    }

    pub fn submit(&self, request: Request) -> Answer {
        self.ledger().apply(request).unwrap()
    }

    pub fn submit_all(&self, requests: Vec<Request>) -> Vec<Answer> {
        self.ledger().submit(requests).unwrap().wait().unwrap()
    }

    /// Balance and held amount.
    pub fn balance_and_held(&self, id: AccountId) -> (u128, u128) {
        let account = self.reader().account(id).unwrap().unwrap();
        (account.balance.units(), account.held.units())
    }

    pub fn audit(&self) -> AuditReport {
        Audit::new(self.reader()).run(|_| {}).unwrap().0
    }
}

pub fn moving(from: AccountId, to: AccountId, amount: u128) -> Leg {
    Leg::Move { from, to, amount: Amount::new(amount) }
}

pub fn holding(account: AccountId, amount: u128, expires: Option<u64>) -> Leg {
    Leg::Hold { account, amount: Amount::new(amount), expires: expires.map(Time), settler: Settler::Holder }
}

/// `applied`, or the code of the rejection.
pub fn code_of(answer: &Answer) -> &'static str {
    answer.effects().map_or_else(|rejection| rejection.code(), |_| "applied")
}
