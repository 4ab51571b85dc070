//! From a reservation to the end of a spawn.

use std::thread;

use bankroll_ledger::{Amount, AssetId, IdempotencyKey, Leg, Namespace, Principal, Rejection, Settler, Time};
use bankroll_spawns::{SpawnEnd, SpawnError, SpawnId, SpawnTerms, Spawns, views};

use crate::world::{ALICE, SECOND, WORLD, World, name, rejected};

const UNALLOCATED: &str = "arena/unallocated/1/alice";

#[test]
fn a_place_is_reserved_committed_and_left() {
    let world = World::new();
    let reserved = world.reserve("k1", "alice").unwrap();
    let (spawn, id) = (&reserved.spawn, &reserved.spawn.id);
    assert!(!reserved.is_repeated && *id == SpawnId::new(&name("arena"), "k1"));
    assert_eq!((spawn.amount, spawn.mass.to_string().as_str(), spawn.version), (Amount::new(100), "5", 7));
    assert_eq!((spawn.reserved_at, spawn.expires_at), (Time(1_000 * SECOND), Time(1_060 * SECOND)));
    assert_eq!((world.standing(ALICE), world.status(id), world.live()), ((250, 100), "reserved", vec![]));
    world.end(SpawnEnd::Commit, id, "k2").unwrap();
    assert_eq!((world.standing(ALICE), world.standing(WORLD)), ((150, 0), (100, 0)));
    assert_eq!((world.status(id), world.live()), ("committed", vec![id.clone()]));
    // A live spawn does not expire, and is not released.
    world.pass(3_600 * SECOND);
    assert_eq!(rejected(world.end(SpawnEnd::Release, id, "k3")), Rejection::GuardFailed);
    assert_eq!(world.status(id), "committed");
    // She lost ten to others, and only she can leave with the rest.
    assert_eq!(world.exit(id, "bob", 90, "exit/0").effects().unwrap_err(), Rejection::GuardFailed);
    world.exit(id, "alice", 90, "exit/1").effects().unwrap();
    assert_eq!((world.standing(ALICE), world.standing(WORLD)), ((240, 0), (10, 0)));
    assert_eq!((world.status(id), world.live()), ("exited", vec![]));
    assert_eq!(world.exit(id, "alice", 10, "exit/2").effects().unwrap_err(), Rejection::GuardFailed);
    assert_eq!(rejected(world.end(SpawnEnd::Refund, id, "k4")), Rejection::GuardFailed);
    let events = world.reader().events_after(bankroll_ledger::Seq(0), 10).unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["spawn.reserved", "spawn.committed"]);
    world.audit();
}

#[test]
fn a_retry_returns_the_same_reservation_although_price_and_pauses_have_changed() {
    let mut world = World::new();
    let first = world.reserve("k1", "alice").unwrap();
    world.terms.price = Amount::new(120);
    world.terms.accepts = false;
    world.pass(SECOND);
    let again = world.reserve("k1", "alice").unwrap();
    assert!(again.is_repeated);
    assert_eq!((again.spawn.amount, again.spawn.expires_at), (first.spawn.amount, first.spawn.expires_at));
    assert!(matches!(world.reserve("k1", "bob"), Err(SpawnError::OtherSpawn)), "another player under the same key");
    assert!(matches!(world.reserve("k2", "alice"), Err(SpawnError::Paused)));
    assert_eq!(world.standing(ALICE), (250, 100));
    // A pause stops no spawn that is reserved.
    world.end(SpawnEnd::Commit, &first.spawn.id, "k3").unwrap();
    world.end(SpawnEnd::Commit, &first.spawn.id, "k3").unwrap();
    assert_eq!(world.standing(WORLD), (100, 0));
    world.audit();
}

