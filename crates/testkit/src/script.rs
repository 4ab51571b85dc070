//! The calls of the `victim`, which a test kills: they follow from a seed and from the answers so far.
//!
//! From the seed and the answers (the lines that the victim printed) a test rebuilds the same calls, and so finds the
//! outcome of each of them. Every request has its own key and a remembered verdict, so a call that was made is
//! answered as replayed, whatever its verdict.

use std::{fmt, path::Path, str::FromStr};

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, Asset, AssetId, ColumnValue, Event, Fact, Guard, GuardFailure,
    HoldId, IdempotencyKey, Leg, Namespace, Principal, References, Request, RowKey, Scope, Seq, Settler, Time, Unit,
};
use bankroll_store::{Answer, Clock, DatabaseUrl, Ledger, LedgerOptions, Location, Migrations, Statement, SubmitError};
use fastrand::Rng;

use crate::streams::name;

/// The tables that the script's facts and rows are written to.
pub const TABLES: Migrations = Migrations {
    owner: "script",
    steps: &[
        "CREATE TABLE deposits (id TEXT PRIMARY KEY, amount AMOUNT NOT NULL) WITHOUT ROWID;",
        "CREATE TABLE notes (id TEXT PRIMARY KEY) WITHOUT ROWID;
         CREATE TABLE ballast (id INTEGER PRIMARY KEY, data BLOB NOT NULL);",
    ],
    postgres: &[
        "CREATE TABLE deposits (id text PRIMARY KEY, amount numeric(39, 0) NOT NULL);",
        "CREATE TABLE notes (id text PRIMARY KEY);
         CREATE TABLE ballast (id bigint PRIMARY KEY, data bytea NOT NULL);",
    ],
};

const CUSTODY: AccountId = AccountId(1);
const WORLD: AccountId = AccountId(2);
const ECOSYSTEM: AccountId = AccountId(3);
const DEVELOPER: AccountId = AccountId(4);
const FIRST_PLAYER: u64 = 5;
const PLAYERS: u64 = 4;

/// The number of records of the set-up in an empty journal.
pub const SET_UP_RECORDS: u64 = 1 + 4 + 2 * PLAYERS;

/// The options for the books of a script, in a folder or under a `postgres://` address: for the victim, and for the
/// test that examines them afterwards.
#[must_use]
pub fn options(location: &str, keys_in_memory_max: usize) -> LedgerOptions {
    let (clock, _) = Clock::manual(Time(1_000_000));
    let location: Location = match location.starts_with("postgres://") {
        true => DatabaseUrl::new(location).into(),
        false => Path::new(location).into(),
    };
    LedgerOptions {
        clock,
        keys_in_memory_max,
        background_commit_min: 1,
        migrations: vec![TABLES],
        ..LedgerOptions::new(location)
    }
}

/// Lists the coin and opens the accounts, unless that was done before.
///
/// # Errors
/// If a call has no answer.
///
/// # Panics
/// If the accounts have other numbers than expected.
pub fn set_up(ledger: &Ledger) -> Result<(), SubmitError> {
    let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
    ledger.list_asset(ether)?;
    let account = |kind, owner: Option<&str>| AccountName {
        scope: Scope::Server(name("arena")),
        kind,
        asset: AssetId(1),
        owner: owner.map(name),
    };
    let mut names = vec![
        account(AccountKind::Custody, Some("hot")),
        account(AccountKind::World, None),
        account(AccountKind::Ecosystem, None),
        account(AccountKind::Developer, None),
    ];
    for player in 0..PLAYERS {
        let wallet = format!("0x{player}");
        names.extend([account(AccountKind::Funds, Some(&wallet)), account(AccountKind::Debt, Some(&wallet))]);
    }
    let opened = ledger.open_accounts(&Principal::System, names)?;
    assert!(opened.iter().zip(1..).all(|(opened, id)| *opened == Ok(AccountId(id))), "accounts are {opened:?}");
    Ok(())
}

/// The answer to one request, as the victim prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimAnswer {
    pub seq: u64,
    pub replayed: bool,
    /// `applied`, or the code of the rejection.
    pub outcome: String,
}

impl From<&Answer> for VictimAnswer {
    fn from(answer: &Answer) -> Self {
        let outcome = answer.effects().map_or_else(|rejection| rejection.code(), |_| "applied");
        Self { seq: answer.seq.map_or(0, |seq| seq.0), replayed: answer.replayed, outcome: outcome.to_owned() }
    }
}

impl fmt::Display for VictimAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.seq, self.replayed, self.outcome)
    }
}

impl FromStr for VictimAnswer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let &[seq, replayed, outcome] = parts.as_slice() else { return Err(format!("not an answer: {text:?}")) };
        let bad = |_| format!("not an answer: {text:?}");
        let (seq, replayed) = (seq.parse().map_err(bad)?, replayed == "true");
        Ok(Self { seq, replayed, outcome: outcome.to_owned() })
    }
}

