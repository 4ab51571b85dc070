//! A small world: a chain with some people on it, one wallet of ours, books, the scanner and crediting.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard},
};

use bankroll_chains_evm::{Address, Block, BlockTag, ChainIdentity, FinalityMark, InProcessRpc, RpcNode};
use bankroll_chains_simulated::{
    Address as SimulatedAddress, B256, Bytes, Payment, SimulatedChain, SimulatedConfig, SimulatedKey, U256,
    contracts::{self, DECLINING, DOLLAR, TAXED},
};
use bankroll_deposits::{
    BlocksAhead, BookingOutcome, BuyIn, ChainEvent, CreditError, DEPOSITS, DepositRules, EventTail, Indexer, Payer,
    PlayerStanding, ScanConfig, ScanError, ScanOutcome, ServerRules, Servers, WatchList, WatchedAddress, audit,
    crediting::{self, CreditRules},
    event_log, scanner, view,
};
use bankroll_ledger::{
    AccountName, Action, Amount, Asset, AssetId, ColumnValue, IdempotencyKey as RequestKey, Leg, Name, Namespace,
    Principal, References, Request, Scope, Time, Unit,
};
use bankroll_store::{
    Answer, Audit, Clock, Ledger, LedgerOptions, Location, Migrations, Reader, Rows,
    columns::{int, one, text},
};
use bankroll_testkit::postgres;
use tempfile::TempDir;

/// People of the chain, by the numbers of their keys. The first ten have coins from the start.
pub const ALICE: u64 = 1;
pub const BOB: u64 = 2;
pub const TREASURY: u64 = 3;
pub const STRANGER: u64 = 4;
/// Our wallet.
pub const HOT: u64 = 100;
pub const SEED: u64 = 11;

/// A table as the registry has one: a server and the version of its configuration.
const STAND_IN: Migrations = Migrations {
    owner: "stand_in",
    steps: &["CREATE TABLE stand_in (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;"],
    postgres: &["CREATE TABLE stand_in (name text PRIMARY KEY, version bigint NOT NULL);"],
};

pub struct World {
    _folder: TempDir,
    options: LedgerOptions,
    open: Option<(Ledger, Rows)>,
    pub chain: Arc<Mutex<SimulatedChain>>,
    node: RpcNode,
    pub config: ScanConfig,
    pub servers: Servers,
    /// Wallets that players have signed in with since the indexer began.
    pub signed_in: BTreeMap<Address, Name>,
    /// Players who have excluded themselves.
    pub excluded: BTreeSet<Name>,
    nonces: BTreeMap<u64, u64>,
    now: u64,
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn address(person: u64) -> Address {
    Address(SimulatedKey::derived(SEED, person).address().into_array())
}

/// The key of a person.
pub fn key(person: u64) -> SimulatedKey {
    SimulatedKey::derived(SEED, person)
}

pub fn hot() -> Address {
    address(HOT)
}

impl World {
    /// Deposits are final after three blocks; a place costs 1,000 wei, and 125 on top.
    pub fn new() -> Self {
        Self::on_chain(SimulatedConfig::new(SEED))
    }

    /// The same on a chain with other rules.
    pub fn on_chain(config: SimulatedConfig) -> Self {
        let chain = SimulatedChain::new(config);
        let identity = ChainIdentity { chain_id: chain.config().chain_id, genesis: chain.block(0).unwrap().hash };
        let chain = Arc::new(Mutex::new(chain));
        let rpc = InProcessRpc::new(SimulatedChain::in_process(Arc::clone(&chain), 0));
        let mut world = Self::of(chain, RpcNode::in_process(rpc, identity));
        world.scan().unwrap();
        world
    }

    /// The same books on the chain of another node. The simulated chain is idle, and nothing is scanned yet.
    pub fn on_node(node: RpcNode) -> Self {
        Self::of(Arc::new(Mutex::new(SimulatedChain::new(SimulatedConfig::new(SEED)))), node)
    }

