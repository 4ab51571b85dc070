//! The books that `bench http` measures: a registered game server with a session, and players who enter and leave its
//! world.

use std::{fmt::Write, sync::atomic::AtomicU64};

use anyhow::Context;
use bankroll_api::{Funds, FundsSettings};
use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, AssetId, IdempotencyKey, Leg, Name, Namespace, Principal,
    References, Request, Scope,
};
use bankroll_notify::NOTIFY;
use bankroll_orders::{Address, ChainId};
use bankroll_registry::{REGISTRY, SignInConfig};
use bankroll_store::{Ledger, LedgerOptions, Location};

use super::{
    super::{load::LoadSource, seats},
    registration::{self, BenchSession},
};

pub(crate) const AUDIENCE: &str = "bench.example";
pub(super) const CHAIN: ChainId = ChainId(31_337);
pub(crate) const SERVER: &str = "bench";
/// Enough for any run: a trillion times the largest transfer.
const STACK: u128 = 1_000_000_000_000_000_000_000_000_000_000;
/// Requests in one call while the books are filled.
const CALL: usize = 5_000;

pub(crate) struct HttpBooks {
    pub ledger: Ledger,
    pub funds: Funds,
    pub session: BenchSession,
    server: Name,
    world: AccountId,
    world_name: String,
    players: Vec<(AccountId, String)>,
    next: AtomicU64,
}

/// A transfer, before it is a request of the ledger or of HTTP.
struct Plan<'a> {
    player: &'a (AccountId, String),
    enters: bool,
    amount: u128,
    key: String,
}

impl HttpBooks {
    /// Creates books with this number of players, all with money. They are synced at every commit, as in production.
    pub fn open(location: &Location, players: usize) -> anyhow::Result<Self> {
        let options = LedgerOptions { migrations: vec![REGISTRY, NOTIFY], ..LedgerOptions::new(location) };
        let clock = options.clock.clone();
        let ledger = Ledger::create(options)?;
        let asset = registration::register(&ledger, clock.now())?;
        let funds = Funds::new(FundsSettings::new(AUDIENCE, CHAIN, SignInConfig::default()), clock.clone());
        funds.acquire(ledger.clone())?;
        let session = BenchSession::open(&ledger, clock.now())?;
        let server: Name = SERVER.parse()?;
        let world_name =
            AccountName { scope: Scope::Server(server.clone()), kind: AccountKind::World, asset, owner: None };
        let world = open_account(&ledger, &world_name)?;
        let world_name = world_name.to_string();
        let mut books =
            Self { ledger, funds, session, server, world, world_name, players: Vec::new(), next: AtomicU64::new(0) };
        books.fill(asset, players)?;
        Ok(books)
    }

    /// Money for each player, and as much in the world, so that both directions always have some.
    fn fill(&mut self, asset: AssetId, players: usize) -> anyhow::Result<()> {
        let scope = Scope::Server(self.server.clone());
        let name = |kind, owner: Option<Name>| AccountName { scope: scope.clone(), kind, asset, owner };
        let custody = AccountName { scope: Scope::House, ..name(AccountKind::Custody, Some("hot".parse()?)) };
        let custody = open_account(&self.ledger, &custody)?;
        let ecosystem = open_account(&self.ledger, &name(AccountKind::Ecosystem, None))?;
        let all = STACK.checked_mul(players as u128).context("fewer players")?;
        self.credit(custody, &[ecosystem], all)?;
        let pellets = Leg::Move { from: ecosystem, to: self.world, amount: Amount::new(all) };
        self.ledger.apply(self.request("pellets", pellets))?.effects()?;
        for first in (0..players).step_by(CALL) {
            let owner = |number: usize| {
                let mut bytes = [0; 20];
                bytes[12..].copy_from_slice(&(number as u64 + 1).to_be_bytes());
                anyhow::Ok(name(AccountKind::Funds, Some(Address(bytes).lower_hex().parse()?)))
            };
            let names = (first..players.min(first + CALL)).map(owner).collect::<anyhow::Result<Vec<_>>>()?;
            let opened = self.ledger.open_accounts(&Principal::GameServer(self.server.clone()), names.clone())?;
            let opened = opened.into_iter().collect::<Result<Vec<_>, _>>()?;
            self.credit(custody, &opened, STACK)?;
            self.players.extend(opened.into_iter().zip(names.iter().map(ToString::to_string)));
        }
        Ok(())
    }

