//! Facts: rows of flows in the commit of the money.

use std::time::{Duration, Instant};

use bankroll_ledger::{
    AccountKind, Amount, ColumnValue, Event, Fact, Guard, GuardFailure, Namespace, Rejection, RowKey, Seq,
};
use bankroll_store::{Audit, Migrations, Statement, StoreError, SubmitFailure};
use bankroll_testkit::postgres;

use crate::world::{World, game_server, moving, name, request};

const DEPOSITS: Migrations = Migrations {
    owner: "deposits",
    steps: &[
        "CREATE TABLE deposits (id TEXT PRIMARY KEY, ledger_state TEXT NOT NULL CHECK (ledger_state <> 'odd'), amount AMOUNT) WITHOUT ROWID",
    ],
    postgres: &[
        "CREATE TABLE deposits (id text PRIMARY KEY, ledger_state text NOT NULL CHECK (ledger_state <> 'odd'), \
                 amount numeric(39, 0))",
    ],
};

fn world() -> World {
    World::with(|options| options.migrations = vec![DEPOSITS])
}

fn deposit_row(id: &str) -> RowKey {
    RowKey { table: "deposits".into(), columns: vec![("id".into(), ColumnValue::Text(id.into()))] }
}

fn state(text: &str) -> (String, ColumnValue) {
    ("ledger_state".into(), ColumnValue::Text(text.into()))
}

fn fact(id: &str, guard: Guard, set: Vec<(String, ColumnValue)>) -> Fact {
    Fact { row: deposit_row(id), guard, otherwise: GuardFailure::Conflict, set }
}

fn stored(world: &World) -> Vec<(String, String)> {
    world.pairs("SELECT id, ledger_state FROM deposits ORDER BY id")
}

#[test]
fn facts_of_one_request_about_one_row_are_decided_by_the_row_before_them_and_all_written() {
    let world = world();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let ask = |facts: Vec<Fact>| {
        let mut request = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 10)]);
        request.facts = facts;
        world.ledger().apply(request).unwrap()
    };
    assert!(ask(vec![fact("d1", Guard::Absent, vec![state("none")])]).effects().is_ok());
    let from_none = |to: &str| fact("d1", Guard::Is(vec![state("none")]), vec![state(to)]);
    assert!(ask(vec![from_none("suspense"), from_none("credited")]).effects().is_ok());
    assert_eq!(stored(&world), [("d1".into(), "credited".into())]);
    world.audit();
}

/// An attacker with access to the database edits columns that money depends on. Columns that no fact has set belong
/// to the flow.
#[test]
fn an_audit_finds_the_row_that_is_not_as_facts_have_left_it() {
    let world = world();
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    let ask = |facts: Vec<Fact>| {
        let mut request = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
        request.facts = facts;
        let answer = world.ledger().apply(request).unwrap();
        assert!(answer.effects().is_ok());
        answer.seq.unwrap()
    };
    let amount = ("amount".to_owned(), ColumnValue::Amount(Amount::MAX));
    for id in 0..300 {
        ask(vec![fact(&format!("d{id}"), Guard::Absent, vec![state("none")])]);
    }
    let last = ask(vec![fact("d200", Guard::Is(vec![state("none")]), vec![state("credited"), amount])]);
    let edit = |sql: &str| {
        let edit = Statement { sql: sql.into(), values: Vec::new(), must_change: Some(1) };
        world.ledger().write_rows(vec![edit]).unwrap().wait().unwrap().unwrap();
    };
    edit("UPDATE deposits SET amount = 7 WHERE id = 'd299'");
    assert_eq!(world.audit().flow_rows, 300, "no fact has set that amount");
    let found = || match Audit::new(world.reader()).run(|_| {}) {
        Err(StoreError::Diverged { at, what }) => (at, what),
        other => panic!("{other:?}"),
    };
    let state_of = |id: &str| format!("ledger_state of row {id} of deposits is not what the journal says it is");
    edit("UPDATE deposits SET ledger_state = 'none' WHERE id = 'd200'");
    assert_eq!(found(), (last, state_of("d200")));
    edit("UPDATE deposits SET ledger_state = 'credited' WHERE id = 'd200'");
    edit("UPDATE deposits SET amount = amount - 1 WHERE id = 'd200'");
    assert_eq!(found(), (last, "amount of row d200 of deposits is not what the journal says it is".into()));
    edit("UPDATE deposits SET ledger_state = 'credited' WHERE id = 'd7'");
    assert_eq!(found().1, state_of("d7"), "the first difference");
    edit("DELETE FROM deposits WHERE id = 'd6'");
    assert_eq!(found().1, "row d6 of deposits is in the journal and not in its table");
}