    fn of(chain: Arc<Mutex<SimulatedChain>>, node: RpcNode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        let (clock, _) = Clock::manual(Time(1_000_000));
        let options = LedgerOptions { clock, migrations: vec![DEPOSITS, STAND_IN], ..LedgerOptions::new(location) };
        let custody: AccountName = "@house/custody/1/hot".parse().unwrap();
        let proven = [(address(ALICE), name("alice")), (address(BOB), name("bob"))];
        let watched = WatchedAddress {
            server: name("arena"),
            custody,
            payer: Payer::Sender,
            by_asset: BTreeMap::new(),
            since: 0,
        };
        let buy_in = BuyIn { amount: Amount::new(1_000), developer_bps: 250, world_bps: 1_000 };
        let mut world = Self {
            _folder: folder,
            options,
            open: None,
            node,
            chain,
            config: ScanConfig {
                rules: DepositRules { chain: name("eip155:1337"), coin: AssetId(1), confirmations: 3, agreement: None },
                watch: WatchList {
                    addresses: BTreeMap::from([(hot(), watched)]),
                    tokens: BTreeMap::new(),
                    treasury: BTreeSet::from([address(TREASURY)]),
                    proven: BTreeMap::from(proven),
                    own: BTreeSet::new(),
                    paying: BTreeSet::from([hot()]),
                },
                start: 1,
                window: 16,
                blocks_per_step: 100,
                traces: false,
                finality: FinalityMark::Depth,
            },
            servers: BTreeMap::from([(
                name("arena"),
                ServerRules { asset: AssetId(1), buy_in, accepts: true, version: 1, is_current: None },
            )]),
            signed_in: BTreeMap::new(),
            excluded: BTreeSet::new(),
            nonces: BTreeMap::new(),
            now: 1_000_000,
        };
        world.restart();
        let coin = Asset { chain: name("eip155:1337"), unit: Unit::Native, decimals: 18, symbol: "SIM".into() };
        world.ledger().list_asset(coin).unwrap();
        world
    }

    /// The same with three listed tokens and with traces: a correct one (asset 2), one that keeps a tenth of each
    /// transfer (3), and one whose transfers do nothing (4).
    pub fn with_tokens() -> Self {
        let mut world = Self::new();
        for (number, contract) in (2..).zip([DOLLAR, TAXED, DECLINING]) {
            let contract = Address(contract.into_array());
            let unit = Unit::Token(name(&contract.lower_hex()));
            let token = Asset { chain: name("eip155:1337"), unit, decimals: 6, symbol: "TOKEN".into() };
            assert_eq!(world.ledger().list_asset(token).unwrap(), AssetId(number));
            world.config.watch.tokens.insert(contract, AssetId(number));
        }
        world.config.traces = true;
        world
    }

    /// Everything in memory is dropped, and the books are opened again.
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

    pub fn chain(&self) -> MutexGuard<'_, SimulatedChain> {
        self.chain.lock().unwrap()
    }

    /// A block as the node shows it.
    pub fn block(&self, number: u64) -> Block {
        self.node.block(BlockTag::Number(number)).unwrap().unwrap()
    }

    /// From here on a wallet is a player's.
    pub fn knows(&mut self, person: u64, player: &str) {
        self.config.watch.proven.insert(address(person), name(player));
    }

    /// Sends coins to our wallet. They are in the next block.
    pub fn pay(&mut self, person: u64, wei: u128) -> B256 {
        self.pay_to(person, hot(), U256::from(wei))
    }

    pub fn pay_to(&mut self, person: u64, to: Address, wei: U256) -> B256 {
        self.send(person, |nonce| Payment::new(1337, nonce, to.0.into(), wei))
    }

    /// Calls a contract.
    pub fn call(&mut self, person: u64, contract: SimulatedAddress, wei: u128, input: Bytes) -> B256 {
        self.send(person, |nonce| Payment::new(1337, nonce, contract, U256::from(wei)).calling(input))
    }

