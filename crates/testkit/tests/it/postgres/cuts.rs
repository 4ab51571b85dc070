//! The connection cut before, in the middle of and after every message of a commit, in both directions.

use std::collections::BTreeMap;

use bankroll_ledger::{AccountId, Event, Fact, Guard, GuardFailure, RowKey};
use bankroll_ledger::{
    Action, Amount, ColumnValue, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope, Settler,
};
use bankroll_store::{DatabaseUrl, LedgerOptions, Reader, Statement, SubmitError, SubmitFailure, SubmitRefusal};
use bankroll_testkit::{
    postgres,
    script::{SET_UP_RECORDS, options},
    streams::name,
};

use super::{
    cluster::Cluster,
    proxy::{Cut, Manner, Proxy, Side},
    service::{Call, Service, journal},
};
use crate::run::{is_soak, report, seed};

const CUSTODY: AccountId = AccountId(1);
const ALICE: AccountId = AccountId(5);

/// What is in flight when the connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Batch {
    /// Plain money, committed by the commit thread.
    Plain,
    /// Money with a hold, a row of a flow and an event, committed by the writer itself.
    WithFacts,
    /// Rows of a flow only, which have no record.
    RowsOnly,
}

/// The messages of a usual run: all, but one in three where there are most; in a soak all.
fn is_tried(batch: Batch, number: usize) -> bool {
    let one_in = match batch {
        Batch::Plain | Batch::RowsOnly => 1,
        Batch::WithFacts => 3,
    };
    is_soak() || (number as u64).wrapping_add(seed()).is_multiple_of(one_in)
}

struct Story {
    cluster: Cluster,
    proxy: Proxy,
    service: Service,
    reader: Reader,
    next: u64,
    calls: Vec<Call>,
    /// Outcomes of the calls whose connection was cut.
    outcomes: BTreeMap<&'static str, u64>,
    /// Cut points by message and manner.
    points: BTreeMap<(Side, String, Manner), u64>,
}

impl Story {
    fn begin() -> Self {
        let cluster = Cluster::start();
        let proxy = Proxy::to(cluster.port());
        let url = cluster.url("books").replace(&cluster.port().to_string(), &proxy.port().to_string());
        // Long, so that neither a renewal nor the statement index adds to the counted messages.
        let long = std::time::Duration::from_secs(120);
        let options =
            LedgerOptions { lease: long, index_pause: long, index_records_max: 1 << 20, ..options(&url, 1 << 20) };
        let service = Service::open(options);
        let reader = Reader::open(DatabaseUrl::new(cluster.url("books"))).unwrap();
        let (calls, outcomes, points) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { cluster, proxy, service, reader, next: 1, calls, outcomes, points }
    }