    /// Money from outside, as deposits credit it.
    fn credit(&self, custody: AccountId, to: &[AccountId], amount: u128) -> anyhow::Result<()> {
        let deposit = |to: &AccountId| Request {
            key: IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text: format!("fund-{to}") },
            principal: Principal::Indexer,
            ..self.request("", Leg::Move { from: custody, to: *to, amount: Amount::new(amount) })
        };
        for answer in self.ledger.submit(to.iter().map(deposit).collect())?.wait()? {
            answer.effects()?;
        }
        Ok(())
    }

    pub fn players(&self) -> usize {
        self.players.len()
    }

    /// Transfer number `number`. The first ones visit each player once, so that a warm-up knows all of them.
    fn plan(&self, number: u64, random_key: bool) -> Plan<'_> {
        let mut random = fastrand::Rng::with_seed(number);
        let count = self.players.len();
        let any = random.usize(..count);
        let player = usize::try_from(number).ok().filter(|number| *number < count).unwrap_or(any);
        let amount = 1 + random.u128(..1_000_000_000_000_000_000);
        let (first, second) = if random_key { (random.u64(..), number) } else { (number, random.u64(..)) };
        let (player, enters) = (&self.players[player], random.bool());
        Plan { player, enters, amount, key: seats::hex([first, second]) }
    }

    /// The key of a single transfer, and its body.
    pub fn write_transfer(&self, number: u64, body: &mut String) -> String {
        let plan = self.plan(number, false);
        let (from, to) = self.ends(&plan);
        // Writing into a String cannot fail.
        let _ = write!(body, r#"{{"from":"{from}","to":"{to}","amount":"{}"}}"#, plan.amount);
        plan.key
    }

    /// The body of a batch. Without amounts the service reads it, checks the session, and asks the ledger for nothing.
    pub fn write_batch(&self, numbers: std::ops::Range<u64>, with_amounts: bool, body: &mut String) {
        body.push_str(r#"{"operations":["#);
        let first = numbers.start;
        for number in numbers {
            let plan = self.plan(number, false);
            let (from, to) = self.ends(&plan);
            let comma = if number == first { "" } else { "," };
            let _ = write!(body, r#"{comma}{{"key":"{}","type":"transfer","from":"{from}","to":"{to}""#, plan.key);
            if with_amounts {
                let _ = write!(body, r#","amount":"{}""#, plan.amount);
            }
            body.push('}');
        }
        body.push_str("]}");
    }

    /// The names of the paying and the paid account.
    fn ends<'a>(&'a self, plan: &'a Plan<'_>) -> (&'a str, &'a str) {
        let (player, world) = (plan.player.1.as_str(), self.world_name.as_str());
        if plan.enters { (player, world) } else { (world, player) }
    }

    /// As the API makes it.
    fn request(&self, key: &str, leg: Leg) -> Request {
        let scope = Scope::Server(self.server.clone());
        Request {
            key: IdempotencyKey { namespace: Namespace::Client, scope, text: format!("key/{key}") },
            principal: Principal::GameServer(self.server.clone()),
            confirmation: None,
            action: Action::Legs(vec![leg]),
            references: References::default(),
            facts: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Nothing may use the books any more: the front must have been drained.
    pub fn close_and_audit(self) -> anyhow::Result<()> {
        self.funds.release();
        seats::close_and_audit(self.ledger)
    }
}

/// The same transfers as over HTTP, by the same principal, between the same accounts.
impl LoadSource for HttpBooks {
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn next(&self) -> &AtomicU64 {
        &self.next
    }

    fn transfer(&self, number: u64, random_key: bool) -> Request {
        let Plan { player: (player, _), enters, amount, key } = self.plan(number, random_key);
        let (from, to) = if enters { (*player, self.world) } else { (self.world, *player) };
        self.request(&key, Leg::Move { from, to, amount: Amount::new(amount) })
    }
}

/// The account's number; one that exists stays as it is.
fn open_account(ledger: &Ledger, name: &AccountName) -> anyhow::Result<AccountId> {
    let opened = ledger.open_accounts(&Principal::System, vec![name.clone()])?;
    Ok(opened.into_iter().next().context("no answer for an account")??)
}