#[test]
fn a_row_and_the_money_are_one_commit_and_the_guard_lets_it_happen_once() {
    let world = world();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let spend = |fact: Fact| {
        let mut request = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 10)]);
        request.facts = vec![fact];
        world.ledger().apply(request).unwrap()
    };
    let amount = ("amount".to_owned(), ColumnValue::Amount(Amount::new(10)));
    assert!(spend(fact("d1", Guard::Absent, vec![state("none"), amount.clone()])).effects().is_ok());
    assert_eq!(spend(fact("d1", Guard::Absent, vec![state("none")])).effects(), Err(Rejection::GuardFailed));
    let credit = || fact("d1", Guard::Is(vec![state("none"), amount.clone()]), vec![state("credited")]);
    assert!(spend(credit()).effects().is_ok());
    assert_eq!(spend(credit()).effects(), Err(Rejection::GuardFailed));
    assert_eq!(stored(&world), [("d1".into(), "credited".into())]);
    assert_eq!(world.balances(alice), (80, 0));
    world.audit();
}

#[test]
fn a_failed_guard_or_constraint_rejects_its_own_request_and_nothing_else_in_its_batch() {
    let world = world();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let spend = |facts: Vec<Fact>| {
        let mut request = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
        request.facts = facts;
        request
    };
    let call = vec![
        spend(vec![fact("a", Guard::Absent, vec![state("new")])]),
        spend(vec![fact("a", Guard::Absent, vec![state("new")])]),
        spend(vec![fact("b", Guard::Absent, vec![state("odd")])]),
        spend(vec![]),
        spend(vec![fact("c", Guard::Absent, vec![("no_such_column".into(), ColumnValue::Null)])]),
        spend(vec![fact("a", Guard::Is(vec![state("new")]), vec![state("old")])]),
        spend(vec![Fact {
            row: RowKey { table: "balances".into(), ..deposit_row("x") },
            ..fact("x", Guard::Absent, vec![state("x")])
        }]),
    ];
    let answers = world.ledger().submit(call.clone()).unwrap().wait().unwrap();
    let outcomes: Vec<_> = answers.iter().map(|answer| answer.effects().err()).collect();
    let refused = Some(Rejection::FactRefused);
    assert_eq!(outcomes, [None, Some(Rejection::GuardFailed), refused, None, refused, None, refused]);
    assert_eq!(stored(&world), [("a".into(), "old".into())]);
    assert_eq!(world.balances(alice), (97, 0));
    let again = world.ledger().submit(call).unwrap().wait().unwrap();
    assert!(again.iter().all(|answer| answer.replayed));
    world.audit();
}

#[test]
fn a_paused_server_is_not_remembered() {
    let world = world();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let pause = |text: &str| Statement {
        sql: "INSERT INTO deposits (id, ledger_state) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET ledger_state = $2"
            .into(),
        values: vec![ColumnValue::Text("server".into()), ColumnValue::Text(text.into())],
        must_change: Some(1),
    };
    world.ledger().write_rows(vec![pause("paused")]).unwrap().wait().unwrap().unwrap();
    let mut spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
    spend.facts =
        vec![Fact { otherwise: GuardFailure::Paused, ..fact("server", Guard::Is(vec![state("active")]), vec![]) }];
    let answer = world.ledger().apply(spend.clone()).unwrap();
    assert_eq!((answer.seq, answer.effects()), (None, Err(Rejection::ServerPaused)));
    world.ledger().write_rows(vec![pause("active")]).unwrap().wait().unwrap().unwrap();
    assert!(world.ledger().apply(spend).unwrap().effects().is_ok());
}

#[test]
fn events_are_announced_with_the_request_that_was_applied() {
    let world = world();
    let (alice, arena) = (world.player("alice", 10), world.account(AccountKind::World, None));
    let event = |number: u8| Event {
        kind: name("spawn.committed"),
        resource: format!("spawn-{number}"),
        body: format!("{{\"number\":{number}}}"),
    };
    let spend = |amount: u128| {
        let mut request =
            request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, amount)]);
        request.events = vec![event(1), event(2)];
        world.ledger().apply(request).unwrap()
    };
    let applied = spend(10);
    assert_eq!(spend(10).effects(), Err(Rejection::InsufficientFunds));
    let events = world.reader().events_after(Seq(0), 100).unwrap();
    let seen: Vec<_> = events.iter().map(|event| (event.seq, event.place, event.resource.as_str())).collect();
    let seq = applied.seq.unwrap();
    assert_eq!(seen, [(seq, 0, "spawn-1"), (seq, 1, "spawn-2")]);
}

#[test]
fn flows_keep_their_tables_over_a_restart() {
    let mut world = world();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    world.reopen();
    let mut spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
    spend.facts = vec![fact("a", Guard::Absent, vec![state("new")])];
    assert!(world.ledger().apply(spend).unwrap().effects().is_ok());
    assert_eq!(stored(&world), [("a".into(), "new".into())]);
}

