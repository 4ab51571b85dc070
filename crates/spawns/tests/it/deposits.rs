//! Deposits that spawns consume.

use bankroll_ledger::Rejection;
use bankroll_spawns::{SpawnEnd, SpawnError};

use crate::world::{ALICE, SECOND, World, rejected};

#[test]
fn a_deposit_is_consumed_once() {
    let world = World::new();
    world.credit("alice", 100, "dep-1");
    let first = world.order_reserve(&world.order_with("k1", "alice", "dep-1")).unwrap().spawn;
    assert_eq!(first.deposit.as_deref(), Some("dep-1"));
    let second = world.order_with("k2", "alice", "dep-1");
    assert!(matches!(world.order_reserve(&second), Err(SpawnError::DepositTaken)), "while it is reserved");
    world.end(SpawnEnd::Commit, &first.id, "k3").unwrap();
    world.pass(3_600 * SECOND);
    assert!(matches!(world.order_reserve(&second), Err(SpawnError::DepositTaken)), "once it is consumed");
    world.end(SpawnEnd::Refund, &first.id, "k4").unwrap();
    assert!(matches!(world.order_reserve(&second), Err(SpawnError::DepositTaken)), "after a refund, too");
    // The money itself can be staked again.
    world.reserve("k5", "alice").unwrap();
    assert_eq!(world.standing(ALICE), (350, 100));
    world.audit();
}

/// Both looked before either was decided.
#[test]
fn of_two_spawns_that_claim_one_deposit_the_ledger_accepts_one() {
    let world = World::new();
    world.credit("alice", 100, "dep-1");
    let spawns = bankroll_spawns::Spawns::default();
    let requests = ["k1", "k2"].map(|key| {
        let order = world.order_with(key, "alice", "dep-1");
        spawns.reserve_requests(&order, &world.terms, world.reader(), world.now()).unwrap().remove(0)
    });
    let answers = world.ledger().submit(requests.to_vec()).unwrap().wait().unwrap();
    assert!(answers[0].effects().is_ok());
    assert_eq!(answers[1].effects().unwrap_err(), Rejection::GuardFailed);
    assert_eq!(world.standing(ALICE), (350, 100));
}

#[test]
fn a_deposit_that_is_not_the_players_is_refused() {
    let world = World::new();
    world.credit("bob", 100, "dep-1");
    assert_eq!(rejected(world.order_reserve(&world.order_with("k1", "alice", "dep-1"))), Rejection::GuardFailed);
    assert_eq!(rejected(world.order_reserve(&world.order_with("k2", "alice", "dep-9"))), Rejection::GuardFailed);
    assert_eq!(world.standing(ALICE), (250, 0));
}

#[test]
fn a_reservation_that_is_released_or_has_expired_gives_its_deposit_back() {
    let world = World::new();
    world.credit("alice", 100, "dep-1");
    let first = world.order_reserve(&world.order_with("k1", "alice", "dep-1")).unwrap().spawn.id;
    world.end(SpawnEnd::Release, &first, "k2").unwrap();
    let second = world.order_reserve(&world.order_with("k3", "alice", "dep-1")).unwrap().spawn.id;
    world.pass(60 * SECOND);
    let third = world.order_reserve(&world.order_with("k4", "alice", "dep-1")).unwrap().spawn.id;
    assert_eq!([&first, &second, &third].map(|id| world.status(id)), ["released", "expired", "reserved"]);
    // The second lost the deposit for good, whatever the clocks say.
    assert_eq!(rejected(world.end(SpawnEnd::Commit, &second, "k5")), Rejection::HoldExpired);
    world.end(SpawnEnd::Commit, &third, "k6").unwrap();
    assert_eq!(world.standing(ALICE), (250, 0));
    world.audit();
}
