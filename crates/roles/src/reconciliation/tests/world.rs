//! A chain, our wallet on it, real books, the scanner and crediting; payouts are rows, as their role writes them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use bankroll_alerts::{AlertWatch, round as alert_round};
use bankroll_chains_evm::U256;
use bankroll_chains_simulated::{Payment, SimulatedChain, SimulatedKey};
use bankroll_deposits::{
    ChainSource, Indexer, PlayerStanding, ScanOutcome,
    crediting::{self, CreditRules},
};
use bankroll_ledger::{
    AccountName, Action, Amount, IdempotencyKey, Leg, Name, Namespace, Principal, References, Request, Scope, Time,
};
use bankroll_orders::Address;
use bankroll_store::{
    Ledger, LedgerOptions, Rows,
    columns::{any, int, one, text},
};

use super::super::{BalanceDifference, KnownBalance, halt_of, known, terms::BalanceTerms, watch::round};
use crate::{
    NodeLog, alerts,
    flows::{FlowSetup, migrations, one_chain, prepare_books},
    registry::{BooksView, ChainView},
};

pub const CHAIN: &str = "eip155:100";
pub const COIN: u128 = 1_000_000_000_000_000_000;

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn key(person: u64) -> SimulatedKey {
    SimulatedKey::derived(1, person)
}

pub fn address(person: u64) -> Address {
    Address(key(person).address().into_array())
}

/// The treasury, a stranger, and our wallet, by the numbers of their keys.
pub const TREASURY: u64 = 0;
pub const STRANGER: u64 = 1;
pub const HOT: u64 = 2;

pub struct World {
    options: LedgerOptions,
    open: Option<(Ledger, Rows)>,
    chain: Arc<Mutex<SimulatedChain>>,
    pub setup: FlowSetup,
    indexer: Option<(Indexer, ChainView)>,
    nonces: BTreeMap<u64, u64>,
    payouts: u64,
    now: u64,
    alerts: AlertWatch,
    _folder: tempfile::TempDir,
}

