//! Ordinary days: events reach the endpoints that want them, in order, with their content.

use bankroll_notify::{DeliveryState, parse_event_id};

use crate::world::{SECOND, World, answered, no_answer, ok};

#[test]
fn every_event_reaches_every_endpoint_that_wants_it_once() {
    let mut world = World::new();
    world.announce("deposit.credited", "dep_before");
    let all = world.endpoint("all").id;
    let spawns = world.endpoint_for("spawns", "spawn.*", None).id;
    let arena = world.endpoint_for("arena", "deposit.*,spawn.*", Some("arena")).id;
    let other = world.endpoint_for("other", "deposit.*,spawn.*", Some("other")).id;
    let credited = world.announce("deposit.credited", "dep_1");
    let committed = world.announce("spawn.committed", "spn_1");
    let elsewhere = world.announce_of("other", "spawn.committed", "spn_2").unwrap();
    world.settle(|_| ok());
    assert_eq!(world.events_of(&all), [&credited, &committed, &elsewhere]);
    assert_eq!(world.events_of(&spawns), [&committed, &elsewhere]);
    assert_eq!(world.events_of(&other), [&elsewhere]);
    assert_eq!(world.events_of(&arena), [&credited, &committed]);
    world.settle(|_| panic!("nothing is left"));
    world.audit();
}

#[test]
fn a_request_has_the_event_in_its_public_form() {
    let mut world = World::new();
    let id = world.endpoint("all").id;
    world.announce("deposit.credited", "dep_1");
    let event = world.announce("deposit.reversed", "dep_1");
    world.settle(|_| ok());
    let body: serde_json::Value = serde_json::from_str(&world.received[1].body).unwrap();
    let position = parse_event_id(&event).unwrap();
    let expected = serde_json::json!({
        "id": event, "type": "deposit.reversed", "version": 1, "sequence": position.seq.0 * 16,
        "resource": "dep_1", "resource_sequence": 2, "time": "2027-01-15T08:00:00.000000Z",
        "server": "arena", "player": "alice",
        "data": { "server": "arena", "wallet": "alice", "note": "dep_1" },
    });
    assert_eq!(body, expected);
    let last = world.log(&id).pop().unwrap();
    assert_eq!((last.event.as_str(), last.state, last.attempts), (event.as_str(), DeliveryState::Delivered, 1));
    assert_eq!((last.last_status, last.answer.as_deref()), (Some(200), Some("status 200")));
}

#[test]
fn a_later_event_of_a_resource_waits_and_other_resources_go_on() {
    let mut world = World::new();
    let id = world.endpoint("all").id;
    let first = world.announce("deposit.credited", "dep_1");
    let second = world.announce("deposit.reversed", "dep_1");
    let other = world.announce("deposit.credited", "dep_2");
    let refused = first.clone();
    world.settle(|attempt| if attempt.event_id == refused { answered(500) } else { ok() });
    assert_eq!(world.events_of(&id), [&first, &other]);
    let waiting = &world.log(&id)[1];
    assert_eq!((waiting.state, waiting.attempts), (DeliveryState::Pending, 0));
    world.pass(5 * SECOND);
    world.settle(|_| ok());
    assert_eq!(world.events_of(&id), [&first, &other, &first, &second]);
}

#[test]
fn a_failed_attempt_is_in_the_log_with_its_reason() {
    let mut world = World::new();
    let id = world.endpoint("all").id;
    world.announce("deposit.credited", "dep_1");
    world.settle(|_| no_answer());
    let failed = world.log(&id).pop().unwrap();
    assert_eq!(failed.last_error.as_deref(), Some("no answer within the time"));
    assert_eq!((failed.last_status, failed.next_at.map(|at| at.0 - world.now().0)), (None, Some(5 * SECOND)));
    world.pass(5 * SECOND);
    world.settle(|_| answered(302));
    let redirected = world.log(&id).pop().unwrap();
    assert_eq!((redirected.last_status, redirected.last_error, redirected.attempts), (Some(302), None, 2));
    assert_eq!(redirected.next_at.map(|at| at.0 - world.now().0), Some(300 * SECOND));
}

#[test]
fn old_deliveries_leave_the_log_and_pending_ones_stay() {
    let mut world = World::new();
    let id = world.endpoint("all").id;
    world.announce("deposit.credited", "dep_1");
    world.settle(|_| ok());
    let pending = world.announce("deposit.credited", "dep_2");
    world.settle(|_| answered(500));
    world.pass(31 * crate::world::DAY);
    world.plan().unwrap();
    let left: Vec<String> = world.log(&id).into_iter().map(|delivery| delivery.event).collect();
    assert_eq!(left, [pending]);
}

/// A lost secret, or any row that cannot be read: nothing is sent that the receiver could not verify, and the other
/// endpoints go on.
#[test]
fn an_endpoint_without_its_secret_gets_nothing_and_stops_no_other() {
    let mut world = World::new();
    let (broken, whole) = (world.endpoint("broken").id, world.endpoint("whole").id);
    let sql = "UPDATE webhook_secrets SET endpoint = 'whe_lost' WHERE endpoint = $1";
    world.write(vec![bankroll_store::columns::any(sql, vec![bankroll_store::columns::text(broken.as_str())])]);
    let event = world.announce("deposit.credited", "dep_1");
    world.settle(|_| ok());
    assert_eq!((world.events_of(&broken), world.events_of(&whole)), (vec![], vec![event.as_str()]));
    let now = world.now();
    let round = world.worker().unwrap().round(now).unwrap();
    assert_eq!(round.skipped.iter().map(|(id, _)| id).collect::<Vec<_>>(), [&broken]);
}
