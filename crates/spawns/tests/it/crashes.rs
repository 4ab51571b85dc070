//! Processes that die in the middle.

use bankroll_ledger::Rejection;
use bankroll_spawns::{SpawnEnd, Spawns};
use bankroll_store::columns::any;

use crate::world::{ALICE, SECOND, WORLD, World, rejected};

#[test]
fn a_game_server_that_dies_between_reserve_and_commit_costs_the_player_a_minute() {
    let mut world = World::new();
    let id = world.reserve("k1", "alice").unwrap().spawn.id;
    world.restart();
    assert_eq!((world.status(&id), world.standing(ALICE)), ("reserved", (250, 100)));
    world.pass(60 * SECOND);
    assert_eq!((world.status(&id), world.standing(ALICE), world.live()), ("expired", (250, 0), vec![]));
    assert_eq!(rejected(world.end(SpawnEnd::Commit, &id, "k2")), Rejection::HoldExpired);
    world.audit();
}

#[test]
fn a_game_server_that_forgot_everything_refunds_or_exits_each_live_spawn_once() {
    let mut world = World::new();
    for (player, reserve, commit) in [("alice", "k1", "k2"), ("alice", "k3", "k4"), ("bob", "k5", "k6")] {
        let id = world.reserve(reserve, player).unwrap().spawn.id;
        world.end(SpawnEnd::Commit, &id, commit).unwrap();
    }
    world.restart();
    let live = world.live();
    assert_eq!((live.len(), world.standing(WORLD)), (3, (300, 0)));
    for (place, id) in live.iter().enumerate() {
        world.end(SpawnEnd::Refund, id, &format!("back-{place}")).unwrap();
        assert_eq!(rejected(world.end(SpawnEnd::Refund, id, &format!("again-{place}"))), Rejection::GuardFailed);
    }
    assert_eq!((world.live(), world.standing(WORLD), world.standing(ALICE)), (vec![], (0, 0), (250, 0)));
    world.audit();
}

/// The answer was lost, and the process died before it noted the hold: the journal has it.
#[test]
fn a_hold_that_was_not_noted_is_found_by_the_key_of_the_reservation() {
    let mut world = World::new();
    let order = world.order("k1", "alice");
    let requests = Spawns::default().reserve_requests(&order, &world.terms, world.reader(), world.now()).unwrap();
    world.ledger().apply(requests[0].clone()).unwrap().effects().unwrap();
    world.restart();
    let again = world.reserve("k1", "alice").unwrap();
    assert!(again.is_repeated);
    world.end(SpawnEnd::Commit, &again.spawn.id, "k2").unwrap();
    assert_eq!(world.standing(WORLD), (100, 0));
    world.audit();
}

/// A row cannot make a commit take another hold.
#[test]
fn a_note_that_was_edited_changes_nothing() {
    let world = World::new();
    let alices = world.reserve("k1", "alice").unwrap().spawn;
    let bobs = world.reserve("k2", "bob").unwrap().spawn;
    let values =
        vec![bankroll_store::columns::int(bobs.hold.unwrap().0), bankroll_store::columns::text(alices.id.as_str())];
    world.rows().write(vec![any("UPDATE spawns SET hold = $1 WHERE id = $2", values)]).unwrap();
    world.end(SpawnEnd::Commit, &alices.id, "k3").unwrap();
    assert_eq!((world.standing(ALICE), world.standing("arena/funds/1/bob")), ((150, 0), (100, 100)));
}