impl World {
    /// The wallet has one coin from the treasury, booked.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = LedgerOptions { migrations: migrations(), ..LedgerOptions::new(folder.path()) };
        let (chain, mut setup) = one_chain();
        setup.wallet = address(HOT);
        setup.treasury = [address(TREASURY)].into();
        setup.profile.is_development = false;
        let mut world = Self {
            options,
            open: None,
            chain,
            setup,
            indexer: None,
            nonces: BTreeMap::new(),
            payouts: 0,
            now: 1_000_000,
            alerts: AlertWatch::default(),
            _folder: folder,
        };
        world.restart();
        let (log, _lines) = world.log();
        prepare_books(std::slice::from_ref(&world.setup), world.ledger(), &log).unwrap();
        let house: AccountName = "@house/house/1".parse().unwrap();
        world.ledger().open_accounts(&Principal::System, vec![house]).unwrap();
        world.index();
        world.pay(TREASURY, address(HOT), COIN);
        world.pay(TREASURY, address(STRANGER), COIN);
        world.settle(3);
        world
    }

    pub fn log(&self) -> (NodeLog, std::sync::mpsc::Receiver<serde_json::Value>) {
        let (to, lines) = std::sync::mpsc::channel();
        (NodeLog::lines(name("node-1").as_str().parse().unwrap(), to), lines)
    }

    /// Everything in memory is dropped, and the books are opened again.
    pub fn restart(&mut self) {
        self.indexer = None;
        if let Some((ledger, rows)) = self.open.take() {
            drop(rows);
            ledger.close();
        }
        let options = self.options.clone();
        let ledger = Ledger::open_or_create(options).unwrap();
        let rows = Rows::open(&ledger).unwrap();
        self.open = Some((ledger, rows));
    }

    pub fn ledger(&self) -> &Ledger {
        &self.open.as_ref().unwrap().0
    }

    pub fn rows(&self) -> &Rows {
        &self.open.as_ref().unwrap().1
    }

    pub fn chain(&self) -> MutexGuard<'_, SimulatedChain> {
        self.chain.lock().unwrap()
    }

    pub fn pay(&mut self, from: u64, to: Address, wei: u128) -> (u64, String) {
        let nonce = self.chain().nonce(key(from).address());
        let nonce = nonce.max(self.nonces.get(&from).copied().unwrap_or_default());
        self.nonces.insert(from, nonce + 1);
        let payment = Payment::new(100, nonce, to.0.into(), U256::from(wei));
        let hash = self.chain().send(&key(from).sign(&payment)).unwrap();
        (nonce, format!("{hash:#x}"))
    }

    pub fn mine(&self, blocks: u64) {
        let mut chain = self.chain();
        for _ in 0..blocks {
            let time = chain.next_time();
            chain.mine(time);
        }
    }

    pub fn index(&mut self) {
        let providers = self.setup.providers().unwrap();
        let coin = self.setup.asset(self.rows().reader()).unwrap();
        let (mut indexer, mut view) = self.indexer.take().unwrap_or_else(|| {
            (Indexer::new(self.setup.scan_config(coin, 1)), ChainView::new(self.setup.chain(), coin))
        });
        loop {
            self.now += 1_000;
            let source = ChainSource { node: &providers.best(0).node, providers: Some(&providers) };
            let done = indexer.step(Time(self.now), source, self.rows(), |reader, watch| {
                view.update_watch_list(reader, watch).unwrap();
                Ok(())
            });
            if done.unwrap() == ScanOutcome::UpToDate {
                break;
            }
        }
        self.indexer = Some((indexer, view));
    }

    pub fn book(&self) {
        let mut view = BooksView::default();
        view.update(self.rows().reader()).unwrap();
        let standing = |_: &_, _: &_| Ok(PlayerStanding::default());
        let rules = CreditRules { servers: &view.servers, watch: &view.watch, standing: &standing };
        while !crediting::step(&rules, self.ledger(), self.rows(), 100).unwrap().is_idle() {}
    }

    pub fn settle(&mut self, blocks: u64) {
        self.mine(blocks);
        self.index();
        self.book();
    }

    /// A payout that is signed and sent, as the rows of its role say.
    pub fn pay_out(&mut self, wei: u128) -> String {
        let (nonce, hash) = self.pay(HOT, address(STRANGER), wei);
        self.payouts += 1;
        let id = format!("i{}", self.payouts);
        let amount = || bankroll_ledger::ColumnValue::Amount(Amount::new(wei));
        let zero = || bankroll_ledger::ColumnValue::Amount(Amount::ZERO);
        let to = || text(&address(STRANGER).to_string());
        self.rows()
            .write(vec![
                one(
                    "INSERT INTO withdrawal_requests (id, server, asker, request_id, wallet, account, chain, asset,
                       to_address, amount, gas_payer, fee_cap, status)
                     VALUES ($1, 'arena', 'a', $1, 'w', 'acc', $2, 1, $3, $4, 'house', $5, 'approved')",
                    vec![text(&id), text(CHAIN), to(), amount(), zero()],
                ),
                one(
                    "INSERT INTO withdrawal_queue (id, withdrawal_request_id, chain, operation_wallet_address_id,
                       to_address, amount, gas_payer, fee_cap, status, priority, nonce, cancel_asked, retry_count,
                       scheduled_at, created_at, updated_at, version)
                     VALUES ($1, $2, $3, $4, $5, $6, 'house', $7, 'broadcast', 1, $8, 0, 0, 1, 1, 1, 1)",
                    vec![
                        text(&format!("job-{id}")),
                        text(&id),
                        text(CHAIN),
                        text(&address(HOT).to_string()),
                        to(),
                        amount(),
                        zero(),
                        int(nonce),
                    ],
                ),
                one(
                    "INSERT INTO payout_attempts (job, number, order_id, meaning, manner, gas_limit, max_fee,
                       priority_fee, tx_hash, created_at) VALUES ($1, 1, $1, 'payout', 'dynamic', 1, $2, $2, $3, 1)",
                    vec![text(&format!("job-{id}")), zero(), text(&hash)],
                ),
            ])
            .unwrap();
        id
    }

    /// Settles a payout if it is deep enough on the chain, as the payouts role sees it: the indexer may not.
    pub fn settle_payout(&self, id: &str, wei: u128) {
        let hash = {
            let sql = "SELECT tx_hash FROM payout_attempts WHERE job = $1";
            let rows = self.rows().read(sql, vec![text(&format!("job-{id}"))]).unwrap();
            bankroll_store::columns::text_of(&rows[0], "tx_hash").unwrap().to_owned()
        };
        let (block, fee) = {
            let chain = self.chain();
            let found = chain.find(hash.parse().unwrap());
            // No reorganisation here is deeper than two blocks.
            let Some((block, index)) = found.filter(|(block, _)| block.number() + 2 <= chain.head().number()) else {
                return;
            };
            let included = &block.transactions[index];
            (block.number(), u128::from(included.gas_used) * included.gas_price)
        };
        let account = |text: &str| {
            let found = self.rows().reader().account_named(&text.parse().unwrap()).unwrap();
            found.unwrap_or_else(|| panic!("{text}")).id
        };
        let (from, to) = (account("@house/house/1"), account("@house/custody/1/hot"));
        let request = Request {
            key: IdempotencyKey { namespace: Namespace::Payouts, scope: Scope::House, text: format!("settle/{id}") },
            principal: Principal::System,
            confirmation: None,
            action: Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(wei + fee) }]),
            references: References::default(),
            facts: vec![],
            events: vec![],
        };
        self.ledger().apply(request).unwrap().effects().unwrap();
        let fee = bankroll_ledger::ColumnValue::Amount(Amount::new(fee));
        self.rows()
            .write(vec![
                any(
                    "UPDATE withdrawal_requests SET status = 'completed', final_tx_hash = $1, fee = $2 WHERE id = $3",
                    vec![text(&hash), fee, text(id)],
                ),
                any(
                    "UPDATE withdrawal_queue SET status = 'final', block_number = $1 WHERE withdrawal_request_id = $2",
                    vec![int(block), text(id)],
                ),
            ])
            .unwrap();
    }

    pub fn compare(&mut self) -> KnownBalance {
        self.now += 1_000;
        let providers = self.setup.providers().unwrap();
        let (done, trouble) = round(self.rows(), &providers, self.setup.chain(), Time(self.now)).unwrap();
        assert!(done.is_some() && trouble.is_none(), "{trouble:?}");
        known(self.rows().reader(), &name(CHAIN)).unwrap().pop().unwrap()
    }

    pub fn agrees(&mut self, terms: BalanceTerms) {
        let known = self.compare();
        let in_books = known.terms.in_books;
        assert_eq!(known.terms, BalanceTerms { in_books, ..terms });
        assert_eq!((known.difference, known.rounds), (BalanceDifference::None, 0), "{known:?}");
    }

    /// The kinds and subjects of open alerts, after a round of them.
    pub fn alerts(&mut self) -> Vec<(String, String, String)> {
        self.now += 1_000;
        let mut watch = std::mem::take(&mut self.alerts);
        let reader = self.rows().reader();
        let mut observed = alerts::wallet_conditions(reader, Time(self.now)).unwrap();
        observed.sort_by_key(|observation| observation.kind);
        alert_round(self.ledger(), reader, &mut watch, &observed, Time(self.now)).unwrap();
        self.alerts = watch;
        let open = bankroll_alerts::views::list(self.rows().reader(), &Default::default(), 100).unwrap();
        let mut shown: Vec<_> =
            open.into_iter().map(|alert| (alert.kind.to_string(), alert.subject, alert.summary)).collect();
        shown.sort();
        shown
    }

    pub fn halt(&self) -> Option<String> {
        halt_of(self.rows().reader(), &name(CHAIN), self.setup.profile.is_development).unwrap()
    }
}

impl World {
    pub fn cursor_is_canonical(&self) -> bool {
        let cursor = bankroll_deposits::view::cursor(self.rows().reader(), CHAIN).unwrap().unwrap();
        self.chain().block(cursor.number).is_some_and(|block| block.hash == cursor.hash)
    }
}
