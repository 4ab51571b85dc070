//! What the interview asks, read from undamaged books.

use bankroll_ledger::{Account, AccountId, AccountKind, Action, HoldId, Leg, Record, Request, Seq, Time};
use bankroll_store::{AccountFilter, JournalHead, Location, Reader, StoreError};
use fastrand::Rng;

/// The subjects of an interview.
pub(super) struct Questions {
    pub rng: Rng,
    pub head: JournalHead,
    pub accounts: Vec<Account>,
    /// All requests, with their places.
    pub decided: Vec<(Seq, Request)>,
}

impl Questions {
    pub fn read(undamaged: &Location, seed: u64) -> Result<Self, StoreError> {
        let reader = Reader::open(undamaged)?;
        let head = reader.head()?;
        let entries = reader.journal_after(Seq(0), usize::MAX)?;
        let decided = entries.into_iter().filter_map(|entry| match entry.record {
            Record::Decided { request, .. } => Some((entry.seq, request)),
            _ => None,
        });
        let decided = decided.collect();
        let accounts = reader.accounts(&AccountFilter::default(), usize::MAX)?;
        Ok(Self { rng: Rng::with_seed(seed), head, accounts, decided })
    }

    /// Later than everything in the books.
    pub fn now(&self) -> Time {
        Time(self.head.at.0 + 1_000)
    }

    /// The newest requests, and as many at random.
    pub fn replays(&mut self, count: usize) -> Vec<Request> {
        let newest = self.decided.iter().rev().take(count).map(|(_, request)| request.clone());
        let mut all: Vec<Request> = newest.collect();
        all.extend((0..count).map(|_| self.decided[self.rng.usize(..self.decided.len())].1.clone()));
        all
    }

    /// Accounts of players with their money.
    pub fn some_players(&mut self, count: usize) -> Vec<AccountId> {
        let players = self.accounts.iter().filter(|account| account.name.kind == AccountKind::Funds);
        self.rng.choose_multiple(players.map(|account| account.id), count)
    }

    /// Places of records: the last one, and some at random.
    pub fn some_places(&mut self, count: usize) -> Vec<Seq> {
        let last = self.head.seq;
        (0..count).map(|_| Seq(self.rng.u64(1..=last.0))).chain([last]).collect()
    }

    /// Holds in any state.
    pub fn some_holds(&mut self, count: usize) -> Vec<HoldId> {
        let holds = |(seq, request): &(Seq, Request)| match &request.action {
            Action::Legs(legs) => legs
                .iter()
                .zip(0..)
                .filter(|(leg, _)| matches!(leg, Leg::Hold { .. }))
                .map(|(_, place)| HoldId::of(*seq, place))
                .collect(),
            Action::Reverse(_) => Vec::new(),
        };
        let all: Vec<HoldId> = self.decided.iter().flat_map(holds).collect();
        self.rng.choose_multiple(all, count)
    }

    /// Originals that a request reversed, and deposits, reversed or not.
    pub fn some_originals(&mut self, count: usize) -> Vec<Seq> {
        let reversed = |(_, request): &(Seq, Request)| match request.action {
            Action::Reverse(original) => Some(original),
            Action::Legs(_) => None,
        };
        let reversed: Vec<Seq> = self.decided.iter().filter_map(reversed).collect();
        let mut some = self.rng.choose_multiple(reversed, count);
        let deposits = self.decided.iter().filter(|(_, request)| !request.facts.is_empty()).map(|(seq, _)| *seq);
        some.extend(self.rng.choose_multiple(deposits, count));
        some
    }
}
