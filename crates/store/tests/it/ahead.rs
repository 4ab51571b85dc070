//! Deciding ahead: while one batch is in flight, the next is decided, and callers cannot see a difference.
//!
//! Whether a call is decided ahead depends on timing, so each test repeats its story until it has happened often
//! enough.

use std::collections::VecDeque;

use bankroll_ledger::{AccountId, AccountKind, HoldId, Leg, Namespace, Principal, Rejection, Request, Settler};
use bankroll_store::{Answer, PendingAnswer};

use crate::world::{World, game_server, hold, moving, request};

const ROUNDS: usize = 2_000;
const OFTEN: u64 = 60;

/// The commit thread commits every batch, however small.
fn world() -> World {
    World::with(|options| options.background_commit_min = 1)
}

fn play(world: &World, legs: Vec<Leg>) -> Request {
    request(world.fresh_key(Namespace::Client), game_server(), legs)
}

fn send(world: &World, requests: Vec<Request>) -> PendingAnswer<Vec<Answer>> {
    world.ledger().submit(requests).unwrap()
}

fn first(reply: PendingAnswer<Vec<Answer>>) -> Answer {
    reply.wait().unwrap().remove(0)
}

/// Repeats the story until many calls were decided ahead in it.
fn repeat_until_ahead(world: &World, mut story: impl FnMut()) {
    let before = world.ledger().decided_ahead();
    for _ in 0..ROUNDS {
        story();
        if world.ledger().decided_ahead() >= before + OFTEN {
            world.audit();
            return;
        }
    }
    panic!("hardly anything was decided ahead in {ROUNDS} rounds");
}

#[test]
fn money_of_the_batch_in_flight_can_be_spent_once() {
    let world = world();
    let arena = world.account(AccountKind::World, None);
    let mut number = 0;
    repeat_until_ahead(&world, || {
        number += 1;
        let (alice, bob) = (world.player(&format!("a{number}"), 100), world.player(&format!("b{number}"), 0));
        // Each call spends what the one before brought; the eleventh finds nothing left.
        let calls = (0..11).map(|_| vec![play(&world, vec![moving(alice, arena, 10), moving(arena, bob, 10)])]);
        let replies: Vec<_> = calls.map(|call| send(&world, call)).collect();
        let answers: Vec<Answer> = replies.into_iter().map(first).collect();
        assert!(answers[..10].iter().all(|answer| answer.effects().is_ok()));
        assert_eq!(answers[10].effects(), Err(Rejection::InsufficientFunds));
        assert_eq!((world.balances(alice), world.balances(bob)), ((0, 0), (100, 0)));
    });
}

#[test]
fn a_key_of_the_batch_in_flight_is_known() {
    let world = world();
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    let mut last = play(&world, vec![moving(alice, arena, 1)]);
    let mut on_their_way = VecDeque::from([send(&world, vec![last.clone()])]);
    // Each call asks something new, the same as the call before, and something else under that one's key.
    for _ in 0..1_500 {
        let mut other = last.clone();
        other.references.hand = Some("hand-1".into());
        let new = play(&world, vec![moving(alice, arena, 1)]);
        on_their_way.push_back(send(&world, vec![new.clone(), std::mem::replace(&mut last, new), other]));
        if on_their_way.len() > 3 {
            let answers = on_their_way.pop_front().unwrap().wait().unwrap();
            assert!(!answers[0].replayed && answers[0].effects().is_ok());
            assert!(answers[1..].first().is_none_or(|again| again.replayed && again.effects().is_ok()));
            assert!(answers[1..].get(1).is_none_or(|other| other.effects() == Err(Rejection::KeyReused)));
        }
    }
    on_their_way.into_iter().for_each(|reply| assert!(reply.wait().unwrap()[1].replayed));
    assert_eq!(world.balances(arena), (1_501, 0));
    world.audit();
}

#[test]
fn a_hold_of_the_batch_in_flight_is_settled_by_the_next_call_and_expires_in_time() {
    let world = world();
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    let custody = world.account(AccountKind::Custody, Some("hot"));
    let mut time = 1_000_000;
    repeat_until_ahead(&world, || {
        time += 100;
        let next = |ahead: u64| bankroll_ledger::Seq(world.reader().head().unwrap().seq.0 + ahead);
        let (held, short) = (HoldId::of(next(1), 0), HoldId::of(next(3), 0));
        let system = |legs| request(world.fresh_key(Namespace::System), Principal::System, legs);
        let calls = [
            system(vec![hold(alice, 5, None, Settler::System)]),
            play(&world, vec![moving(alice, arena, 1)]),
            system(vec![hold(alice, 7, Some(time), Settler::System)]),
            play(&world, vec![moving(alice, arena, 1)]),
            system(vec![Leg::Post { hold: held, to: custody, amount: bankroll_ledger::Amount::new(5) }]),
        ];
        let before = world.balances(alice);
        for reply in calls.map(|call| send(&world, vec![call])) {
            first(reply).effects().unwrap();
        }
        assert_eq!(world.balances(alice), (before.0 - 7, 7), "two were played, five paid out, seven are held");
        world.set_time(time);
        assert_eq!(world.balances(alice), (before.0 - 7, 0));
        assert!(world.reader().open_holds(alice).unwrap().iter().all(|hold| hold.id != short));
    });
}

#[test]
fn accounts_opened_between_two_calls_and_unknown_ones_wait_for_the_disk() {
    let world = world();
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    repeat_until_ahead(&world, || {
        let plain = || send(&world, vec![play(&world, vec![moving(alice, arena, 1)])]);
        let replies = [plain(), plain()];
        let unknown = send(&world, vec![play(&world, vec![moving(AccountId(77_777), arena, 1)])]);
        let more = [plain(), plain()];
        assert_eq!(first(unknown).effects(), Err(Rejection::AccountNotFound));
        replies.into_iter().chain(more).for_each(|reply| assert!(first(reply).effects().is_ok()));
    });
}
