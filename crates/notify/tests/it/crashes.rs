//! Killed at each step: at each commit, before and after it, and after each request was sent.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use bankroll_notify::{DeliveryAttempt, Jitter, announce_stopped};
use bankroll_store::{EventPosition, FaultKind, FaultPoint};

use crate::world::{World, answered, ok};

/// Two endpoints, three events about two resources. Returns the ids.
fn story(world: &mut World) -> Vec<String> {
    world.endpoint("one");
    world.endpoint("two");
    ["dep_a", "dep_a", "dep_b"].map(|resource| world.announce("deposit.credited", resource)).to_vec()
}

/// Every event reached both endpoints, the two about one resource in order, each with one content.
fn check(world: &World, events: &[String], what: &str) {
    for label in ["one", "two"] {
        let id = bankroll_notify::EndpointId::new("admin/olga", label);
        let got = world.events_of(&id);
        let first = |event: &String| got.iter().position(|known| known == event);
        let places: Vec<Option<usize>> = events.iter().map(first).collect();
        assert!(places.iter().all(Option::is_some), "{what}, {label}: {got:?}");
        assert!(places[0] < places[1], "{what}, {label}: {got:?}");
        assert_eq!(world.log(&id).len(), 3, "{what}, {label}");
    }
    let mut bodies = BTreeMap::new();
    for received in &world.received {
        assert_eq!(bodies.entry(&received.event).or_insert(&received.body), &&received.body, "{what}");
    }
    world.audit();
}

#[test]
fn killed_at_any_commit_every_event_arrives_in_order_with_its_id() {
    for fault in [FaultKind::EndsBefore, FaultKind::EndsAfter, FaultKind::Full] {
        let mut commits = 0;
        for at in 0.. {
            // Counts down to the fault, once the story is complete.
            let left = Arc::new(AtomicI64::new(i64::MAX));
            let counted = Arc::clone(&left);
            let ask = move || (counted.fetch_sub(1, Ordering::SeqCst) == 0).then_some(fault);
            let mut world = World::in_folder(|options| options.fault_point = FaultPoint::with(ask));
            let events = story(&mut world);
            left.store(at, Ordering::SeqCst);
            loop {
                match world.round(&mut |_| ok()) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(_) if fault == FaultKind::Full => {}
                    Err(_) => world.restart(),
                }
            }
            let is_over = left.load(Ordering::SeqCst) >= 0;
            check(&world, &events, &format!("{fault:?} at commit {at}"));
            if is_over {
                commits = at;
                break;
            }
        }
        assert!(commits > 6, "{commits} commits");
    }
}

#[test]
fn killed_after_any_request_was_sent_it_is_sent_again() {
    for at in 0..8_usize {
        let mut world = World::new();
        let events = story(&mut world);
        let mut sent = 0;
        loop {
            let (attempts, is_busy) = world.plan().unwrap();
            if attempts.is_empty() && !is_busy {
                break;
            }
            let mut done: Vec<(DeliveryAttempt, _, _)> = Vec::new();
            let mut is_killed = false;
            for attempt in attempts {
                let outcome = world.send(&attempt, &mut |_| ok());
                is_killed |= sent == at;
                sent += 1;
                if is_killed {
                    break;
                }
                done.push((attempt, outcome, Jitter::default()));
            }
            let now = world.now();
            if is_killed {
                // With everything that was not recorded.
                world.restart();
            } else {
                world.worker().unwrap().record(done, now).unwrap();
            }
        }
        check(&world, &events, &format!("killed after request {at}"));
        let killed = sent > at;
        assert!(killed == (world.received.len() > 6), "{at}: {}", world.received.len());
    }
}

/// The books die while they disable an endpoint: it is disabled once, with one event.
#[test]
fn killed_while_an_endpoint_is_disabled_it_is_announced_once() {
    for fault in [FaultKind::EndsBefore, FaultKind::EndsAfter, FaultKind::Full] {
        let next = Arc::new(Mutex::new(None));
        let injected = Arc::clone(&next);
        let mut world =
            World::in_folder(|options| options.fault_point = FaultPoint::with(move || injected.lock().unwrap().take()));
        let id = world.endpoint("gone").id;
        world.announce("deposit.credited", "dep_1");
        world.settle(|_| answered(410));
        *next.lock().unwrap() = Some(fault);
        announce_stopped(world.ledger(), &world.reader()).unwrap_err();
        world.restart();
        announce_stopped(world.ledger(), &world.reader()).unwrap();
        assert!(!world.find(&id).is_enabled(), "{fault:?}");
        let events = world.reader().event_entries(EventPosition::default(), 100).unwrap();
        let disabled = events.iter().filter(|entry| entry.event.kind == "webhook.disabled").count();
        assert_eq!(disabled, 1, "{fault:?}");
        world.audit();
    }
}
