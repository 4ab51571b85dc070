//! Calls and requests that are refused before the writer decides, and rejections that leave no trace.

use std::sync::{Arc, Mutex};

use bankroll_ledger::{AccountKind, Amount, ColumnValue, Event, Leg, Namespace, Rejection, Request, Scope, Verdict};
use bankroll_store::{FaultPoint, Migrations, Rows, Statement, SubmitRefusal};

use crate::world::{World, game_server, moving, name, request};

const SEATS: Migrations = Migrations {
    owner: "seats",
    steps: &["CREATE TABLE seats (id INTEGER PRIMARY KEY) STRICT"],
    postgres: &["CREATE TABLE seats (id bigint PRIMARY KEY)"],
};

#[test]
fn malformed_requests_get_a_named_rejection_and_change_nothing() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let head = world.reader().head().unwrap();
    let leg = || moving(alice, arena, 1);
    let with_key = |text: &str| {
        let mut key = world.fresh_key(Namespace::Client);
        key.text = text.to_owned();
        request(key, game_server(), vec![leg()])
    };
    let with_legs = |legs: Vec<Leg>| request(world.fresh_key(Namespace::Client), game_server(), legs);
    let expected = [
        (with_key(""), Rejection::KeyMalformed),
        (with_key(&"k".repeat(256)), Rejection::KeyMalformed),
        (with_key("line\nbreak"), Rejection::KeyMalformed),
        (with_key("nul\0"), Rejection::KeyMalformed),
        (with_legs(vec![]), Rejection::LegsOutOfRange),
        (with_legs(vec![leg(); 17]), Rejection::LegsOutOfRange),
        (with_legs(vec![moving(alice, arena, 0)]), Rejection::AmountZero),
        (with_legs(vec![moving(alice, alice, 1)]), Rejection::AccountsMustDiffer),
    ];
    for (request, rejection) in expected {
        let answer = world.ledger().apply(request.clone()).unwrap();
        assert_eq!((answer.seq, answer.verdict), (None, Verdict::Rejected(rejection)), "{request:?}");
    }
    assert_eq!(world.reader().head().unwrap(), head, "nothing was written");
    assert_eq!(world.balances(alice), (100, 0));
}

#[test]
fn a_key_of_255_bytes_and_sixteen_legs_are_fine() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let mut key = world.fresh_key(Namespace::Client);
    key.text = "k".repeat(255);
    let answer = world.ledger().apply(request(key, game_server(), vec![moving(alice, arena, 1); 16])).unwrap();
    assert_eq!(answer.effects().unwrap().postings.len(), 16);
    assert_eq!(world.balances(alice), (84, 0));
}

/// A request that a database cannot store would stop the books at every retry.
#[test]
fn an_event_that_no_database_can_store_is_refused_and_the_books_go_on() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let mut spend = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
    let event = |body: &str| Event { kind: name("spawned"), resource: "\u{2192} alice".into(), body: body.into() };
    spend.events = vec![event("{\"note\": \"a\0b\"}")];
    let answer = world.ledger().apply(spend.clone()).unwrap();
    assert_eq!((answer.seq, answer.effects()), (None, Err(Rejection::FactMalformed)));
    spend.events = vec![event("{\n  \"note\": \"\u{2603}\"\n}")];
    assert!(world.ledger().apply(spend).unwrap().effects().is_ok());
    world.audit();
}

#[test]
fn a_caller_cannot_occupy_the_key_of_another() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let mut key = world.fresh_key(Namespace::System);
    let answer = world.ledger().apply(request(key.clone(), game_server(), vec![moving(alice, arena, 1)])).unwrap();
    assert_eq!((answer.seq, answer.effects()), (None, Err(Rejection::KeyNotAllowed)));
    key.namespace = Namespace::Client;
    key.scope = Scope::Server(name("other"));
    let answer = world.ledger().apply(request(key, game_server(), vec![moving(alice, arena, 1)])).unwrap();
    assert_eq!((answer.seq, answer.effects()), (None, Err(Rejection::KeyNotAllowed)));
}

