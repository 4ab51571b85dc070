//! Edge cases that the random streams, or a review of the store, have found: one test each.

use bankroll_ledger::{
    AccountId, AccountKind, Action, Amount, ColumnValue, Confirmation, Fact, Guard, GuardFailure, HoldId, Leg,
    Principal, Request, RowKey, Seq, Time,
};
use bankroll_store::{RowsRejection, Statement};
use bankroll_testkit::streams::name;

use crate::{
    races::ticket,
    world::{World, code_of, holding, moving},
};

fn reversal(world: &World, principal: Principal, original: u64) -> Request {
    Request { action: Action::Reverse(Seq(original)), ..world.request(principal, Vec::new()) }
}

#[test]
fn a_request_can_be_reversed_in_the_same_batch() {
    let world = World::new();
    let (custody, alice) = (world.account(AccountKind::Custody, Some("hot")), world.player("alice", 0));
    let next = world.reader().head().unwrap().seq.0 + 1;
    let batch = vec![
        world.deposit(custody, alice, 50),
        reversal(&world, Principal::GameServer(name("arena")), next),
        reversal(&world, Principal::Indexer, next),
        reversal(&world, Principal::Indexer, next),
        reversal(&world, Principal::Indexer, next + 4),
    ];
    let verdicts: Vec<_> = world.submit_all(batch).iter().map(code_of).collect();
    assert_eq!(verdicts, ["applied", "not_allowed", "applied", "already_reversed", "transfer_not_found"]);
    assert_eq!((world.balance_and_held(custody), world.balance_and_held(alice)), ((0, 0), (0, 0)));
    world.audit();
}

#[test]
fn books_with_tables_of_flows_open_again_and_their_facts_are_still_taken() {
    let mut world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    world.reopen();
    let request = Request { facts: vec![ticket(1, "open")], ..world.play(vec![moving(alice, arena, 1)]) };
    assert_eq!(code_of(&world.submit(request)), "applied");
}

#[test]
fn a_hold_that_ends_beyond_all_time_is_sound() {
    let mut world = World::new();
    let alice = world.player("alice", 100);
    let ends = [u64::MAX, i64::MAX.cast_unsigned(), i64::MAX.cast_unsigned() + 1];
    for expires in ends {
        assert_eq!(code_of(&world.submit(world.play(vec![holding(alice, 10, Some(expires))]))), "applied");
    }
    world.reopen();
    // A time after the year 294,247 means never.
    let stored: Vec<_> = world.reader().open_holds(alice).unwrap().iter().map(|hold| hold.expires).collect();
    assert_eq!(stored, [None, Some(Time(i64::MAX.cast_unsigned())), None]);
    world.audit();
}

#[test]
fn a_sum_over_wallets_may_leave_128_bits_and_the_audit_still_agrees() {
    let world = World::new();
    let (alice, bob) = (world.player("alice", 0), world.player("bob", 0));
    for (wallet, player) in [("hot", alice), ("cold", bob)] {
        let custody = world.account(AccountKind::Custody, Some(wallet));
        assert_eq!(code_of(&world.submit(world.deposit(custody, player, u128::MAX))), "applied");
    }
    assert_eq!((world.balance_and_held(alice), world.balance_and_held(bob)), ((u128::MAX, 0), (u128::MAX, 0)));
    world.audit();
}

#[test]
fn a_fact_about_a_table_or_column_that_is_not_there_rejects_its_own_request() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let with = |fact: Fact| Request { facts: vec![fact], ..world.play(vec![moving(alice, arena, 1)]) };
    let row =
        |table: &str, column: &str| RowKey { table: table.into(), columns: vec![(column.into(), ColumnValue::Int(1))] };
    let absent = ticket(1, "open");
    let strange = [
        Fact { row: row("no_such_table", "id"), ..absent.clone() },
        Fact { row: row("tickets", "no_such_column"), ..absent.clone() },
        Fact { set: vec![("no_such_column".into(), ColumnValue::Int(1))], ..absent.clone() },
        Fact { row: row("balances", "id"), ..absent.clone() },
        Fact { row: row("no_such_table", "id"), guard: Guard::Is(Vec::new()), ..absent.clone() },
        Fact { row: row("journal", "seq"), guard: Guard::Is(Vec::new()), otherwise: GuardFailure::Paused, ..absent },
    ];
    for fact in strange {
        let neighbours = || world.play(vec![moving(alice, arena, 1)]);
        let what = format!("{fact:?}");
        let answers = world.ledger().submit(vec![neighbours(), with(fact), neighbours()]).unwrap().wait();
        let answers = answers.unwrap_or_else(|failure| {
            panic!("{failure} after {what}: {:?}", world.ledger().stopped_by());
        });
        let verdicts: Vec<_> = answers.iter().map(code_of).collect();
        assert_eq!((verdicts[0], verdicts[2]), ("applied", "applied"), "{what}");
        assert_ne!(verdicts[1], "applied", "{what}");
    }
    world.audit();
}

