//! Endpoints that do not answer: the schedule to its end, and what follows.

use bankroll_ledger::Time;
use bankroll_notify::{WebhookEndpoint, announce_stopped, given_up};

use crate::world::{DAY, SECOND, World, answered, no_answer, ok};

/// Seconds between the attempts, as the design names them.
const PAUSES: [u64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

#[test]
fn a_dead_endpoint_follows_its_schedule_to_the_end_and_delays_no_other() {
    let mut world = World::new();
    let (dead, live) = (world.endpoint("dead").id, world.endpoint("live").id);
    let begin = world.now();
    let first = world.announce("deposit.credited", "dep_1");
    let (mut announced, mut delays) = (vec![first.clone()], Vec::new());
    // Four days, from one moment at which anything is due to the next; an event every six hours.
    let mut next_event = begin.0 + DAY / 4;
    while world.now().0 < begin.0 + 4 * DAY {
        let (from, at) = (dead.clone(), world.now());
        world.settle(|attempt| if attempt.endpoint == from { no_answer() } else { ok() });
        announce_stopped(world.ledger(), &world.reader()).unwrap();
        let due = world.next_due().filter(|due| due.0 < next_event);
        world.pass_until(due.unwrap_or(Time(next_event)));
        if due.is_none() {
            announced.push(world.announce("deposit.credited", &format!("dep_{}", announced.len() + 1)));
            next_event += DAY / 4;
        }
        delays.push(world.now().0 - at.0);
    }
    let attempts: Vec<u64> = world
        .received
        .iter()
        .filter(|received| received.endpoint == dead && received.event == first)
        .map(|received| received.at.0)
        .collect();
    assert_eq!((attempts.len(), attempts[0]), (10, begin.0));
    let pauses: Vec<u64> = attempts.windows(2).map(|pair| (pair[1] - pair[0]) / SECOND).collect();
    assert_eq!(pauses, PAUSES);
    // The other endpoint got each event at the moment it was announced.
    let on_time: Vec<_> = world.received.iter().filter(|received| received.endpoint == live).collect();
    assert!(announced.len() >= 15, "{}", announced.len());
    assert_eq!(world.events_of(&live).len(), announced.len() - 1, "the last one is not due yet");
    assert!(on_time.iter().all(|received| (received.at.0 - begin.0).is_multiple_of(DAY / 4)));
    let stopped = world.find(&dead);
    assert_eq!(stopped.disabled.as_ref().map(|disabled| disabled.reason.as_str()), Some("failed"));
    assert!(world.find(&live).is_enabled());
    world.audit();
}

/// The books say that an endpoint is disabled, once, with an event.
#[test]
fn an_endpoint_that_is_gone_is_disabled_at_once_with_an_event() {
    let mut world = World::new();
    let gone = world.endpoint("gone").id;
    let watcher = world.endpoint_for("watcher", "webhook.*", None).id;
    world.settle(|_| ok());
    world.received.clear();
    let first = world.announce("deposit.credited", "dep_1");
    let second = world.announce("deposit.credited", "dep_2");
    let from = gone.clone();
    world.settle(|attempt| if attempt.endpoint == from { answered(410) } else { ok() });
    assert_eq!(announce_stopped(world.ledger(), &world.reader()).unwrap(), std::slice::from_ref(&gone));
    assert_eq!(announce_stopped(world.ledger(), &world.reader()).unwrap(), []);
    let listed: Vec<_> =
        given_up(&world.reader()).unwrap().into_iter().map(|endpoint: WebhookEndpoint| endpoint.id).collect();
    assert_eq!(listed, std::slice::from_ref(&gone));
    world.settle(|_| ok());
    let heard = &world.received.iter().rfind(|received| received.endpoint == watcher).unwrap().body;
    let heard: serde_json::Value = serde_json::from_str(heard).unwrap();
    assert_eq!((heard["type"].as_str(), heard["data"]["reason"].as_str()), (Some("webhook.disabled"), Some("gone")));
    // It has got nothing since, and gets what it missed once it is enabled again.
    let third = world.announce("deposit.credited", "dep_3");
    world.settle(|_| ok());
    assert!(!world.events_of(&gone).contains(&third.as_str()));
    world.received.clear();
    world.enable(&gone);
    world.settle(|_| ok());
    assert_eq!(world.events_of(&gone), [&first, &second, &third]);
    assert_eq!(given_up(&world.reader()).unwrap(), []);
    world.audit();
}

/// A person was faster than the books: the endpoint stays as the person left it.
#[test]
fn an_endpoint_that_was_changed_meanwhile_is_not_disabled() {
    let mut world = World::new();
    let id = world.endpoint("gone").id;
    world.announce("deposit.credited", "dep_1");
    world.settle(|_| answered(410));
    let (_, change) = world.find(&id).change("https://hooks.example.com/new".into(), "*".parse().unwrap());
    world.commit(change);
    assert_eq!(announce_stopped(world.ledger(), &world.reader()).unwrap(), []);
    world.settle(|attempt| {
        assert_eq!(attempt.url, "https://hooks.example.com/new");
        ok()
    });
    assert!(world.find(&id).is_enabled());
    assert!(world.received.last().unwrap().is_accepted);
}
