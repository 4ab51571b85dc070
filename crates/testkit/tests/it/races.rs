//! Many callers that request the same money, or use the same key, at the same moment; and more than the queue accepts.

use std::{
    collections::BTreeMap,
    sync::{
        Barrier, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use bankroll_ledger::{AccountKind, Amount, ColumnValue, Fact, Guard, GuardFailure, HoldId, Leg, Request, RowKey};
use bankroll_store::{Answer, BOOKS_FILE, SubmitError, SubmitRefusal};

use crate::world::{World, code_of, holding, moving};

const RACERS: usize = 64;

/// Submits every request from a thread of its own, all at once; returns the answers in the order of the requests.
fn race(world: &World, requests: Vec<Request>) -> Vec<Answer> {
    let start = Barrier::new(requests.len());
    std::thread::scope(|scope| {
        let racer = |request: Request| {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                world.submit(request)
            })
        };
        let racers: Vec<_> = requests.into_iter().map(racer).collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    })
}

fn tally(answers: &[Answer]) -> BTreeMap<&'static str, usize> {
    let mut tally = BTreeMap::new();
    answers.iter().for_each(|answer| *tally.entry(code_of(answer)).or_default() += 1);
    tally
}

#[test]
fn exactly_as_many_succeed_as_the_money_covers() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    let requests = (0..RACERS).map(|_| world.play(vec![moving(alice, arena, 30)])).collect();
    let answers = race(&world, requests);
    assert_eq!(tally(&answers), BTreeMap::from([("applied", 33), ("insufficient_funds", 31)]));
    assert_eq!((world.balance_and_held(alice), world.balance_and_held(arena)), ((10, 0), (990, 0)));
    world.audit();
}

#[test]
fn one_key_has_one_effect_and_one_answer() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    let request = world.play(vec![moving(alice, arena, 30)]);
    let answers = race(&world, vec![request; RACERS]);
    assert_eq!(answers.iter().filter(|answer| !answer.replayed).count(), 1);
    assert!(answers.iter().all(|answer| answer.seq == answers[0].seq && answer.verdict == answers[0].verdict));
    assert_eq!(world.balance_and_held(alice), (970, 0));
    world.audit();
}

#[test]
fn opposite_transfers_neither_wait_for_each_other_nor_lose_anything() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 500), world.account(AccountKind::World, None));
    world.submit(world.play(vec![moving(alice, arena, 250)])).effects().unwrap();
    for _ in 0..5 {
        let there = |_| world.play(vec![moving(alice, arena, 5)]);
        let back = |_| world.play(vec![moving(arena, alice, 5)]);
        let requests = (0..RACERS / 2).map(there).chain((0..RACERS / 2).map(back)).collect();
        assert_eq!(tally(&race(&world, requests)), BTreeMap::from([("applied", RACERS)]));
        assert_eq!((world.balance_and_held(alice), world.balance_and_held(arena)), ((250, 0), (250, 0)));
    }
    world.audit();
}

#[test]
fn what_is_held_cannot_be_moved_and_what_was_moved_cannot_be_held() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let hold = |_| world.play(vec![holding(alice, 100, None)]);
    let spend = |_| world.play(vec![moving(alice, arena, 100)]);
    let requests = (0..RACERS / 2).map(hold).chain((0..RACERS / 2).map(spend)).collect();
    let answers = race(&world, requests);
    assert_eq!(tally(&answers), BTreeMap::from([("applied", 1), ("insufficient_funds", RACERS - 1)]));
    let held = tally(&answers[..RACERS / 2]).contains_key("applied");
    assert_eq!(world.balance_and_held(alice), if held { (100, 100) } else { (0, 0) });
    world.audit();
}

#[test]
fn a_hold_is_settled_once() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    let made = world.submit(world.play(vec![holding(alice, 100, None)]));
    let hold = HoldId::of(made.seq.unwrap(), 0);
    let post = |_| world.play(vec![Leg::Post { hold, to: arena, amount: Amount::new(100) }]);
    let release = |_| world.play(vec![Leg::Release { hold }]);
    let requests = (0..RACERS / 2).map(post).chain((0..RACERS / 2).map(release)).collect();
    let answers = race(&world, requests);
    assert_eq!(tally(&answers), BTreeMap::from([("applied", 1), ("hold_settled", RACERS - 1)]));
    let posted = tally(&answers[..RACERS / 2]).contains_key("applied");
    assert_eq!(world.balance_and_held(alice), if posted { (0, 0) } else { (100, 0) });
    world.audit();
}