#[test]
fn a_tick_ends_every_hold_that_is_due_however_many() {
    let world = World::new();
    let alice = world.player("alice", 5_000);
    for _ in 0..3 {
        let holds = (0..100).map(|_| world.play(vec![holding(alice, 1, Some(2_000_000)); 8])).collect();
        assert!(world.submit_all(holds).iter().all(|answer| code_of(answer) == "applied"));
    }
    assert_eq!(world.balance_and_held(alice), (5_000, 2_400));
    world.set_time(2_000_000);
    assert_eq!(world.balance_and_held(alice), (5_000, 0));
    world.audit();
}

#[test]
fn rows_of_flows_cannot_touch_the_books() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let statements = [
        "UPDATE balances SET balance = held",
        "DELETE FROM holds",
        "DELETE FROM key_runs",
        "DELETE FROM reversals",
        "INSERT INTO journal (seq, record) VALUES (1000, x'00')",
        "DROP TRIGGER journal_forgets_nothing",
        "DROP TABLE journal",
        "COMMIT",
        "ROLLBACK",
        "PRAGMA synchronous = OFF",
        "ATTACH DATABASE ':memory:' AS other",
    ];
    let mut taken = Vec::new();
    for sql in statements {
        let statement = Statement { sql: sql.into(), values: Vec::new(), must_change: None };
        // Together with money, which must not be affected.
        let money = world.ledger().submit(vec![world.play(vec![moving(alice, arena, 1)])]).unwrap();
        let rows = world.ledger().write_rows(vec![statement]).unwrap().wait();
        let rows = rows.unwrap_or_else(|failure| panic!("{failure} after {sql}: {:?}", world.ledger().stopped_by()));
        assert_eq!(code_of(&money.wait().unwrap()[0]), "applied", "together with {sql}");
        if !matches!(rows, Err(RowsRejection::Malformed { .. } | RowsRejection::Constraint { .. })) {
            taken.push((sql, rows));
        }
    }
    assert!(taken.is_empty(), "the lane of rows took {taken:?}");
    world.audit();
}

#[test]
fn a_hold_cannot_be_posted_to_its_own_account_not_even_by_an_override() {
    let world = World::new();
    let alice = world.player("alice", 100);
    let yes = Some(Confirmation { proposal: name("p-1"), by: name("carol") });
    let overriding =
        |leg| Request { confirmation: yes.clone(), ..world.request(Principal::Admin(name("ada")), vec![leg]) };
    let made = world.submit(overriding(holding(alice, 40, None)));
    let hold = HoldId::of(made.seq.unwrap(), 0);
    let post = Leg::Post { hold, to: alice, amount: Amount::new(15) };
    assert_eq!(code_of(&world.submit(overriding(post))), "accounts_must_differ");
    assert_eq!(world.balance_and_held(alice), (100, 40));
    world.audit();
}

#[test]
fn numbers_beyond_all_records_are_not_found() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    for strange in [0, i64::MAX.cast_unsigned(), u64::MAX] {
        let (unknown, nothing) = (AccountId(strange), HoldId(strange));
        let legs = [moving(unknown, arena, 1), moving(alice, unknown, 1), Leg::Release { hold: nothing }];
        let verdicts = legs.map(|leg| code_of(&world.submit(world.play(vec![leg]))));
        assert_eq!(verdicts, ["account_not_found", "account_not_found", "hold_not_found"]);
        assert_eq!(code_of(&world.submit(reversal(&world, Principal::Indexer, strange))), "transfer_not_found");
    }
    world.audit();
}