#[test]
fn a_row_that_another_role_changes_after_the_decision_is_not_written() {
    let world = world();
    let bankroll_store::Location::Postgres(url) = &world.options.location else { return };
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let made = Statement {
        sql: "INSERT INTO deposits (id, ledger_state) VALUES ('d1', 'none')".into(),
        values: vec![],
        must_change: Some(1),
    };
    world.ledger().write_rows(vec![made]).unwrap().wait().unwrap().unwrap();
    // Another role is in the middle of changing the row: the decision still sees it as it was, and the write waits.
    let role = postgres::Session::open(url.reveal());
    role.run("BEGIN; UPDATE deposits SET ledger_state = 'orphaned' WHERE id = 'd1'");
    let mut spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 10)]);
    spend.facts = vec![fact("d1", Guard::Is(vec![state("none")]), vec![state("credited")])];
    let reply = world.ledger().submit(vec![spend]).unwrap();
    let watcher = postgres::Session::open(url.reveal());
    let deadline = Instant::now() + Duration::from_secs(60);
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while watcher.count(waiting) == 0 {
        assert!(Instant::now() < deadline, "the write never came");
        std::thread::yield_now();
    }
    role.run("COMMIT");
    let answers = reply.wait().unwrap();
    // Not written, and decided again by the row as it is now.
    assert_eq!(answers[0].effects(), Err(Rejection::GuardFailed));
    assert_eq!(stored(&world), [("d1".into(), "orphaned".into())]);
    assert_eq!(world.balances(alice), (100, 0));
    world.audit();
}

/// A client that forgot to end its transaction keeps one row locked; only requests for that row wait, the books go on.
#[test]
fn a_row_that_an_operator_keeps_locked_blocks_its_own_request_and_not_the_books() {
    let world = World::with(|options| {
        options.migrations = vec![DEPOSITS];
        options.lease = Duration::from_secs(2);
    });
    let bankroll_store::Location::Postgres(url) = &world.options.location else { return };
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let spend = |facts| {
        let mut spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 10)]);
        spend.facts = facts;
        spend
    };
    world.ledger().apply(spend(vec![fact("d1", Guard::Absent, vec![state("none")])])).unwrap().effects().unwrap();
    let forgotten = postgres::Session::open(url.reveal());
    forgotten.run("BEGIN; UPDATE deposits SET ledger_state = 'none' WHERE id = 'd1'");
    let credit = spend(vec![fact("d1", Guard::Is(vec![state("none")]), vec![state("credited")])]);
    let (sender, receiver) = std::sync::mpsc::channel();
    let reply = world.ledger().submit(vec![credit.clone()]).unwrap();
    std::thread::spawn(move || sender.send(reply.wait()));
    let outcome = receiver.recv_timeout(Duration::from_secs(60)).expect("the books wait for the locked row");
    assert_eq!(outcome, Err(SubmitFailure::Locked));
    world.ledger().apply(spend(Vec::new())).unwrap().effects().unwrap();
    forgotten.run("ROLLBACK");
    let answer = world.ledger().apply(credit).unwrap();
    assert_eq!((answer.replayed, answer.effects().is_ok()), (false, true), "the refusal was not stored");
    assert_eq!(stored(&world), [("d1".into(), "credited".into())]);
    world.audit();
}

/// A row that is edited before a decision and set by the facts after it looks right in the end; the decision was not.
#[test]
fn an_audit_decides_guards_again_by_the_facts_before_them() {
    for (id, edit, guard) in [
        ("d1", Some("UPDATE deposits SET ledger_state = 'none' WHERE id = 'd1'"), Guard::Is(vec![state("none")])),
        ("d1", Some("DELETE FROM deposits WHERE id = 'd1'"), Guard::Absent),
        ("d1", None, Guard::Is(vec![state("credited")])),
        // No fact has made this row, so whether the guard held cannot be decided again.
        ("d2", Some("INSERT INTO deposits (id, ledger_state) VALUES ('d2', 'none')"), Guard::Is(vec![state("none")])),
    ] {
        let world = world();
        let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
        let ask = |facts: Vec<Fact>| {
            let mut request = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
            request.facts = facts;
            let answer = world.ledger().apply(request).unwrap();
            assert!(answer.effects().is_ok(), "{edit:?}");
            answer.seq.unwrap()
        };
        ask(vec![fact("d1", Guard::Absent, vec![state("credited")])]);
        if let Some(sql) = edit {
            let edit = Statement { sql: sql.into(), values: Vec::new(), must_change: Some(1) };
            world.ledger().write_rows(vec![edit]).unwrap().wait().unwrap().unwrap();
        }
        let decided = ask(vec![fact(id, guard.clone(), vec![state("reversed")])]);
        let audited = Audit::new(world.reader()).run(|_| {});
        match (edit.is_some() && id == "d1", audited) {
            (true, Err(StoreError::Diverged { at, what })) => {
                assert_eq!(at, decided, "{what}");
                assert!(what.contains("its guard") && what.contains("d1"), "{what}");
            }
            (false, Ok(_)) => {}
            (_, other) => panic!("{edit:?}: {other:?}"),
        }
    }
}