/// A fact that creates a ticket.
pub fn ticket(number: i64, state: &str) -> Fact {
    let columns =
        vec![("server".into(), ColumnValue::Text("arena".into())), ("number".into(), ColumnValue::Int(number))];
    Fact {
        row: RowKey { table: "tickets".into(), columns },
        guard: Guard::Absent,
        otherwise: GuardFailure::Conflict,
        set: vec![("state".into(), ColumnValue::Text(state.into()))],
    }
}

#[test]
fn a_failed_guard_or_constraint_rejects_its_own_request_and_nothing_else() {
    let world = World::new();
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    let with = |fact: Fact| Request { facts: vec![fact], ..world.play(vec![moving(alice, arena, 1)]) };
    let requests = vec![
        with(ticket(1, "open")),
        with(ticket(1, "open")),
        with(ticket(2, "forbidden")),
        world.play(vec![moving(alice, arena, 1)]),
        with(ticket(3, "nonsense")),
        with(ticket(3, "open")),
        with(Fact { otherwise: GuardFailure::Paused, ..ticket(3, "open") }),
        world.play(vec![moving(alice, arena, 1)]),
    ];
    let answers = world.submit_all(requests.clone());
    let verdicts: Vec<_> = answers.iter().map(code_of).collect();
    let expected =
        ["applied", "guard_failed", "fact_refused", "applied", "fact_refused", "applied", "server_paused", "applied"];
    assert_eq!(verdicts, expected);
    assert_eq!(world.balance_and_held(arena), (4, 0));
    // A retry gives the same answers; only the pause was not remembered, and it still applies.
    let again = world.submit_all(requests);
    assert_eq!(again.iter().map(code_of).collect::<Vec<_>>(), expected);
    let replayed: Vec<_> = again.iter().map(|answer| answer.replayed).collect();
    assert_eq!(replayed, [true, true, true, true, true, true, false, true]);
    world.audit();
}

#[test]
fn a_full_queue_answers_busy_and_accepts_no_more_than_its_permits() {
    const ROOM: usize = 100;
    let world = World::in_folder(|options| options.queue_max = ROOM);
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    // Another program has the database locked, so the writer is stuck and its queue can only grow.
    let other = rusqlite::Connection::open(world.folder.path().join(BOOKS_FILE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut replies = Vec::new();
    let mut busy = 0;
    for _ in 0..ROOM * 3 {
        match world.ledger().submit(vec![world.play(vec![moving(alice, arena, 1)])]) {
            Ok(reply) => replies.push(reply),
            Err(refused) => {
                assert_eq!(refused, SubmitRefusal::Busy);
                busy += 1;
            }
        }
    }
    assert_eq!((replies.len(), busy), (ROOM, ROOM * 2));
    other.execute_batch("COMMIT").unwrap();
    assert!(replies.into_iter().all(|reply| code_of(&reply.wait().unwrap()[0]) == "applied"));
    assert_eq!(world.balance_and_held(arena), (ROOM as u128, 0));
    assert_eq!(code_of(&world.submit(world.play(vec![moving(alice, arena, 1)]))), "applied");
}

#[test]
fn clients_that_never_stop_get_busy_and_what_was_acknowledged_is_in_the_journal() {
    let world = World::with(|options| options.queue_max = 48);
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    let (busy, acknowledged) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let client = || {
        let (mut waiting, mut done) = (Vec::new(), 0);
        // Until many were answered and the queue was seen full: callers wait only when they must.
        while done < 300 || busy.load(Ordering::SeqCst) == 0 {
            match world.ledger().submit((0..4).map(|_| world.play(vec![moving(alice, arena, 1)])).collect()) {
                Ok(reply) => waiting.push(reply),
                Err(refused) => {
                    assert_eq!(SubmitError::from(refused), SubmitError::Refused(SubmitRefusal::Busy));
                    busy.fetch_add(1, Ordering::SeqCst);
                    for reply in waiting.drain(..) {
                        let answers = reply.wait().unwrap();
                        done += answers.len();
                        acknowledged.lock().unwrap().extend(answers);
                    }
                }
            }
        }
        waiting.into_iter().for_each(|reply| acknowledged.lock().unwrap().extend(reply.wait().unwrap()));
    };
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(client))));
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(busy.into_inner() > 0);
    let reader = world.reader();
    assert!(acknowledged.iter().all(|answer| reader.record(answer.seq.unwrap()).unwrap().is_some()));
    assert_eq!(world.balance_and_held(arena), (acknowledged.len() as u128, 0));
    world.audit();
}