    /// Makes tokens at an address, in a transaction of the treasury's.
    pub fn mint(&mut self, token: SimulatedAddress, to: Address, amount: U256) -> B256 {
        self.call(TREASURY, token, 0, contracts::mint_call(to.0.into(), amount))
    }

    /// Sends tokens that the person has.
    pub fn send_tokens(&mut self, person: u64, token: SimulatedAddress, to: Address, amount: u64) -> B256 {
        self.call(person, token, 0, contracts::transfer_call(to.0.into(), U256::from(amount)))
    }

    fn send(&mut self, person: u64, payment: impl FnOnce(u64) -> Payment) -> B256 {
        let nonce = self.nonces.entry(person).or_default();
        let payment = payment(*nonce);
        *nonce += 1;
        let raw = SimulatedKey::derived(SEED, person).sign(&payment);
        self.chain.lock().unwrap().send(&raw).unwrap()
    }

    pub fn mine(&self, blocks: u64) {
        let mut chain = self.chain();
        for _ in 0..blocks {
            let time = chain.next_time();
            chain.mine(time);
        }
    }

    pub fn scan(&mut self) -> Result<ScanOutcome, ScanError> {
        self.now += 1;
        scanner::step(&self.config, Time(self.now), &self.node, self.rows())
    }

    /// The same in two halves.
    pub fn read_ahead(&self) -> BlocksAhead {
        scanner::read_ahead(&self.config, &self.node, Time(self.now), self.rows()).unwrap()
    }

    pub fn apply_blocks(&mut self, ahead: BlocksAhead) -> Result<ScanOutcome, ScanError> {
        self.now += 1;
        scanner::apply_blocks(&self.config, ahead, Time(self.now), &self.node, self.rows())
    }

    /// The role `indexer`.
    pub fn indexer(&self) -> Indexer {
        Indexer::new(self.config.clone())
    }

    pub fn index(&mut self, indexer: &mut Indexer) -> ScanOutcome {
        self.try_index(indexer).unwrap()
    }

    pub fn try_index(&mut self, indexer: &mut Indexer) -> Result<ScanOutcome, ScanError> {
        self.now += 1;
        let proven = self.signed_in.clone();
        let update = move |_: &Reader, watch: &mut WatchList| {
            watch.proven.extend(proven);
            Ok(())
        };
        indexer.step(Time(self.now), (&self.node).into(), self.rows(), update)
    }

    pub fn scan_all(&mut self) {
        while self.scan().unwrap() != ScanOutcome::UpToDate {}
    }

    pub fn book(&self) -> BookingOutcome {
        self.try_book().unwrap()
    }

    pub fn try_book(&self) -> Result<BookingOutcome, CreditError> {
        self.with_rules(|rules| crediting::step(rules, self.ledger(), self.rows(), 100))
    }

    pub fn is_on_postgres(&self) -> bool {
        matches!(self.ledger().location(), Location::Postgres(_))
    }

    /// The scanner's log.
    pub fn events(&self) -> Vec<ChainEvent> {
        event_log::of_chain(self.reader(), &name("eip155:1337"), 0, 1_000).unwrap()
    }

    /// Appends to an empty log what `edit` makes of these events, each with the hash of its content, and lets the cursor
    /// name the last one.
    pub fn append_events(&self, events: Vec<ChainEvent>, edit: impl Fn(&mut ChainEvent)) {
        let (mut tail, mut statements) = (EventTail::EMPTY, Vec::new());
        for mut event in events {
            edit(&mut event);
            let event = ChainEvent::after(tail, &event.chain, event.change, event.inclusion, event.head, event.at);
            tail = event.tail();
            let (names, values): (Vec<_>, Vec<_>) = event.row().into_iter().unzip();
            let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
            let sql = format!("INSERT INTO chain_events ({}) VALUES ({})", names.join(", "), places.join(", "));
            statements.push(one(&sql, values));
        }
        let cursor = "UPDATE chain_cursor SET events = $1, events_hash = $2";
        statements.push(one(cursor, vec![int(tail.number), text(&tail.hash.to_string())]));
        self.rows().write(statements).unwrap();
    }

