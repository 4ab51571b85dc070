//! A small world: books with the table of alerts, conditions that a story begins and ends, and a clock that it moves.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bankroll_alerts::{
    ALERTS, Alert, AlertAct, AlertCondition, AlertKind, AlertObservation, AlertRound, AlertWatch, round,
    views::{self, AlertFilter},
};
use bankroll_ledger::{
    Action, Event, Fact, IdempotencyKey, Namespace, Principal, References, Request, Scope, Seq, Time,
};
use bankroll_store::{Audit, Clock, Ledger, LedgerOptions, Location, Reader, StoreError};
use bankroll_testkit::postgres;
use tempfile::TempDir;

pub const SECOND: u64 = 1_000_000;
pub const MINUTE: u64 = 60 * SECOND;

pub struct World {
    _folder: TempDir,
    options: LedgerOptions,
    open: Option<Ledger>,
    pub watch: AlertWatch,
    clock: Arc<AtomicU64>,
    acts: u64,
}

/// A condition whose summary says its number of items.
pub fn condition(kind: AlertKind, subject: &str, items: u64) -> AlertCondition {
    AlertCondition::new(kind, subject, &format!("{items} of {subject}")).about(items)
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = postgres::new_database().unwrap_or_else(|| folder.path().into());
        let (clock, now) = Clock::manual(Time(1_000 * SECOND));
        let options = LedgerOptions { clock, migrations: vec![ALERTS], ..LedgerOptions::new(location) };
        let watch = AlertWatch::default();
        let mut world = Self { _folder: folder, options, open: None, watch, clock: now, acts: 0 };
        world.restart();
        world
    }

    /// The process dies, and another one opens the books: it remembers no condition.
    pub fn restart(&mut self) {
        self.open.take().into_iter().for_each(Ledger::close);
        self.open = Some(Ledger::open_or_create(self.options.clone()).unwrap());
        self.watch = AlertWatch::default();
    }

    pub fn ledger(&self) -> &Ledger {
        self.open.as_ref().unwrap()
    }

    pub fn location(&self) -> &Location {
        self.ledger().location()
    }

    pub fn reader(&self) -> Reader {
        Reader::open(self.location().clone()).unwrap()
    }

    pub fn now(&self) -> Time {
        Time(self.clock.load(Ordering::SeqCst))
    }

    pub fn pass(&self, micros: u64) {
        self.clock.fetch_add(micros, Ordering::SeqCst);
    }

    /// One round in which these conditions hold, and all others of their kind do not.
    pub fn observe(&mut self, kind: AlertKind, conditions: Vec<AlertCondition>) -> AlertRound {
        self.round(&[AlertObservation::all(kind, conditions)])
    }

    pub fn round(&mut self, observations: &[AlertObservation]) -> AlertRound {
        let (reader, now) = (self.reader(), self.now());
        let ledger = self.open.as_ref().unwrap();
        round(ledger, &reader, &mut self.watch, observations, now).unwrap()
    }

    /// What a round wrote: `opened alice 3`.
    pub fn wrote(round: &AlertRound) -> Vec<String> {
        let line = |change: &bankroll_alerts::AlertChange| {
            let alert = change.alert();
            format!("{} {} {}", change.verb(), alert.subject, alert.items)
        };
        round.written.iter().map(line).collect()
    }

    /// A person acts, through a request of their own.
    pub fn act(&mut self, act: AlertAct, alert: &Alert, by: &str) -> bool {
        let Ok(Some(change)) = act.decide(alert, by, self.now()) else { return false };
        self.acts += 1;
        self.submit(by, change.facts(), change.events())
    }

    fn submit(&self, by: &str, facts: Vec<Fact>, events: Vec<Event>) -> bool {
        let request = Request {
            key: IdempotencyKey {
                namespace: Namespace::Registry,
                scope: Scope::House,
                text: format!("admin/{by}/key/{}", self.acts),
            },
            principal: Principal::Admin(by.parse().unwrap()),
            confirmation: None,
            action: Action::Legs(Vec::new()),
            references: References::default(),
            facts,
            events,
        };
        self.ledger().apply(request).unwrap().effects().is_ok()
    }

    pub fn all(&self) -> Vec<Alert> {
        let reader = self.reader();
        let mut all = Vec::new();
        for state in bankroll_alerts::AlertState::ALL {
            let filter = AlertFilter { state: Some(state), ..AlertFilter::default() };
            all.extend(views::list(&reader, &filter, 10_000).unwrap());
        }
        all.sort_by(|a, b| (a.opened_at, &a.subject).cmp(&(b.opened_at, &b.subject)));
        all
    }

    /// Each alert as a line: subject, opening, state, items, and who acknowledged and closed it.
    pub fn lines(&self) -> Vec<String> {
        let line = |alert: &Alert| {
            let acknowledged = alert.acknowledged.as_ref().map_or(String::new(), |(_, by)| format!(", seen by {by}"));
            let closed = match &alert.closed {
                None => String::new(),
                Some((_, None)) => ", by itself".to_owned(),
                Some((_, Some(by))) => format!(", by {by}"),
            };
            format!("{} #{} {} {}{acknowledged}{closed}", alert.subject, alert.opening, alert.items, alert.state)
        };
        self.all().iter().map(line).collect()
    }

    /// The kinds of all events, in order.
    pub fn events(&self) -> Vec<String> {
        let events = self.reader().events_after(Seq(0), 10_000).unwrap();
        events.iter().map(|event| event.kind.clone()).collect()
    }

    pub fn audit(&self) -> Result<(), StoreError> {
        Audit::new(self.reader()).run(|_| {}).map(drop)
    }
}
