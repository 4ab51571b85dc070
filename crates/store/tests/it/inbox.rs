//! The inbox: facts of other roles, each consumed once, with the money it causes.

use bankroll_ledger::{AccountId, AccountKind, Namespace, Principal, Time};
use bankroll_store::{
    InboxConsumer, InboxRound, InboxRow, Location, NewInboxRow, PAYOUT_EVENTS, RowMeaning, Rows, RowsError,
    RowsLocation, RowsRejection,
};

use bankroll_testkit::postgres;

use crate::world::{World, moving, request};

const NOW: Time = Time(5_000_000);

struct Story {
    world: World,
    custody: AccountId,
    alice: AccountId,
}

impl Story {
    fn new() -> Self {
        let world = World::new();
        let (custody, alice) =
            (world.account(AccountKind::Custody, Some("hot")), world.account(AccountKind::Funds, Some("alice")));
        Self { world, custody, alice }
    }

    /// Hands rows over like another role: into the database, or through the writer where there is only one process.
    fn try_hand_over(&self, rows: &[NewInboxRow]) -> Result<Vec<u64>, RowsError> {
        let location = match &self.world.options.location {
            Location::Folder(_) => RowsLocation::from(self.world.ledger()),
            Location::Postgres(url) => url.clone().into(),
        };
        Rows::open(location).unwrap().write(rows.iter().map(|row| PAYOUT_EVENTS.insert(row)).collect())
    }

    fn hand_over(&self, rows: &[NewInboxRow]) {
        self.try_hand_over(rows).unwrap();
    }

    /// A flow that credits what the row's body says; some bodies are not numbers, and some rows must wait.
    fn consumer(&self, rows_max: usize) -> InboxConsumer {
        let (custody, alice) = (self.custody, self.alice);
        let understand = move |row: &InboxRow| {
            let mut key = bankroll_ledger::IdempotencyKey {
                namespace: Namespace::Deposits,
                scope: bankroll_ledger::Scope::Server(crate::world::name("arena")),
                text: row.subject.clone(),
            };
            match row.body.as_str() {
                "seen" => return RowMeaning::Nothing,
                "early" => return RowMeaning::Later("not final yet".into()),
                "overdrawn" => {
                    key.namespace = Namespace::System;
                    return RowMeaning::Money(Box::new(request(
                        key,
                        Principal::System,
                        vec![moving(alice, custody, 1_000)],
                    )));
                }
                _ => {}
            }
            match row.body.parse() {
                Ok(amount) => {
                    RowMeaning::Money(Box::new(request(key, Principal::Indexer, vec![moving(custody, alice, amount)])))
                }
                Err(_) => RowMeaning::Refused(format!("{:?} is no amount", row.body)),
            }
        };
        InboxConsumer::new(PAYOUT_EVENTS, &["payout.ended"], &self.world.options.location, rows_max, understand)
    }

    fn round(&self, consumer: &mut InboxConsumer) -> InboxRound {
        consumer.round(self.world.ledger(), NOW).unwrap()
    }

    fn states(&self) -> Vec<(String, String)> {
        self.world.pairs("SELECT id, state || ':' || coalesce(reason, '') FROM payout_events ORDER BY id")
    }

    fn funds(&self) -> u128 {
        self.world.balances(self.alice).0
    }
}

/// A row about the intent of the same name.
fn row(id: &str, body: &str) -> NewInboxRow {
    NewInboxRow {
        id: id.into(),
        kind: "payout.ended".into(),
        subject: format!("int-{id}"),
        body: body.into(),
        node: "wallet-1".into(),
        created_at: Time(1_000),
    }
}

fn state(id: &str, state: &str) -> (String, String) {
    (id.into(), state.into())
}

#[test]
fn a_row_is_consumed_once_with_its_money() {
    let story = Story::new();
    let mut consumer = story.consumer(100);
    story.hand_over(&[row("a", "30"), row("b", "12")]);
    assert_eq!(story.round(&mut consumer), InboxRound { applied: 2, refused: 0, later: 0 });
    assert_eq!(story.round(&mut consumer), InboxRound::default());
    assert_eq!(story.funds(), 42);
    assert_eq!(story.states(), [state("a", "applied:"), state("b", "applied:")]);
    let noted = story.world.pairs("SELECT id, CASE WHEN processed_at > 1 THEN 'yes' ELSE 'no' END FROM payout_events");
    assert!(noted.iter().all(|(_, noted)| noted == "yes"), "{noted:?}");
    story.world.audit();
}

#[test]
fn the_same_fact_again_is_one_row_and_another_one_under_its_id_is_refused() {
    let story = Story::new();
    let mut consumer = story.consumer(100);
    story.hand_over(&[row("a", "30")]);
    // By another node, at another time; before it is consumed, and after.
    let again = NewInboxRow { node: "wallet-2".into(), created_at: Time(9_000), ..row("a", "30") };
    story.hand_over(&[again.clone(), row("b", "1")]);
    story.round(&mut consumer);
    story.hand_over(&[again]);
    assert_eq!(story.round(&mut consumer), InboxRound::default());
    assert_eq!(story.funds(), 31);
    let other = story.try_hand_over(&[row("c", "5"), row("a", "31")]);
    assert!(matches!(other, Err(RowsError::Rejected(RowsRejection::Changed { index: 1, changed: 0 }))), "{other:?}");
    assert_eq!(story.round(&mut consumer), InboxRound::default(), "all or none: c was not added");
}