    fn request(&mut self, batch: Batch) -> Request {
        let text = format!("cut-{}", self.next);
        self.next += 1;
        let key =
            IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::Server(name("arena")), text: text.clone() };
        let amount = Amount::new(10);
        let mut legs = vec![Leg::Move { from: CUSTODY, to: ALICE, amount }];
        let (mut facts, mut events) = (Vec::new(), Vec::new());
        let mut principal = Principal::Indexer;
        let mut namespace = Namespace::Deposits;
        if batch == Batch::WithFacts {
            facts.push(Fact {
                row: RowKey { table: "deposits".into(), columns: vec![("id".into(), ColumnValue::Text(text.clone()))] },
                guard: Guard::Absent,
                otherwise: GuardFailure::Conflict,
                set: vec![("amount".into(), ColumnValue::Amount(amount))],
            });
            events.push(Event { kind: name("deposit.credited"), resource: text, body: "{}".into() });
        } else if self.next.is_multiple_of(2) && !self.calls.is_empty() {
            // Sometimes a hold instead.
            principal = Principal::System;
            namespace = Namespace::Payouts;
            legs = vec![Leg::Hold { account: ALICE, amount: Amount::new(1), expires: None, settler: Settler::System }];
        }
        let key = IdempotencyKey { namespace, ..key };
        let references = References::default();
        Request { key, principal, confirmation: None, action: Action::Legs(legs), references, facts, events }
    }

    /// Makes a call whose connection is cut there; `false` if it has fewer messages.
    fn cut_money(&mut self, batch: Batch, cut: Cut) -> bool {
        let request = self.request(batch);
        let before = self.reader.head().unwrap().seq;
        self.proxy.arm(cut);
        let outcomes = self.service.try_once(vec![request.clone()]);
        let fired = self.proxy.disarm();
        let what = format!("{batch:?} {cut:?} at {fired:?}");
        let there = journal(&self.reader, before.next()).contains_key(&request.key);
        let mut failures = Vec::new();
        let answers = match outcomes {
            Ok(answers) => {
                assert!(there && !answers[0].replayed, "{what}: {answers:?}, in the journal: {there}");
                answers
            }
            Err(failure) => {
                let is_unknown = failure == SubmitError::Failed(SubmitFailure::Unknown);
                assert!(is_unknown || !there, "{what}: failed with {failure:?}, but it is in the journal");
                self.service.revive();
                failures.push(failure);
                self.service.make(vec![request.clone()]).answers
            }
        };
        self.note(cut, failures.first(), fired.as_deref());
        self.calls.push(Call { requests: vec![request], failures, answers });
        fired.is_some()
    }

    /// The same for rows of a flow without money.
    fn cut_rows(&mut self, cut: Cut) -> bool {
        let id = format!("note-{}", self.next);
        self.next += 1;
        let row = || Statement {
            sql: "INSERT INTO notes (id) VALUES ($1)".into(),
            values: vec![ColumnValue::Text(id.clone())],
            must_change: Some(1),
        };
        self.proxy.arm(cut);
        let write = |row| Ok::<_, SubmitError>(self.service.ledger().write_rows(vec![row])?.wait()?);
        let outcomes = write(row());
        let fired = self.proxy.disarm();
        let what = format!("rows {cut:?} at {fired:?}");
        let rows = format!("SELECT id, id FROM notes WHERE id = '{id}'");
        let there = postgres::pairs(&DatabaseUrl::new(self.cluster.url("books")), &rows).len();
        match &outcomes {
            Ok(changed) => assert_eq!((changed, there), (&Ok(vec![1]), 1), "{what}"),
            Err(SubmitError::Failed(SubmitFailure::Unknown)) => self.service.revive(),
            Err(failure) => {
                assert_eq!(there, 0, "{what}: failed with {failure:?}, but the row exists");
                self.service.revive();
                assert_eq!(write(row()).unwrap(), Ok(vec![1]), "{what}");
            }
        }
        self.note(cut, outcomes.as_ref().err(), fired.as_deref());
        fired.is_some()
    }

    fn note(&mut self, cut: Cut, failure: Option<&SubmitError>, fired: Option<&str>) {
        let Some(message) = fired else { return };
        let outcomes = match failure {
            None => "answered",
            Some(SubmitError::Failed(SubmitFailure::Unreachable)) => "nothing happened",
            Some(SubmitError::Failed(SubmitFailure::Unknown)) => "unknown",
            Some(SubmitError::Refused(SubmitRefusal::Stopped)) => "refused",
            Some(other) => panic!("{other:?}"),
        };
        *self.outcomes.entry(outcomes).or_default() += 1;
        *self.points.entry((cut.side, message.to_owned(), cut.manner)).or_default() += 1;
    }

    fn cut(&mut self, batch: Batch, cut: Cut) -> bool {
        if batch == Batch::RowsOnly { self.cut_rows(cut) } else { self.cut_money(batch, cut) }
    }

    fn cut_everywhere(&mut self, batch: Batch) {
        for (side, manner) in [
            (Side::Writer, Manner::Lost),
            (Side::Writer, Manner::Half),
            (Side::Writer, Manner::Delivered),
            (Side::Writer, Manner::Late),
            (Side::Server, Manner::Lost),
            (Side::Server, Manner::Half),
            (Side::Server, Manner::Delivered),
        ] {
            for number in (0..).filter(|number| is_tried(batch, *number)) {
                let fired = self.cut(batch, Cut { side, number, manner });
                if !fired {
                    break;
                }
                // A call that is not cut: a new connection prepares its statements first, and the next cut must count
                // only the messages of a commit.
                self.cut(batch, Cut { side, number: usize::MAX, manner });
            }
        }
    }

    /// How often the connection was cut at this message in this manner.
    fn times(&self, side: Side, message: &str, manner: Manner) -> u64 {
        let at = |(found, _): &(&(Side, String, Manner), &u64)| {
            found.0 == side && found.1.ends_with(message) && found.2 == manner
        };
        self.points.iter().filter(at).map(|(_, times)| times).sum()
    }

    fn finish(self, batch: Batch) {
        let found = self.service.reckon(&self.calls, "after every cut");
        let points: u64 = self.points.values().sum();
        report(&format!(
            "postgres cuts (seed {}), {batch:?}: {points} cut points at {} kinds of message; outcomes: {:?}; {found}; writer stopped {} times",
            seed(),
            self.points.len(),
            self.outcomes,
            self.service.stops().len(),
        ));
        assert!(points >= if is_soak() && batch != Batch::Plain { 60 } else { 20 }, "only {points} cut points");
        self.service.close();
    }
}

/// Every manner of cut at the message that commits, and at its answer, was tried.
fn commit_was_cut(story: &Story, commit: &str, answer: &str) {
    for manner in [Manner::Lost, Manner::Half, Manner::Delivered, Manner::Late] {
        assert!(story.times(Side::Writer, commit, manner) > 0, "{commit} was not cut {manner:?}");
    }
    for manner in [Manner::Lost, Manner::Half, Manner::Delivered] {
        assert!(story.times(Side::Server, answer, manner) > 0, "{answer} was not cut {manner:?}");
    }
}

#[test]
fn postgres_cut_off_at_every_message_of_plain_money() {
    let mut story = Story::begin();
    story.cut_everywhere(Batch::Plain);
    // One statement, which the server commits when it reads the end of the messages.
    commit_was_cut(&story, "Sync", "ReadyForQuery");
    // Both occur: a call lost before that has no effect, a call lost after it is found and answered.
    assert!(story.outcomes["nothing happened"] > 0 && story.outcomes["answered"] > 0, "{:?}", story.outcomes);
    story.finish(Batch::Plain);
}

#[test]
fn postgres_cut_off_among_the_messages_of_facts_and_holds() {
    let mut story = Story::begin();
    story.cut_everywhere(Batch::WithFacts);
    story.finish(Batch::WithFacts);
}

#[test]
fn postgres_cut_off_among_the_messages_of_rows_alone() {
    let mut story = Story::begin();
    story.cut_everywhere(Batch::RowsOnly);
    commit_was_cut(&story, "COMMIT", "COMMIT");
    assert_eq!(story.reader.head().unwrap().seq.0, SET_UP_RECORDS, "rows leave no record");
    story.finish(Batch::RowsOnly);
}