#[test]
fn a_call_has_1_to_8192_requests() {
    let world = World::new();
    let refused = |count: usize| {
        let one = request(world.fresh_key(Namespace::Client), game_server(), vec![]);
        world.ledger().submit(vec![one; count]).unwrap_err()
    };
    assert_eq!(refused(0), SubmitRefusal::CallSize { given: 0, most: 8192 });
    assert_eq!(refused(8193), SubmitRefusal::CallSize { given: 8193, most: 8192 });
}

#[test]
fn a_full_queue_is_busy_until_permits_are_released() {
    let world = World::with(|options| options.queue_max = 4);
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let spend = || request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
    let five = (0..5).map(|_| spend()).collect();
    let never = SubmitRefusal::CallSize { given: 5, most: 4 };
    assert_eq!(world.ledger().submit(five).unwrap_err(), never, "more than the queue holds would be busy forever");
    for _ in 0..20 {
        world.ledger().submit((0..4).map(|_| spend()).collect()).unwrap().wait().unwrap();
    }
    assert_eq!(world.balances(alice), (20, 0));
}

/// As when a block has more deposits than the queue has permits: the set cannot be split, and would be busy forever.
#[test]
fn a_set_of_rows_larger_than_the_queue_takes_all_permits() {
    let world = World::with(|options| {
        options.queue_max = 4;
        options.migrations = vec![SEATS];
    });
    let seat = |id: i64| Statement {
        sql: "INSERT INTO seats (id) VALUES ($1)".into(),
        values: vec![ColumnValue::Int(id)],
        must_change: Some(1),
    };
    let written = Rows::open(world.ledger()).unwrap().write((0..10).map(seat).collect()).unwrap();
    assert_eq!(written, [1; 10]);
}

/// The writer is blocked with a full queue: a caller that only tries is refused, a caller that waits gets its turn.
#[test]
fn a_caller_that_waits_for_permits_gets_them() {
    let gate = Arc::new(Mutex::new(()));
    let gate_of_writer = Arc::clone(&gate);
    let world = World::in_folder(|options| {
        options.queue_max = 4;
        options.fault_point = FaultPoint::with(move || {
            drop(gate_of_writer.lock());
            None
        });
    });
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let spend = |count: usize| -> Vec<Request> {
        let one = |_| request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
        (0..count).map(one).collect()
    };
    let held = gate.lock().unwrap();
    let first = world.ledger().submit(spend(4)).unwrap();
    assert_eq!(world.ledger().submit(spend(1)).unwrap_err(), SubmitRefusal::Busy);
    let (ledger, four) = (world.ledger().clone(), spend(4));
    let waiting = std::thread::spawn(move || ledger.submit_in_turn(four).unwrap().wait().unwrap().len());
    drop(held);
    assert_eq!((first.wait().unwrap().len(), waiting.join().unwrap()), (4, 4));
    assert_eq!(world.balances(alice), (92, 0));
}

#[test]
fn the_largest_amount_fits_and_one_more_is_an_overflow() {
    let world = World::new();
    let (custody, alice) =
        (world.account(AccountKind::Custody, Some("hot")), world.account(AccountKind::Funds, Some("alice")));
    world.deposit(Leg::Move { from: custody, to: alice, amount: Amount::MAX });
    assert_eq!(world.balances(alice), (u128::MAX, 0));
    let key = world.fresh_key(Namespace::Deposits);
    let more = request(key, bankroll_ledger::Principal::Indexer, vec![moving(custody, alice, 1)]);
    assert_eq!(world.ledger().apply(more).unwrap().effects(), Err(Rejection::BalanceOverflow));
    assert_eq!(world.balances(alice), (u128::MAX, 0));
}

#[test]
fn after_close_calls_are_refused() {
    let mut world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let ledger = world.ledger.take().unwrap();
    ledger.clone().close();
    let late = request(world.fresh_key(Namespace::Client), game_server(), vec![moving(alice, arena, 1)]);
    assert_eq!(ledger.submit(vec![late]).unwrap_err(), SubmitRefusal::Stopped);
}
