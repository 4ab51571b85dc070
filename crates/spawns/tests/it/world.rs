//! A small world: books with two players of one server, and a clock that a story moves.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bankroll_ledger::{
    AccountId, AccountName, Action, Amount, Asset, AssetId, ColumnValue, Fact, Guard, GuardFailure, IdempotencyKey,
    Leg, Name, Namespace, Principal, References, Rejection, Request, RowKey, Scope, Time, Unit,
};
use bankroll_spawns::{
    ConsumedDeposit, ReservedSpawn, SPAWNS, SpawnEnd, SpawnError, SpawnId, SpawnOrder, SpawnTerms, SpawnView, Spawns,
    exit_fact, views,
};
use bankroll_store::{Answer, Audit, Clock, Ledger, LedgerOptions, Reader, Rows};
use bankroll_testkit::postgres;
use tempfile::TempDir;

pub const SECOND: u64 = 1_000_000;
pub const ALICE: &str = "arena/funds/1/alice";
pub const WORLD: &str = "arena/world/1";

pub struct World {
    _folder: TempDir,
    options: LedgerOptions,
    open: Option<(Ledger, Rows)>,
    clock: Arc<AtomicU64>,
    pub terms: SpawnTerms,
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// A row that stands for a credited deposit.
fn deposit_row(deposit: &str) -> RowKey {
    let column = |name: &str, text: &str| (name.to_owned(), ColumnValue::Text(text.into()));
    let columns = vec![column("server", "the chain"), column("deposit", deposit)];
    RowKey { table: "deposit_consumptions".into(), columns }
}

/// What a rejected call was rejected for.
#[track_caller]
pub fn rejected<T: std::fmt::Debug>(result: Result<T, SpawnError>) -> Rejection {
    match result {
        Err(SpawnError::Rejected(rejection)) => rejection,
        other => panic!("{other:?}"),
    }
}

impl World {
    /// Alice has 250, Bob 100; a place costs 100, and 10 on top.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        let (clock, now) = Clock::manual(Time(1_000 * SECOND));
        let options = LedgerOptions { clock, migrations: vec![SPAWNS], ..LedgerOptions::new(location) };
        let terms = SpawnTerms {
            price: Amount::new(100),
            developer_fee: Amount::new(4),
            world_fee: Amount::new(6),
            mass_per_coin: 5,
            decimals: 2,
            accepts: true,
            allocates: true,
            version: 7,
        };
        let mut world = Self { _folder: folder, options, open: None, clock: now, terms };
        world.restart();
        let coin = Asset { chain: name("eip155:1337"), unit: Unit::Native, decimals: 2, symbol: "SIM".into() };
        world.ledger().list_asset(coin).unwrap();
        for account in [WORLD, "arena/developer/1", "arena/ecosystem/1", "arena/unallocated/1/alice"] {
            world.account(account);
        }
        world.give(ALICE, 250);
        world.give("arena/funds/1/bob", 100);
        world
    }

    /// The process dies, and another one opens the books.
    pub fn restart(&mut self) {
        if let Some((ledger, rows)) = self.open.take() {
            drop(rows);
            ledger.close();
        }
        let ledger = Ledger::open_or_create(self.options.clone()).unwrap();
        let rows = Rows::open(&ledger).unwrap();
        self.open = Some((ledger, rows));
    }

    pub fn ledger(&self) -> &Ledger {
        &self.open.as_ref().unwrap().0
    }

    pub fn rows(&self) -> &Rows {
        &self.open.as_ref().unwrap().1
    }

    pub fn reader(&self) -> &Reader {
        self.rows().reader()
    }

    pub fn now(&self) -> Time {
        Time(self.clock.load(Ordering::SeqCst))
    }

    /// Time passes; holds whose time has come end.
    pub fn pass(&self, micros: u64) {
        self.clock.fetch_add(micros, Ordering::SeqCst);
        self.ledger().tick().unwrap();
    }

    pub fn account(&self, text: &str) -> AccountId {
        self.ledger().open_accounts(&Principal::System, vec![text.parse().unwrap()]).unwrap()[0].unwrap()
    }