#[test]
fn no_row_is_missed_whatever_the_order_of_ids_and_times() {
    let story = Story::new();
    let mut consumer = story.consumer(2);
    story.hand_over(&[row("m", "1"), row("z", "2"), row("n", "4")]);
    assert_eq!(story.round(&mut consumer).rows(), 2, "bounded");
    // Handed over later, with an earlier id and an earlier time than what is consumed already.
    story.hand_over(&[NewInboxRow { created_at: Time(1), ..row("a", "8") }]);
    assert_eq!(story.round(&mut consumer).rows(), 2);
    assert_eq!(story.round(&mut consumer).rows(), 0);
    assert_eq!(story.funds(), 15);
}

#[test]
fn a_row_that_is_committed_late_is_not_skipped() {
    let story = Story::new();
    // On SQLite every row goes through the writer, one commit after the other.
    let Location::Postgres(url) = &story.world.options.location else { return };
    let mut consumer = story.consumer(100);
    let slow = postgres::Session::open(url.reveal());
    slow.run(
        "BEGIN; INSERT INTO payout_events (id, type, intent_id, body, node, created_at)
         VALUES ('a', 'payout.ended', 'int-a', '5', 'wallet-2', 1)",
    );
    story.hand_over(&[row("b", "10")]);
    assert_eq!(story.round(&mut consumer).applied, 1, "b is there, a is not yet");
    slow.run("COMMIT");
    assert_eq!(story.round(&mut consumer).applied, 1);
    assert_eq!(story.funds(), 15);
}

#[test]
fn a_row_that_cannot_be_applied_is_kept_with_its_reason_and_blocks_no_other() {
    let story = Story::new();
    let mut consumer = story.consumer(100);
    story.hand_over(&[row("a", "lots"), row("b", "overdrawn"), row("c", "7"), row("d", "seen"), row("e", "0")]);
    let unknown = NewInboxRow { kind: "payout.from_the_future".into(), ..row("f", "9") };
    story.hand_over(&[unknown]);
    assert_eq!(story.round(&mut consumer), InboxRound { applied: 2, refused: 3, later: 0 });
    let expected = [
        state("a", "refused:\"lots\" is no amount"),
        state("b", "refused:insufficient_funds"),
        state("c", "applied:"),
        state("d", "applied:"),
        state("e", "refused:amount_zero"),
        state("f", "new:"),
    ];
    assert_eq!(story.states(), expected);
    assert_eq!(story.funds(), 7);
}

#[test]
fn a_row_that_must_wait_is_deferred_and_blocks_no_other() {
    let story = Story::new();
    let mut consumer = story.consumer(1);
    story.hand_over(&[row("a", "early"), row("b", "3")]);
    assert_eq!(story.round(&mut consumer), InboxRound { applied: 0, refused: 0, later: 1 });
    assert_eq!(story.round(&mut consumer), InboxRound { applied: 1, refused: 0, later: 0 });
    assert_eq!(story.states()[0], state("a", "new:not final yet"));
    let later = |micros: u64| Time(NOW.0 + micros);
    let mut at = |micros: u64| consumer.round(story.world.ledger(), later(micros)).unwrap().rows();
    assert_eq!([at(249_999), at(250_000), at(499_999), at(750_000)], [0, 1, 0, 1], "less and less often");
}

#[test]
fn a_round_continues_after_an_interrupted_one() {
    let mut story = Story::new();
    story.hand_over(&[row("a", "10"), row("b", "overdrawn")]);
    assert_eq!(story.round(&mut story.consumer(100)), InboxRound { applied: 1, refused: 1, later: 0 });
    // As if the process had died after the writer decided, and before the row was marked.
    edit(&story, "UPDATE payout_events SET state = 'new', reason = NULL WHERE id = 'b'");
    story.world.reopen();
    let mut consumer = story.consumer(100);
    assert_eq!(story.round(&mut consumer), InboxRound { applied: 0, refused: 1, later: 0 });
    assert_eq!(story.states()[1], state("b", "refused:insufficient_funds"), "the stored answer, not a second try");

    // An operator edits a consumed row: its money does not move again.
    edit(&story, "UPDATE payout_events SET state = 'new' WHERE id = 'a'");
    assert_eq!(story.round(&mut consumer), InboxRound { applied: 0, refused: 1, later: 0 });
    assert!(story.states()[0].1.starts_with("refused:its money was moved before by record "), "{:?}", story.states());
    assert_eq!(story.funds(), 10);
}

/// As an operator with a shell could.
fn edit(story: &Story, sql: &str) {
    let statement = bankroll_store::Statement { sql: sql.into(), values: Vec::new(), must_change: Some(1) };
    story.world.ledger().write_rows(vec![statement]).unwrap().wait().unwrap().unwrap();
}
