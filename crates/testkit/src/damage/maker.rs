//! Makes the books: most records in old batches of many, then more single ones than opening the books verifies.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, Asset, AssetId, ColumnValue, Event, Fact, Guard, GuardFailure,
    HoldId, IdempotencyKey, Leg, Namespace, Principal, References, Request, RowKey, Scope, Seq, Settler, Time, Unit,
};
use bankroll_store::{Answer, Ledger, LedgerOptions, Location, Statement};
use fastrand::Rng;

use super::options;
use crate::streams::{START, name};

/// Enough that the tables of accounts and their index of names have several pages.
const PLAYERS: u64 = 160;
/// The books do not depend on the seed of a test: what a damage of them did can be repeated.
const SEED: u64 = 13;
pub(super) const CUSTODY: AccountId = AccountId(1);
pub(super) const WORLD: AccountId = AccountId(2);

/// Books being made.
#[derive(Debug)]
pub struct Maker {
    options: LedgerOptions,
    ledger: Option<Ledger>,
    hand: Arc<AtomicU64>,
    rng: Rng,
    players: Vec<AccountId>,
    calls: u64,
    keys: u64,
    holds: Vec<HoldId>,
    deposits: Vec<Seq>,
}

impl Maker {
    /// Creates the books, with an asset and accounts.
    ///
    /// # Panics
    /// If they cannot be created.
    #[must_use]
    pub fn create(location: &Location) -> Self {
        let (options, hand) = options(location, Time(START));
        let ledger = Ledger::create(options.clone()).expect("new books");
        let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
        ledger.list_asset(ether).expect("an asset");
        let mut names = vec![
            account(AccountKind::Custody, Some("hot")),
            account(AccountKind::World, None),
            account(AccountKind::Ecosystem, None),
            account(AccountKind::Developer, None),
        ];
        names.extend((0..PLAYERS).flat_map(names_of));
        let open = |some: &[AccountName]| ledger.open_accounts(&Principal::System, some.to_vec()).expect("an answer");
        let opened: Vec<AccountId> = names.chunks(23).flat_map(open).map(|id| id.expect("an account")).collect();
        let players = opened.into_iter().skip(4).step_by(2).collect();
        let (rng, ledger) = (Rng::with_seed(SEED), Some(ledger));
        let (holds, deposits) = (Vec::new(), Vec::new());
        Self { options, ledger, hand, rng, players, calls: 0, keys: 0, holds, deposits }
    }

    /// Makes so many calls of 1 to `most` requests, each in a batch of its own.
    ///
    /// # Panics
    /// If the books are closed, or do not answer.
    pub fn play(&mut self, calls: u64, most: usize) {
        for _ in 0..calls {
            self.calls += 1;
            self.hand.fetch_add(1_000, Ordering::SeqCst);
            let count = self.rng.usize(1..=most);
            let requests: Vec<Request> = (0..count).map(|_| self.request()).collect();
            let ledger = self.ledger.as_ref().expect("open books");
            // Holds that are due expire now, in a batch of their own, and not at a moment that the writer chooses: the
            // same books each time.
            ledger.tick().expect("an answer");
            if self.calls.is_multiple_of(20) {
                let sql = "INSERT INTO notes (id) VALUES ($1)".into();
                let values = vec![ColumnValue::Text(format!("note-{}", self.calls))];
                let row = Statement { sql, values, must_change: None };
                ledger.write_rows(vec![row]).expect("a free writer").wait().expect("an answer").expect("a row");
            }
            let answers = ledger.submit(requests.clone()).expect("a free writer").wait().expect("answers");
            requests.iter().zip(&answers).for_each(|(request, answer)| self.learn(request, answer));
        }
    }

    /// Closes the books.
    pub fn close(&mut self) {
        if let Some(ledger) = self.ledger.take() {
            ledger.close();
        }
    }

    /// Opens them again.
    ///
    /// # Panics
    /// If they do not open.
    pub fn reopen(&mut self) {
        self.ledger = Some(Ledger::open(self.options.clone()).expect("the same books"));
    }

