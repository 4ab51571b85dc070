//! The measured books: one poker server whose seats pay each other, so that any account can pay any other.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

use anyhow::Context;
use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Action, Amount, Asset, AssetId, IdempotencyKey, Leg, Name, Namespace,
    Principal, References, Request, Scope, Unit,
};
use bankroll_store::{Audit, Ledger, LedgerOptions, Location, Reader};

use super::load::{LoadSource, Shape};

/// Enough for any run: a trillion times the largest transfer.
const STACK: u128 = 1_000_000_000_000_000_000_000_000_000_000;

/// Seats opened in one call.
const CALL: usize = 8_000;

pub(super) struct Seats {
    pub ledger: Ledger,
    pub accounts: Vec<AccountId>,
    /// The number of the next transfer.
    pub next: AtomicU64,
    /// How many seats, from the first, pay and are paid.
    pub active: usize,
    /// Whether the first seat pays every transfer.
    hot: bool,
    server: Name,
}

impl Seats {
    /// Creates books with this number of funded seats; with `hot`, the first one pays everything.
    pub fn open(location: &Location, count: usize, hot: bool) -> anyhow::Result<Self> {
        let ledger = Ledger::create(LedgerOptions::new(location))?;
        let server: Name = "bench".parse()?;
        let asset = ledger.list_asset(Asset {
            chain: "eip155:31337".parse()?,
            unit: Unit::Native,
            decimals: 18,
            symbol: "ETH".into(),
        })?;
        let mut seats = Self { ledger, accounts: Vec::new(), next: AtomicU64::new(0), active: count, hot, server };
        let [custody, bank] = [(AccountKind::Custody, "hot"), (AccountKind::Funds, "bank")].map(|(kind, owner)| {
            let name = seats.name(kind, asset, owner)?;
            anyhow::Ok(seats.ledger.open_accounts(&Principal::System, vec![name])?[0]?)
        });
        let (custody, bank) = (custody?, bank?);
        let total = STACK.checked_mul(count as u128).context("fewer seats")?;
        let deposit = Leg::Move { from: custody, to: bank, amount: Amount::new(total) };
        let deposit = seats.request(Principal::Indexer, Namespace::Deposits, "all".into(), vec![deposit]);
        seats.ledger.apply(deposit)?.effects()?;
        for first in (0..count).step_by(CALL) {
            seats.seat(bank, asset, first..count.min(first + CALL))?;
        }
        Ok(seats)
    }

    /// Opens more seats and gives each its stack.
    fn seat(&mut self, bank: AccountId, asset: AssetId, numbers: Range<usize>) -> anyhow::Result<()> {
        let names = numbers.map(|seat| self.name(AccountKind::Table, asset, &format!("seat-{seat}")));
        let opened = self.ledger.open_accounts(&Principal::System, names.collect::<anyhow::Result<_>>()?)?;
        let opened: Vec<AccountId> = opened.into_iter().collect::<Result<_, _>>()?;
        let stack = |seat: &AccountId| {
            let leg = Leg::Move { from: bank, to: *seat, amount: Amount::new(STACK) };
            self.request(Principal::Tables, Namespace::Tables, format!("fund-{seat}"), vec![leg])
        };
        for answer in self.ledger.submit(opened.iter().map(stack).collect())?.wait()? {
            answer.effects()?;
        }
        self.accounts.extend(opened);
        Ok(())
    }

    fn name(&self, kind: AccountKind, asset: AssetId, owner: &str) -> anyhow::Result<AccountName> {
        Ok(AccountName { scope: Scope::Server(self.server.clone()), kind, asset, owner: Some(owner.parse()?) })
    }

    /// Transfers of the past, with ordered keys, numbered from 0: what replays are taken from.
    pub fn remember(&self, count: u64) -> anyhow::Result<()> {
        let first = self.next.fetch_add(count, Ordering::SeqCst);
        self.send(first..first + count, false)
    }

    /// Sends these transfers in full calls, as many in flight as [`Shape::FULL`] has.
    pub fn send(&self, mut numbers: Range<u64>, random_keys: bool) -> anyhow::Result<()> {
        let mut on_their_way = VecDeque::new();
        while !numbers.is_empty() || !on_their_way.is_empty() {
            if !numbers.is_empty() && on_their_way.len() < Shape::FULL.in_flight {
                let end = numbers.end.min(numbers.start + Shape::FULL.per_call as u64);
                let call = (numbers.start..end).map(|number| self.transfer(number, random_keys)).collect();
                on_their_way.push_back(self.ledger.submit(call)?);
                numbers.start = end;
            } else if let Some(reply) = on_their_way.pop_front() {
                for answer in reply.wait()? {
                    answer.effects()?;
                }
            }
        }
        Ok(())
    }

    fn request(&self, principal: Principal, namespace: Namespace, text: String, legs: Vec<Leg>) -> Request {
        Request {
            key: IdempotencyKey { namespace, scope: Scope::Server(self.server.clone()), text },
            principal,
            confirmation: None,
            action: Action::Legs(legs),
            references: References::default(),
            facts: Vec::new(),
            events: Vec::new(),
        }
    }

    pub fn settle(&self) -> anyhow::Result<()> {
        settle(&self.ledger)
    }

    pub fn close_and_audit(self) -> anyhow::Result<()> {
        close_and_audit(self.ledger)
    }
}

impl LoadSource for Seats {
    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn next(&self) -> &AtomicU64 {
        &self.next
    }

    fn transfer(&self, number: u64, random_key: bool) -> Request {
        let mut random = fastrand::Rng::with_seed(number);
        let count = self.active;
        let from = if self.hot { 0 } else { random.usize(..count) };
        let to = (from + 1 + random.usize(..count - 1)) % count;
        let amount = Amount::new(1 + random.u128(..1_000_000_000_000_000_000));
        let leg = Leg::Move { from: self.accounts[from], to: self.accounts[to], amount };
        // A UUIDv7 begins with the time; a random key with anything. The other half makes each key unique.
        let (first, second) = if random_key { (random.u64(..), number) } else { (number, random.u64(..)) };
        let key = hex([first, second]);
        self.request(Principal::Tables, Namespace::Tables, key, vec![leg])
    }
}

/// Waits until the statement index has caught up, so that it does not run during the next measurement.
pub(super) fn settle(ledger: &Ledger) -> anyhow::Result<()> {
    let reader = Reader::open(ledger.location())?;
    loop {
        let state = reader.index_state()?;
        if state.covered == state.last {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// A measurement of unsound books is worthless.
pub(super) fn close_and_audit(ledger: Ledger) -> anyhow::Result<()> {
    let location = ledger.location().clone();
    ledger.close();
    Audit::new(Reader::open(&location)?).run(|_| {}).context("the books are not sound after the run")?;
    if let Location::Folder(folder) = location {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}

/// Thirty-two digits, quickly: the load shares its cores with the measured books.
pub(super) fn hex(halves: [u64; 2]) -> String {
    let digit = |nibble: u64| char::from(b"0123456789abcdef"[(nibble & 15) as usize]);
    let digits = |half: u64| (0..16).rev().map(move |place| digit(half >> (4 * place)));
    let mut text = String::with_capacity(32);
    text.extend(halves.into_iter().flat_map(digits));
    text
}
