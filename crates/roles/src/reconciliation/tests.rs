//! A simulated chain, real books, the scanner and crediting; payouts are written as their role writes them, and settled
//! as the books settle them. Whatever is on its way, there is no difference; and one wei that is gone is one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use bankroll_alerts::{AlertWatch, round as alert_round};
use bankroll_chains_evm::U256;
use bankroll_chains_simulated::{Distortion, Fate, NodeLie, Payment, Reorg, SimulatedChain, SimulatedKey};
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

use super::{
    Difference, KnownBalance, compare, halt_of, known,
    terms::{BalanceTerms, WalletBalance},
    watch::{match_makers, round},
};
use crate::{
    NodeLog, alerts,
    flows::{FlowSetup, migrations, one_chain, prepare_books},
    registry::{BooksView, ChainView},
};

const CHAIN: &str = "eip155:100";
const COIN: u128 = 1_000_000_000_000_000_000;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn key(person: u64) -> SimulatedKey {
    SimulatedKey::derived(1, person)
}

fn address(person: u64) -> Address {
    Address(key(person).address().into_array())
}

/// The treasury, a stranger, and our wallet, by the numbers of their keys.
const TREASURY: u64 = 0;
const STRANGER: u64 = 1;
const HOT: u64 = 2;

struct World {
    options: LedgerOptions,
    open: Option<(Ledger, Rows)>,
    chain: Arc<Mutex<SimulatedChain>>,
    setup: FlowSetup,
    indexer: Option<(Indexer, ChainView)>,
    nonces: BTreeMap<u64, u64>,
    payouts: u64,
    now: u64,
    alerts: AlertWatch,
    _folder: tempfile::TempDir,
}

