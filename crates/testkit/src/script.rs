//! What the `victim` does until somebody kills it: calls that follow from a seed and from the answers so far.
//!
//! Whoever knows the seed and the answers (the lines the victim wrote) can make up the same calls again: that is how a
//! test finds out what became of each of them. Every request has its own key and is one that a key remembers, so a
//! call that was made shows as replayed, whatever its verdict.

use std::{fmt, path::Path, str::FromStr};

use bankroll_ledger::{
    AccountId, AccountName, Action, Amount, Asset, AssetId, Event, Fact, Guard, HoldId, Key, Kind, Leg, Namespace,
    Otherwise, Principal, References, Request, RowKey, Scope, Seq, Settler, Time, Unit, Value,
};
use bankroll_store::{Answer, CallError, Clock, DatabaseUrl, Ledger, Location, Migrations, Options, Statement};
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

/// Records that the set-up leaves in an empty journal.
pub const SET_UP_RECORDS: u64 = 1 + 4 + 2 * PLAYERS;

/// How the books of a script are opened, in a folder or under a `postgres://` address: by the victim, and by whoever
/// examines what it left.
#[must_use]
pub fn options(place: &str, keys_in_memory_max: usize) -> Options {
    let (clock, _) = Clock::manual(Time(1_000_000));
    let location: Location = match place.starts_with("postgres://") {
        true => DatabaseUrl::new(place).into(),
        false => Path::new(place).into(),
    };
    Options { clock, keys_in_memory_max, background_commit_min: 1, migrations: vec![TABLES], ..Options::new(location) }
}

/// Lists the coin and opens the accounts, unless that was done before.
///
/// # Errors
/// If a call has no answer.
///
/// # Panics
/// If the accounts are not the ones they must be.
pub fn set_up(ledger: &Ledger) -> Result<(), CallError> {
    let ether = Asset { chain: name("eip155:1"), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
    ledger.list_asset(ether)?;
    let account = |kind, owner: Option<&str>| AccountName {
        scope: Scope::Server(name("arena")),
        kind,
        asset: AssetId(1),
        owner: owner.map(name),
    };
    let mut names = vec![
        account(Kind::Custody, Some("hot")),
        account(Kind::World, None),
        account(Kind::Ecosystem, None),
        account(Kind::Developer, None),
    ];
    for player in 0..PLAYERS {
        let wallet = format!("0x{player}");
        names.extend([account(Kind::Funds, Some(&wallet)), account(Kind::Debt, Some(&wallet))]);
    }
    let opened = ledger.open_accounts(&Principal::System, names)?;
    assert!(opened.iter().zip(1..).all(|(opened, id)| *opened == Ok(AccountId(id))), "accounts are {opened:?}");
    Ok(())
}

/// What the victim was told of one request, as it writes it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub seq: u64,
    pub replayed: bool,
    /// `applied`, or the code of the rejection.
    pub said: String,
}

impl From<&Answer> for Told {
    fn from(answer: &Answer) -> Self {
        let said = answer.effects().map_or_else(|rejection| rejection.code(), |_| "applied");
        Self { seq: answer.seq.map_or(0, |seq| seq.0), replayed: answer.replayed, said: said.to_owned() }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.seq, self.replayed, self.said)
    }
}

impl FromStr for Told {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let &[seq, replayed, said] = parts.as_slice() else { return Err(format!("not an answer: {text:?}")) };
        let bad = |_| format!("not an answer: {text:?}");
        let (seq, replayed) = (seq.parse().map_err(bad)?, replayed == "true");
        Ok(Self { seq, replayed, said: said.to_owned() })
    }
}

/// The calls of one of the victim's threads.
#[derive(Debug)]
pub struct Script {
    rng: Rng,
    prefix: String,
    calls: u64,
    /// Holds that were made and not settled, and deposits that were made and not taken back.
    holds: Vec<u64>,
    deposits: Vec<u64>,
    asked: Vec<Request>,
}

impl Script {
    #[must_use]
    pub fn new(seed: u64, thread: u64) -> Self {
        let rng = Rng::with_seed(seed.wrapping_mul(1_000_003).wrapping_add(thread));
        let prefix = format!("{seed:x}-{thread}");
        Self { rng, prefix, calls: 0, holds: Vec::new(), deposits: Vec::new(), asked: Vec::new() }
    }

    /// The next call. The one before must have been learnt.
    pub fn call(&mut self) -> Vec<Request> {
        self.calls += 1;
        let size = self.rng.usize(1..=6);
        self.asked = (0..size).map(|place| self.request(place)).collect();
        self.asked.clone()
    }

    /// The row that goes along with the call beside its money, in the other lane.
    #[must_use]
    pub fn note(&self) -> (String, Statement) {
        let id = format!("{}-{}", self.prefix, self.calls);
        let values = vec![Value::Text(id.clone())];
        // Made again by whoever repeats a call, hence not once more.
        let sql = "INSERT INTO notes (id) VALUES ($1) ON CONFLICT DO NOTHING".into();
        (id, Statement { sql, values, must_change: None })
    }

    /// What became of the last call.
    pub fn learn(&mut self, told: &[Told]) {
        for (request, told) in std::mem::take(&mut self.asked).iter().zip(told) {
            if told.said != "applied" {
                continue;
            }
            match &request.action {
                Action::Reverse(_) => {}
                Action::Legs(legs) => {
                    let made = legs.iter().zip(0..).filter(|(leg, _)| matches!(leg, Leg::Hold { .. }));
                    self.holds.extend(made.map(|(_, place)| HoldId::of(Seq(told.seq), place).0));
                    if request.principal == Principal::Indexer {
                        self.deposits.push(told.seq);
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
                let (expires, settler) = (None, Settler::System);
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
        let key = Key { namespace, scope: Scope::Server(name("arena")), text: id.clone() };
        let is_deposit = principal == Principal::Indexer;
        let facts = if is_deposit { vec![credited(&id, amount)] } else { Vec::new() };
        let event = Event { kind: name("deposit.credited"), resource: id, body: "{}".into() };
        let events = if is_deposit { vec![event] } else { Vec::new() };
        Request { key, principal, confirmation: None, action, references: References::default(), facts, events }
    }
}

fn credited(id: &str, amount: Amount) -> Fact {
    Fact {
        row: RowKey { table: "deposits".into(), columns: vec![("id".into(), Value::Text(id.into()))] },
        guard: Guard::Absent,
        otherwise: Otherwise::Conflict,
        set: vec![("amount".into(), Value::Amount(amount))],
    }
}