/// The calls of one of the victim's threads.
#[derive(Debug)]
pub struct Script {
    rng: Rng,
    prefix: String,
    calls: u64,
    /// Holds that were made and not settled, and deposits that were made and not reversed.
    holds: Vec<u64>,
    deposits: Vec<u64>,
    requests: Vec<Request>,
}

impl Script {
    #[must_use]
    pub fn new(seed: u64, thread: u64) -> Self {
        let rng = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(thread));
        let prefix = format!("{seed:x}-{thread}");
        Self { rng, prefix, calls: 0, holds: Vec::new(), deposits: Vec::new(), requests: Vec::new() }
    }

    /// The next call. The answers to the one before must have been given to [`Script::learn`].
    pub fn call(&mut self) -> Vec<Request> {
        self.calls += 1;
        let size = self.rng.usize(1..=6);
        self.requests = (0..size).map(|place| self.request(place)).collect();
        self.requests.clone()
    }

    /// The row that is written along with the call, without money.
    #[must_use]
    pub fn note(&self) -> (String, Statement) {
        let id = format!("{}-{}", self.prefix, self.calls);
        let values = vec![ColumnValue::Text(id.clone())];
        // A repeated call writes it again, which must change nothing.
        let sql = "INSERT INTO notes (id) VALUES ($1) ON CONFLICT DO NOTHING".into();
        (id, Statement { sql, values, must_change: None })
    }

    /// Takes the answers to the last call.
    pub fn learn(&mut self, answers: &[VictimAnswer]) {
        for (request, answer) in std::mem::take(&mut self.requests).iter().zip(answers) {
            if answer.outcome != "applied" {
                continue;
            }
            match &request.action {
                Action::Reverse(_) => {}
                Action::Legs(legs) => {
                    let made = legs.iter().zip(0..).filter(|(leg, _)| matches!(leg, Leg::Hold { .. }));
                    self.holds.extend(made.map(|(_, place)| HoldId::of(Seq(answer.seq), place).0));
                    if request.principal == Principal::Indexer {
                        self.deposits.push(answer.seq);
                    }
                }
            }
        }
    }

    fn request(&mut self, place: usize) -> Request {
        let player = AccountId(FIRST_PLAYER + 2 * self.rng.u64(0..PLAYERS));
        let amount = Amount::new(self.rng.u128(1..=90));
        let id = format!("{}-{}-{place}", self.prefix, self.calls);
        let moving = |from, to, amount| Leg::Move { from, to, amount };
        let game_server = Principal::GameServer(name("arena"));
        let (principal, action) = match self.rng.u32(0..12) {
            0..4 => {
                let fee = Amount::new(3);
                let split = [(player, amount), (DEVELOPER, fee), (ECOSYSTEM, fee)];
                let legs = split.into_iter().map(|(to, amount)| moving(CUSTODY, to, amount)).collect();
                (Principal::Indexer, Action::Legs(legs))
            }
            4..7 => (game_server, Action::Legs(vec![moving(player, WORLD, amount)])),
            7..9 => {
                let (expires, settler) = (None, Settler::Holder);
                let hold = Leg::Hold { account: player, amount, expires, settler };
                (game_server, Action::Legs(vec![moving(WORLD, player, amount), hold]))
            }
            9 if !self.holds.is_empty() => {
                let hold = HoldId(self.holds.swap_remove(self.rng.usize(0..self.holds.len())));
                let post = Leg::Post { hold, to: CUSTODY, amount: Amount::new(1) };
                (Principal::System, Action::Legs(vec![post, Leg::Release { hold }]))
            }
            10 if !self.deposits.is_empty() => {
                let deposit = self.deposits.swap_remove(self.rng.usize(0..self.deposits.len()));
                (Principal::Indexer, Action::Reverse(Seq(deposit)))
            }
            _ => (Principal::Indexer, Action::Legs(vec![moving(CUSTODY, player, amount)])),
        };
        let namespace = match principal {
            Principal::Indexer => Namespace::Deposits,
            Principal::System => Namespace::Payouts,
            _ => Namespace::Client,
        };
        let key = IdempotencyKey { namespace, scope: Scope::Server(name("arena")), text: id.clone() };
        let is_deposit = principal == Principal::Indexer;
        let facts = if is_deposit { vec![credited(&id, amount)] } else { Vec::new() };
        let event = Event { kind: name("deposit.credited"), resource: id, body: "{}".into() };
        let events = if is_deposit { vec![event] } else { Vec::new() };
        let holds = matches!(&action, Action::Legs(legs) if legs.iter().any(|leg| matches!(leg, Leg::Hold { .. })));
        let references = References { intent: holds.then(|| format!("wd-{}", key.text)), ..References::default() };
        Request { key, principal, confirmation: None, action, references, facts, events }
    }
}

fn credited(id: &str, amount: Amount) -> Fact {
    Fact {
        row: RowKey { table: "deposits".into(), columns: vec![("id".into(), ColumnValue::Text(id.into()))] },
        guard: Guard::Absent,
        otherwise: GuardFailure::Conflict,
        set: vec![("amount".into(), ColumnValue::Amount(amount))],
    }
}