/// Both looked for an earlier answer before either was decided.
#[test]
fn two_requests_with_one_key_at_two_times_are_one_reservation() {
    let world = World::new();
    let order = world.order("k1", "alice");
    let build = |now| Spawns::default().reserve_requests(&order, &world.terms, world.reader(), Time(now)).unwrap();
    let (early, late) = (build(1_000 * SECOND), build(1_001 * SECOND));
    let first = world.ledger().apply(early[0].clone()).unwrap();
    let first = Spawns::reserved(world.reader(), &order, &early[0], &first).unwrap();
    let answer = world.ledger().apply(late[0].clone()).unwrap();
    assert_eq!(answer.effects().unwrap_err(), Rejection::KeyReused);
    let second = Spawns::reserved(world.reader(), &order, &late[0], &answer).unwrap();
    assert!(second.is_repeated && second.spawn.expires_at == first.spawn.expires_at);
    assert_eq!(world.standing(ALICE), (250, 100));
}

#[test]
fn a_rejection_is_remembered_with_its_key_and_another_key_tries_anew() {
    let world = World::new();
    world.reserve("b1", "bob").unwrap();
    assert_eq!(rejected(world.reserve("b2", "bob")), Rejection::InsufficientFunds);
    world.give("arena/funds/1/bob", 100);
    world.pass(SECOND);
    assert_eq!(rejected(world.reserve("b2", "bob")), Rejection::InsufficientFunds);
    world.reserve("b3", "bob").unwrap();
    assert_eq!(world.standing("arena/funds/1/bob"), (200, 200));
    assert_eq!(rejected(world.reserve("c1", "carol")), Rejection::AccountNotFound);
}

#[test]
fn a_reservation_expires_by_itself_and_is_made_again_under_another_key() {
    let world = World::new();
    let first = world.reserve("k1", "bob").unwrap().spawn.id;
    world.pass(60 * SECOND);
    assert_eq!((world.status(&first), world.standing("arena/funds/1/bob")), ("expired", (100, 0)));
    assert_eq!(rejected(world.end(SpawnEnd::Commit, &first, "k2")), Rejection::HoldExpired);
    assert_eq!(rejected(world.end(SpawnEnd::Release, &first, "k3")), Rejection::HoldExpired);
    // The same key answers what it answered then; its time is over.
    assert!(world.reserve("k1", "bob").unwrap().is_repeated);
    let second = world.reserve("k4", "bob").unwrap().spawn.id;
    world.end(SpawnEnd::Commit, &second, "k5").unwrap();
    assert_eq!((world.status(&first), world.status(&second)), ("expired", "committed"));
    assert_eq!(world.standing(WORLD), (100, 0));
    world.audit();
}

#[test]
fn a_released_place_costs_nothing_and_a_refund_happens_once() {
    let world = World::new();
    let first = world.reserve("k1", "alice").unwrap().spawn.id;
    world.end(SpawnEnd::Release, &first, "k2").unwrap();
    assert_eq!((world.status(&first), world.standing(ALICE)), ("released", (250, 0)));
    assert_eq!(rejected(world.end(SpawnEnd::Commit, &first, "k3")), Rejection::GuardFailed);
    let second = world.reserve("k4", "alice").unwrap().spawn.id;
    assert_eq!(rejected(world.end(SpawnEnd::Refund, &second, "k5")), Rejection::GuardFailed, "nothing was paid yet");
    world.end(SpawnEnd::Commit, &second, "k6").unwrap();
    world.end(SpawnEnd::Refund, &second, "k7").unwrap();
    world.end(SpawnEnd::Refund, &second, "k7").unwrap();
    assert_eq!(rejected(world.end(SpawnEnd::Refund, &second, "k8")), Rejection::GuardFailed);
    assert_eq!((world.status(&second), world.standing(ALICE), world.standing(WORLD)), ("refunded", (250, 0), (0, 0)));
    world.audit();
}

#[test]
fn another_servers_spawn_is_not_found() {
    let world = World::new();
    let id = world.reserve("k1", "alice").unwrap().spawn.id;
    let foreign = Spawns::end(SpawnEnd::Commit, &name("lagoon"), &id, "k2", world.ledger(), world.reader());
    assert!(matches!(foreign, Err(SpawnError::NotFound)), "{foreign:?}");
    assert_eq!(views::spawn_of(world.reader(), &name("lagoon"), &id, world.now()).unwrap(), None);
    assert_eq!(world.standing(ALICE), (250, 100));
}