    pub fn give(&self, to: &str, amount: u128) {
        let (from, to) = (self.account("@house/custody/1/hot"), self.account(to));
        let head = self.reader().head().unwrap().seq;
        let key = IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: format!("gift-{head}") };
        let answer = self.apply(key, Principal::Indexer, Leg::Move { from, to, amount: Amount::new(amount) }, vec![]);
        answer.effects().unwrap();
    }

    pub fn apply(&self, key: IdempotencyKey, principal: Principal, leg: Leg, facts: Vec<Fact>) -> Answer {
        let (action, references) = (Action::Legs(vec![leg]), References::default());
        let request = Request { key, principal, confirmation: None, action, references, facts, events: vec![] };
        self.ledger().apply(request).unwrap()
    }

    pub fn client_key(text: &str) -> IdempotencyKey {
        IdempotencyKey { namespace: Namespace::Client, scope: Scope::Server(name("arena")), text: text.into() }
    }

    pub fn order(&self, key: &str, player: &str) -> SpawnOrder {
        SpawnOrder {
            server: name("arena"),
            request_key: key.into(),
            wallet: name(player),
            asset: AssetId(1),
            deposit: None,
        }
    }

    /// The same, paid with a deposit. These books have no deposits, so the condition that it is credited is on another
    /// row, which [`Self::credit`] makes.
    pub fn order_with(&self, key: &str, player: &str, deposit: &str) -> SpawnOrder {
        let is_credited = Fact {
            row: deposit_row(deposit),
            guard: Guard::Is(vec![("wallet".into(), ColumnValue::Text(player.into()))]),
            otherwise: GuardFailure::Conflict,
            set: vec![],
        };
        SpawnOrder { deposit: Some(ConsumedDeposit { id: deposit.into(), is_credited }), ..self.order(key, player) }
    }

    /// A deposit of a player is credited.
    pub fn credit(&self, player: &str, amount: u128, deposit: &str) {
        let (from, to) = (self.account("@house/custody/1/hot"), self.account(&format!("arena/funds/1/{player}")));
        let value = |text: &str| ColumnValue::Text(text.into());
        let set = [("wallet", value(player)), ("spawn", value("none")), ("status", value("consumed"))];
        let fact = Fact {
            row: deposit_row(deposit),
            guard: Guard::Absent,
            otherwise: GuardFailure::Conflict,
            set: set.into_iter().map(|(column, value)| (column.to_owned(), value)).collect(),
        };
        let key = IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: deposit.into() };
        let leg = Leg::Move { from, to, amount: Amount::new(amount) };
        self.apply(key, Principal::Indexer, leg, vec![fact]).effects().unwrap();
    }

    pub fn order_reserve(&self, order: &SpawnOrder) -> Result<ReservedSpawn, SpawnError> {
        Spawns::default().reserve(order, &self.terms, self.ledger(), self.reader(), self.now())
    }

    pub fn reserve(&self, key: &str, player: &str) -> Result<ReservedSpawn, SpawnError> {
        self.order_reserve(&self.order(key, player))
    }

    pub fn end(&self, end: SpawnEnd, id: &SpawnId, key: &str) -> Result<SpawnView, SpawnError> {
        Spawns::end(end, &name("arena"), id, key, self.ledger(), self.reader())
    }

    /// The player leaves the world with this amount.
    pub fn exit(&self, id: &SpawnId, player: &str, amount: u128, key: &str) -> Answer {
        let (from, to) = (self.account(WORLD), self.account(&format!("arena/funds/1/{player}")));
        let leg = Leg::Move { from, to, amount: Amount::new(amount) };
        let fact = exit_fact(id, &name("arena"), &name(player));
        self.apply(Self::client_key(key), Principal::GameServer(name("arena")), leg, vec![fact])
    }

    /// The status that a reader sees.
    pub fn status(&self, id: &SpawnId) -> &'static str {
        let found = views::spawn_of(self.reader(), &name("arena"), id, self.now()).unwrap();
        found.map_or("none", |spawn| spawn.status.as_str())
    }

    /// The ids of live spawns.
    pub fn live(&self) -> Vec<SpawnId> {
        let live = views::live_spawns(self.reader(), &name("arena"), None, 100).unwrap();
        live.into_iter().map(|spawn| spawn.id).collect()
    }

    /// Balance and held amount of an account.
    pub fn standing(&self, text: &str) -> (u128, u128) {
        let account = self.reader().account_named(&text.parse::<AccountName>().unwrap()).unwrap();
        account.map_or((0, 0), |account| (account.balance.units(), account.held.units()))
    }

    pub fn audit(&self) {
        Audit::new(Reader::open(self.ledger().location()).unwrap()).run(|_| {}).unwrap();
    }
}