    fn learn(&mut self, request: &Request, answer: &Answer) {
        let (Ok(_), Some(seq), Action::Legs(legs)) = (answer.effects(), answer.seq, &request.action) else { return };
        let made = legs.iter().zip(0..).filter(|(leg, _)| matches!(leg, Leg::Hold { .. }));
        self.holds.extend(made.map(|(_, place)| HoldId::of(seq, place)));
        if request.principal == Principal::Indexer {
            self.deposits.push(seq);
        }
    }

    fn request(&mut self) -> Request {
        self.keys += 1;
        let text = format!("made-{}", self.keys);
        let player = self.players[self.rng.usize(..self.players.len())];
        let amount = self.rng.u128(1..=90);
        match self.rng.u32(0..14) {
            0..5 => deposit(&text, player, amount),
            // A player who has less is refused, and the refusal is remembered.
            5..8 => request(&text, game_server(), vec![moving(player, WORLD, amount)]),
            8..11 => {
                let now = self.hand.load(Ordering::SeqCst);
                let expires = self.rng.bool().then(|| Time(now + self.rng.u64(10_000..3_000_000)));
                let (amount, settler) = (Amount::new(amount), Settler::Holder);
                let hold = Leg::Hold { account: player, amount, expires, settler };
                request(&text, game_server(), vec![moving(WORLD, player, amount.units()), hold])
            }
            11..13 if !self.holds.is_empty() => {
                let hold = self.holds.swap_remove(self.rng.usize(..self.holds.len()));
                let post = Leg::Post { hold, to: CUSTODY, amount: Amount::new(1) };
                request(&text, Principal::System, vec![post, Leg::Release { hold }])
            }
            13 if !self.deposits.is_empty() => {
                let original = self.deposits.swap_remove(self.rng.usize(..self.deposits.len()));
                reverse(&text, original)
            }
            _ => deposit(&text, player, amount),
        }
    }
}

fn account(kind: AccountKind, owner: Option<&str>) -> AccountName {
    AccountName { scope: Scope::Server(name("arena")), kind, asset: AssetId(1), owner: owner.map(name) }
}

/// The names of a player's accounts: funds, and debt.
pub(super) fn names_of(player: u64) -> [AccountName; 2] {
    let wallet = format!("0xplayer{player:04}");
    [account(AccountKind::Funds, Some(&wallet)), account(AccountKind::Debt, Some(&wallet))]
}

pub(super) fn moving(from: AccountId, to: AccountId, amount: u128) -> Leg {
    Leg::Move { from, to, amount: Amount::new(amount) }
}

pub(super) fn game_server() -> Principal {
    Principal::GameServer(name("arena"))
}

pub(super) fn request(text: &str, principal: Principal, legs: Vec<Leg>) -> Request {
    let namespace = match principal {
        Principal::Indexer => Namespace::Deposits,
        Principal::System => Namespace::Payouts,
        _ => Namespace::Client,
    };
    let key = IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text: text.into() };
    let holds = legs.iter().any(|leg| matches!(leg, Leg::Hold { .. }));
    let references = References { intent: holds.then(|| format!("wd-{text}")), ..References::default() };
    let (facts, events) = (Vec::new(), Vec::new());
    Request { key, principal, confirmation: None, action: Action::Legs(legs), references, facts, events }
}

/// A deposit, with its row and its announcement.
pub(super) fn deposit(text: &str, player: AccountId, amount: u128) -> Request {
    let fact = Fact {
        row: RowKey { table: "deposits".into(), columns: vec![("id".into(), ColumnValue::Text(text.into()))] },
        guard: Guard::Absent,
        otherwise: GuardFailure::Conflict,
        set: vec![("amount".into(), ColumnValue::Amount(Amount::new(amount)))],
    };
    let event = Event { kind: name("deposit.credited"), resource: text.into(), body: "{}".into() };
    let legs = vec![moving(CUSTODY, player, amount)];
    Request { facts: vec![fact], events: vec![event], ..request(text, Principal::Indexer, legs) }
}

pub(super) fn reverse(text: &str, original: Seq) -> Request {
    Request { action: Action::Reverse(original), ..request(text, Principal::Indexer, Vec::new()) }
}