#[test]
fn a_buy_in_is_made_of_money_that_is_not_allocated_when_the_funds_are_short() {
    let mut world = World::new();
    world.account("arena/funds/1/carol");
    world.give("arena/unallocated/1/carol", 225);
    let carols = || world.standing("arena/unallocated/1/carol");
    world.reserve("k1", "carol").unwrap();
    assert_eq!((carols(), world.standing("arena/funds/1/carol")), ((115, 0), (100, 100)));
    assert_eq!((world.standing("arena/developer/1"), world.standing("arena/ecosystem/1")), ((4, 0), (6, 0)));
    // Once for each spawn, and not at all while nothing is allocated.
    assert!(world.reserve("k1", "carol").unwrap().is_repeated);
    assert_eq!(carols(), (115, 0));
    let terms = SpawnTerms { allocates: false, ..world.terms };
    let eligible = |terms| {
        let seen = views::eligibility(world.reader(), &name("arena"), AssetId(1), &name("carol"), terms).unwrap();
        (seen.funds.units(), seen.unallocated.units(), seen.refusal)
    };
    assert_eq!(eligible(&terms), (0, 115, Some(views::SpawnRefusal::InsufficientFunds)));
    assert_eq!(eligible(&world.terms), (0, 115, None));
    assert_eq!(eligible(&SpawnTerms { accepts: false, ..terms }), (0, 115, Some(views::SpawnRefusal::Paused)));
    world.terms = terms;
    assert_eq!(rejected(world.reserve("k2", "carol")), Rejection::InsufficientFunds);
    assert_eq!(world.standing("arena/unallocated/1/carol"), (115, 0));
    assert_eq!(world.standing(UNALLOCATED), (0, 0));
    world.audit();
}

#[test]
fn a_key_that_is_decided_charges_nothing() {
    let world = World::new();
    let (carol, to) = (world.account("arena/funds/1/carol"), world.account(WORLD));
    assert_eq!(rejected(world.reserve("k1", "carol")), Rejection::InsufficientFunds);
    let transfer = Leg::Move { from: world.account(ALICE), to, amount: Amount::new(1) };
    let arena = Principal::GameServer(name("arena"));
    world.apply(World::client_key("key/k2"), arena, transfer, vec![]).effects().unwrap();
    world.give("arena/unallocated/1/carol", 225);
    assert_eq!(rejected(world.reserve("k1", "carol")), Rejection::InsufficientFunds, "the key remembers it");
    assert!(matches!(world.reserve("k2", "carol"), Err(SpawnError::OtherSpawn)), "a transfer had the key");
    assert_eq!(world.standing("arena/unallocated/1/carol"), (225, 0));
    assert_eq!((world.standing("arena/developer/1"), world.standing("arena/ecosystem/1")), ((0, 0), (0, 0)));
    assert_eq!(world.account("arena/funds/1/carol"), carol);
    world.reserve("k3", "carol").unwrap();
    assert_eq!(world.standing("arena/unallocated/1/carol"), (115, 0));
    world.audit();
}

/// The payout holds what the spawn wants.
#[test]
fn a_spawn_and_a_payout_that_want_the_same_money_are_not_both_served() {
    for round in 0..20 {
        let world = World::new();
        let bob = world.account("arena/funds/1/bob");
        let key = IdempotencyKey { namespace: Namespace::Player, ..World::client_key("bob/withdrawal/1") };
        let amount = Amount::new(100);
        let leg = Leg::Hold { account: bob, amount, expires: None, settler: Settler::Holder };
        let payout = World::request(key, Principal::User(name("bob")), leg, vec![]);
        let ledger = world.ledger().clone();
        let payout = thread::spawn(move || ledger.apply(payout).unwrap().effects().is_ok());
        let spawned = world.reserve("k1", "bob").is_ok();
        let held = payout.join().unwrap();
        assert_ne!(spawned, held, "round {round}");
        assert_eq!(world.standing("arena/funds/1/bob"), (100, 100));
    }
}