    /// What the books know of servers, addresses and players.
    pub fn with_rules<T>(&self, run: impl FnOnce(&CreditRules<'_>) -> T) -> T {
        let mut watch = self.config.watch.clone();
        watch.proven.extend(self.signed_in.clone());
        let watch = BTreeMap::from([(name("eip155:1337"), watch)]);
        let standing = self.standing();
        run(&CreditRules { servers: &self.servers, watch: &watch, standing: &standing })
    }

    /// What the registry would say about players: Alice may have excluded herself.
    pub fn standing(&self) -> impl Fn(&Reader, &Name) -> Result<PlayerStanding, CreditError> + use<> {
        let excluded = self.excluded.clone();
        move |_, player| Ok(PlayerStanding { is_excluded: excluded.contains(player), is_current: None })
    }

    /// The chain goes on by so many blocks, and all that follows from it.
    pub fn settle(&mut self, blocks: u64) {
        self.mine(blocks);
        self.scan_all();
        while !self.book().is_idle() {}
    }

    /// The status that a player sees of a transaction's deposit.
    pub fn status(&self, transaction: B256) -> String {
        let found = view::of_transaction(self.reader(), &name("eip155:1337"), &format!("{transaction:#x}")).unwrap();
        found.iter().map(|deposit| deposit.status.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Balances of accounts, which need not be there.
    pub fn balances<const N: usize>(&self, names: [&str; N]) -> [u128; N] {
        names.map(|name| {
            let account = self.reader().account_named(&name.parse().unwrap()).unwrap();
            account.map_or(0, |account| account.balance.units())
        })
    }

    /// Two columns of rows, as text.
    pub fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        let shown = |value: &ColumnValue| match value {
            ColumnValue::Text(text) => text.clone(),
            ColumnValue::Int(number) => number.to_string(),
            ColumnValue::Amount(amount) => amount.to_string(),
            other => format!("{other:?}"),
        };
        let rows = self.rows().read(sql, vec![]).unwrap();
        rows.iter().map(|row| (shown(&row["a"]), shown(&row["b"]))).collect()
    }

    /// The game server moves a player's money into the world.
    pub fn spawn(&self, player: &str, amount: u128) -> Answer {
        let account = |text: String| {
            let name: AccountName = text.parse().unwrap();
            self.ledger().open_accounts(&Principal::System, vec![name]).unwrap()[0].unwrap()
        };
        let (from, to) = (account(format!("arena/funds/1/{player}")), account("arena/world/1".into()));
        let head = self.reader().head().unwrap().seq;
        let request = Request {
            key: RequestKey {
                namespace: Namespace::Client,
                scope: Scope::Server(name("arena")),
                text: format!("spawn-{player}-{head}"),
            },
            principal: Principal::GameServer(name("arena")),
            confirmation: None,
            action: Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(amount) }]),
            references: References::default(),
            facts: vec![],
            events: vec![],
        };
        self.ledger().apply(request).unwrap()
    }

    /// The books computed again; and what our wallet must hold is what rows say is booked.
    pub fn audit(&self) {
        let reader = Reader::open(self.ledger().location()).unwrap();
        audit::run(&reader).unwrap();
        Audit::new(reader).run(|_| {}).unwrap();
        let booked =
            "SELECT id AS a, amount AS b FROM deposits WHERE ledger_state IN ('credited', 'suspense') AND asset = 1";
        let booked: u128 = self.pairs(booked).iter().map(|(_, amount)| amount.parse::<u128>().unwrap()).sum();
        assert_eq!(self.balances(["@house/custody/1/hot"]), [booked]);
    }
}