impl World {
    /// The wallet has one coin from the treasury, booked.
    fn new() -> Self {
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

    fn log(&self) -> (NodeLog, std::sync::mpsc::Receiver<serde_json::Value>) {
        let (to, lines) = std::sync::mpsc::channel();
        (NodeLog::lines(name("node-1").as_str().parse().unwrap(), to), lines)
    }

    /// Everything in memory is dropped, and the books are opened again.
    fn restart(&mut self) {
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

    fn ledger(&self) -> &Ledger {
        &self.open.as_ref().unwrap().0
    }

    fn rows(&self) -> &Rows {
        &self.open.as_ref().unwrap().1
    }

    fn chain(&self) -> MutexGuard<'_, SimulatedChain> {
        self.chain.lock().unwrap()
    }

    fn pay(&mut self, from: u64, to: Address, wei: u128) -> (u64, String) {
        let nonce = self.chain().nonce(key(from).address());
        let nonce = nonce.max(self.nonces.get(&from).copied().unwrap_or_default());
        self.nonces.insert(from, nonce + 1);
        let payment = Payment::new(100, nonce, to.0.into(), U256::from(wei));
        let hash = self.chain().send(&key(from).sign(&payment)).unwrap();
        (nonce, format!("{hash:#x}"))
    }

    fn mine(&self, blocks: u64) {
        let mut chain = self.chain();
        for _ in 0..blocks {
            let time = chain.next_time();
            chain.mine(time);
        }
    }

    fn index(&mut self) {
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

    fn book(&self) {
        let mut view = BooksView::default();
        view.update(self.rows().reader()).unwrap();
        let standing = |_: &_, _: &_| Ok(PlayerStanding::default());
        let rules = CreditRules { servers: &view.servers, watch: &view.watch, standing: &standing };
        while !crediting::step(&rules, self.ledger(), self.rows(), 100).unwrap().is_idle() {}
    }

    fn settle(&mut self, blocks: u64) {
        self.mine(blocks);
        self.index();
        self.book();
    }

    /// A payout that is signed and sent, as the rows of its role say.
    fn pay_out(&mut self, wei: u128) -> String {
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
    fn settle_payout(&self, id: &str, wei: u128) {
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

    fn compare(&mut self) -> KnownBalance {
        self.now += 1_000;
        let providers = self.setup.providers().unwrap();
        let (done, trouble) = round(self.rows(), &providers, self.setup.chain(), Time(self.now)).unwrap();
        assert!(done.is_some() && trouble.is_none(), "{trouble:?}");
        known(self.rows().reader(), &name(CHAIN)).unwrap().pop().unwrap()
    }

    fn agrees(&mut self, terms: BalanceTerms) {
        let known = self.compare();
        let in_books = known.terms.in_books;
        assert_eq!(known.terms, BalanceTerms { in_books, ..terms });
        assert_eq!((known.difference, known.rounds), (Difference::None, 0), "{known:?}");
    }

    /// The kinds and subjects of open alerts, after a round of them.
    fn alerts(&mut self) -> Vec<(String, String, String)> {
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

    fn halt(&self) -> Option<String> {
        halt_of(self.rows().reader(), &name(CHAIN), self.setup.profile.is_development).unwrap()
    }
}

fn wei(wei: u128) -> U256 {
    U256::from(wei)
}

#[test]
fn each_term_is_on_its_own_side() {
    let balance = |on_chain: u128, terms: BalanceTerms| {
        let terms = BalanceTerms { in_books: wei(100), ..terms };
        WalletBalance { on_chain: wei(on_chain), terms }.difference()
    };
    let none = BalanceTerms::default;
    assert_eq!(balance(100, none()), Difference::None);
    assert_eq!(balance(101, none()), Difference::Surplus(wei(1)));
    assert_eq!(balance(99, none()), Difference::Deficit(wei(1)));
    let more = [
        BalanceTerms { unbooked: wei(7), ..none() },
        BalanceTerms { held: wei(7), ..none() },
        BalanceTerms { moved_in: wei(7), ..none() },
        BalanceTerms { settled_elsewhere: wei(7), ..none() },
        BalanceTerms { left_after: wei(7), ..none() },
    ];
    let less = [
        BalanceTerms { moved_out: wei(7), ..none() },
        BalanceTerms { unreversed: wei(7), ..none() },
        BalanceTerms { unsettled: wei(7), ..none() },
        BalanceTerms { unsettled_gas: wei(7), ..none() },
        BalanceTerms { came_after: wei(7), ..none() },
    ];
    for terms in more {
        assert_eq!(balance(107, terms.clone()), Difference::None, "{terms:?}");
        assert_eq!(balance(106, terms.clone()), Difference::Deficit(wei(1)), "{terms:?}");
    }
    for terms in less {
        assert_eq!(balance(93, terms.clone()), Difference::None, "{terms:?}");
        assert_eq!(balance(94, terms.clone()), Difference::Surplus(wei(1)), "{terms:?}");
    }
    for difference in [Difference::None, Difference::Surplus(wei(3)), Difference::Deficit(wei(3))] {
        assert_eq!(Difference::of_signed(&difference.signed()), Some(difference));
    }
}

#[test]
fn a_deposit_or_payout_on_its_way_is_no_difference_and_has_a_term() {
    let mut world = World::new();
    world.agrees(BalanceTerms::default());
    world.pay(STRANGER, address(HOT), 5);
    world.mine(1);
    world.agrees(BalanceTerms::default());
    world.index();
    world.agrees(BalanceTerms { unbooked: wei(5), ..BalanceTerms::default() });
    world.settle(3);
    world.agrees(BalanceTerms::default());

    let id = world.pay_out(7);
    world.agrees(BalanceTerms::default());
    world.mine(1);
    world.index();
    let known = world.compare();
    assert_eq!((known.difference, known.terms.unsettled), (Difference::None, wei(7)));
    assert!(!known.terms.unsettled_gas.is_zero());
    world.mine(2);
    world.restart();
    world.index();
    world.settle_payout(&id, 7);
    world.agrees(BalanceTerms::default());
    assert_eq!(world.alerts(), []);
    // Settled by blocks that the indexer has not read.
    let id = world.pay_out(9);
    world.mine(3);
    world.settle_payout(&id, 9);
    let known = world.compare();
    assert_eq!(known.difference, Difference::None);
    assert!(known.terms.settled_elsewhere > wei(9), "with its gas: {known:?}");
    world.index();
    world.agrees(BalanceTerms::default());
    match_makers(world.rows(), &name(CHAIN)).unwrap();
    assert_eq!((world.alerts(), world.halt()), (vec![], None));
}

#[test]
fn one_wei_that_is_stolen_is_found_with_the_wallet_named_and_halts_payouts() {
    let mut world = World::new();
    let (_, hash) = world.pay(HOT, address(STRANGER), 1);
    world.settle(3);
    let known = world.compare();
    let Difference::Deficit(lost) = known.difference else { panic!("{known:?}") };
    assert!(lost > wei(1), "one wei, and the gas that the thief used");
    assert!(!known.differs(), "one round is not enough");
    assert_eq!(world.alerts().iter().map(|(kind, ..)| kind.as_str()).collect::<Vec<_>>(), ["foreign_transaction"]);
    assert_eq!(world.halt(), None);
    world.restart();
    assert!(world.compare().differs());
    let wallet = address(HOT);
    let open = world.alerts();
    let subjects: Vec<_> = open.iter().map(|(kind, subject, _)| (kind.as_str(), subject.clone())).collect();
    let asset = format!("{CHAIN}/{wallet}/1");
    assert_eq!(subjects, [("foreign_transaction", hash), ("wallet_deficit", asset)]);
    let says = format!("wallet hot ({wallet}) on {CHAIN} holds {lost} base units of asset 1 less than the books say");
    assert!(open[1].2.starts_with(&says), "{}", open[1].2);
    assert!(world.halt().unwrap().starts_with(&says));
    assert_eq!(halt_of(world.rows().reader(), &name(CHAIN), true).unwrap(), None, "a development chain");
    assert_eq!(halt_of(world.rows().reader(), &name("eip155:1000"), false).unwrap(), None, "another chain");

    // It comes back, by a payment that nobody credits: of the house's capital.
    world.chain().mint_coins(wallet.0.into(), lost);
    world.settle(1);
    world.agrees(BalanceTerms::default());
    let open: Vec<_> = world.alerts().into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!((open, world.halt()), (vec!["foreign_transaction".to_owned()], None));
}

#[test]
fn an_indexer_that_has_stopped_halts_payouts_on_every_kind_of_chain_until_it_goes_on() {
    let world = World::new();
    assert_eq!(world.halt(), None);
    let note = |why| one("UPDATE chain_cursor SET stopped = $1", vec![why]);
    world.rows().write(vec![note(text("deeper than the window"))]).unwrap();
    let says = Some(format!("the indexer of {CHAIN} has stopped: deeper than the window"));
    assert_eq!(world.halt(), says);
    assert_eq!(halt_of(world.rows().reader(), &name(CHAIN), true).unwrap(), says);
    assert_eq!(halt_of(world.rows().reader(), &name("eip155:5"), false).unwrap(), None);
    world.rows().write(vec![note(bankroll_ledger::ColumnValue::Null)]).unwrap();
    assert_eq!(world.halt(), None);
}

/// The story of `bankroll reconcile --at`: the block before which all was well.
#[test]
fn an_older_block_is_compared_with_what_came_and_left_since() {
    let mut world = World::new();
    let start = world.chain().head().number();
    world.pay(STRANGER, address(HOT), 5);
    world.settle(1);
    let id = world.pay_out(7);
    world.settle(3);
    world.settle_payout(&id, 7);
    world.pay(HOT, address(STRANGER), 1);
    world.settle(2);
    let at = |world: &World, block| {
        let found = compare(&world.setup, world.rows().reader(), block, Time(9)).unwrap().unwrap();
        found.wallets[0].1.as_ref().unwrap().clone()
    };
    let gone = at(&world, None).difference();
    assert!(matches!(gone, Difference::Deficit(_)), "{gone:?}");
    for block in start..=start + 6 {
        let balance = at(&world, Some(block));
        let expected = if block < start + 5 { Difference::None } else { gone };
        assert_eq!(balance.difference(), expected, "block {block}: {balance:?}");
    }
    let unread = compare(&world.setup, world.rows().reader(), Some(99), Time(9)).unwrap_err();
    assert_eq!(
        unread.to_string(),
        format!("block 99 of {CHAIN} is not read yet: the indexer is at block {}", start + 6)
    );
}

#[test]
fn coins_that_come_unseen_are_a_surplus_and_halt_nothing() {
    let mut world = World::new();
    world.chain().mint_coins(address(HOT).0.into(), wei(1));
    world.settle(1);
    world.compare();
    assert_eq!(world.compare().difference, Difference::Surplus(wei(1)));
    let open: Vec<_> = world.alerts().into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!((open, world.halt()), (vec!["wallet_surplus".to_owned()], None));
}

#[test]
fn a_provider_that_says_another_balance_for_a_moment_alarms_nobody() {
    let mut world = World::new();
    let lie = NodeLie::Balance { of: Some(address(HOT).0.into()), by: Distortion::Minus(wei(1)) };
    world.chain().lie_from(0, lie, 1);
    assert_eq!(world.compare().difference, Difference::Deficit(wei(1)));
    assert_eq!(world.alerts(), []);
    world.agrees(BalanceTerms::default());
    assert_eq!(world.alerts(), []);
}

/// Whatever comes, is paid and is reorganised, in whatever order: no round sees a difference.
#[test]
fn no_order_of_deposits_payouts_reorganisations_and_restarts_is_a_difference() {
    for seed in 0..4_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let mut world = World::new();
        let mut open: Vec<(String, u128)> = Vec::new();
        for step in 0..60 {
            match next(9) {
                0 | 1 => drop(world.pay(STRANGER, address(HOT), 1 + u128::from(next(1_000)))),
                2 | 3 => {
                    let wei = 1 + u128::from(next(1_000));
                    let id = world.pay_out(wei);
                    open.push((id, wei));
                }
                4 => world.index(),
                5 => world.book(),
                6 => {
                    let depth = 1 + next(2);
                    let fate = [Fate::Kept, Fate::Returned, Fate::Reordered][usize::try_from(next(3)).unwrap()];
                    let mut chain = world.chain();
                    // Never below the first deposit.
                    if chain.head().number() > 6 + depth {
                        chain.reorg(Reorg { depth, length: depth + 1, fate });
                    }
                }
                7 => world.restart(),
                _ => world.mine(1 + next(3)),
            }
            // Settled at depth, as the payouts role does, whether the indexer has read it or not.
            open.retain(|(id, wei)| {
                if next(2) == 0 {
                    let before = world.rows().reader().head().unwrap().seq;
                    world.settle_payout(id, *wei);
                    return world.rows().reader().head().unwrap().seq == before;
                }
                true
            });
            // A reorganisation that the indexer has not followed: its block is not asked for then.
            if !world.cursor_is_canonical() {
                world.index();
            }
            let known = world.compare();
            assert_eq!(known.difference, Difference::None, "seed {seed}, step {step}: {known:?}");
        }
        world.settle(4);
        match_makers(world.rows(), &name(CHAIN)).unwrap();
        assert_eq!(world.alerts(), [], "seed {seed}");
    }
}

impl World {
    fn cursor_is_canonical(&self) -> bool {
        let cursor = bankroll_deposits::view::cursor(self.rows().reader(), CHAIN).unwrap().unwrap();
        self.chain().block(cursor.number).is_some_and(|block| block.hash == cursor.hash)
    }
}
