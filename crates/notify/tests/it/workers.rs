//! Two workers, and endpoints that want more than their share.

use std::collections::BTreeSet;

use bankroll_notify::{DeliveryWorker, Jitter, WAITING_MAX};

use crate::world::{SECOND, World, ok};

#[test]
fn a_second_worker_stands_by_until_the_first_is_silent() {
    let mut world = World::new();
    world.endpoint("all");
    world.announce("deposit.credited", "dep_1");
    let mut second = DeliveryWorker::open(world.rows_location(), World::settings("node-2")).unwrap();
    let (attempts, _) = world.plan().unwrap();
    assert_eq!(attempts.len(), 1);
    assert_eq!(second.round(world.now()).unwrap().attempts, []);
    // The first is gone without a word: what it had in flight is sent again.
    world.pass(61 * SECOND);
    assert_eq!(
        second.round(world.now()).unwrap().attempts,
        [bankroll_notify::DeliveryAttempt { planned_at: world.now(), ..attempts[0].clone() }]
    );
    second.release();
    assert_eq!(world.plan().unwrap().0, [], "in flight, as far as the first one knows");
    world.kill_worker();
    assert_eq!(world.plan().unwrap().0.len(), 1);
}

/// Clocks differ, leases overlap: the worst is an event that is sent twice.
#[test]
fn two_workers_at_once_do_no_harm() {
    let mut world = World::new();
    let id = world.endpoint("all").id;
    for number in 0..20 {
        world.announce("deposit.credited", &format!("dep_{}", number % 3));
    }
    let mut second = DeliveryWorker::open(world.rows_location(), World::settings("node-1")).unwrap();
    loop {
        let (attempts, _) = world.plan().unwrap();
        let others = second.round(world.now()).unwrap();
        if attempts.is_empty() && others.attempts.is_empty() && !others.is_busy {
            break;
        }
        let mut send = |attempts: Vec<_>| -> Vec<_> {
            attempts
                .into_iter()
                .map(|attempt| (world.send(&attempt, &mut |_| ok()), attempt))
                .map(|(outcome, attempt)| (attempt, outcome, Jitter::default()))
                .collect()
        };
        let (mine, theirs) = (send(attempts), send(others.attempts));
        let now = world.now();
        second.record(theirs, now).unwrap();
        world.worker().unwrap().record(mine, now).unwrap();
    }
    let distinct: BTreeSet<&str> = world.events_of(&id).into_iter().collect();
    assert_eq!(distinct.len(), 20);
    assert!(world.log(&id).iter().all(|delivery| delivery.attempts == 1), "{:?}", world.log(&id));
}

#[test]
fn what_waits_for_one_endpoint_is_bounded() {
    let mut world = World::new();
    let (full, other) = (world.endpoint("full").id, world.endpoint("other").id);
    world.announce_many(WAITING_MAX + 150);
    let from = full.clone();
    // The first endpoint never answers: its requests stay in flight.
    let mut rounds = 0;
    loop {
        let (attempts, is_busy) = world.plan().unwrap();
        if attempts.is_empty() && !is_busy {
            break;
        }
        rounds += 1;
        let done: Vec<_> = attempts
            .into_iter()
            .filter(|attempt| attempt.endpoint != from)
            .map(|attempt| (world.send(&attempt, &mut |_| ok()), attempt))
            .map(|(outcome, attempt)| (attempt, outcome, Jitter::default()))
            .collect();
        let now = world.now();
        world.worker().unwrap().record(done, now).unwrap();
    }
    assert_eq!(world.events_of(&other).len(), WAITING_MAX + 150, "in {rounds} rounds");
    let sql = "SELECT seq FROM webhook_deliveries WHERE endpoint = $1";
    let waiting = world.reader().rows(sql, vec![bankroll_store::columns::text(full.as_str())]).unwrap().len();
    assert!((32..=100).contains(&waiting), "{waiting}: one page, for an endpoint that never answered");
    assert_eq!(world.worker().unwrap().in_flight().all, 4);
}
