//! What people ask of an endpoint: events once more, and tests.

use bankroll_notify::{ResendRange, WebhookRequestKind, parse_event_id};

use crate::world::{World, answered, ok};

#[test]
fn one_event_or_a_range_is_sent_again_with_the_same_ids() {
    let mut world = World::new();
    let id = world.endpoint("all").id;
    let events: Vec<String> =
        (1..=5).map(|number| world.announce("deposit.credited", &format!("dep_{number}"))).collect();
    world.settle(|_| ok());
    let before = world.received.clone();
    world.received.clear();
    let at = |place: usize| parse_event_id(&events[place]).unwrap();
    world.ask(&id, WebhookRequestKind::Resend(ResendRange { from: at(2), to: at(2) }));
    world.settle(|_| ok());
    assert_eq!(world.events_of(&id), [&events[2]]);
    assert_eq!(world.received[0].body, before[2].body);
    world.received.clear();
    world.ask(&id, WebhookRequestKind::Resend(ResendRange { from: at(1), to: at(3) }));
    world.settle(|_| ok());
    assert_eq!(world.events_of(&id), [&events[1], &events[2], &events[3]]);
}

/// Events from before the endpoint existed: a way to fill in what a new receiver needs.
#[test]
fn a_long_range_is_sent_page_by_page_and_only_what_the_filter_accepts() {
    let mut world = World::new();
    let first = world.announce("deposit.credited", "dep_0");
    for number in 1..230 {
        let kind = if number % 2 == 0 { "deposit.credited" } else { "hand.finished" };
        world.announce(kind, &format!("dep_{number}"));
    }
    let last = world.announce("deposit.credited", "dep_last");
    let id = world.endpoint("all").id;
    let range = ResendRange { from: parse_event_id(&first).unwrap(), to: parse_event_id(&last).unwrap() };
    world.ask(&id, WebhookRequestKind::Resend(range));
    let mut rounds = 0;
    while world.round(&mut |_| ok()).unwrap() {
        rounds += 1;
        if rounds % 5 == 0 {
            world.kill_worker();
        }
    }
    let events = world.events_of(&id);
    assert_eq!((events.len(), events[0], *events.last().unwrap()), (116, first.as_str(), last.as_str()));
}

#[test]
fn a_test_event_is_signed_and_logged_like_any_other_and_is_in_no_stream() {
    let mut world = World::new();
    let id = world.endpoint_for("spawns", "spawn.*", None).id;
    let newest = world.reader().newest_event().unwrap();
    world.ask(&id, WebhookRequestKind::Test);
    world.ask(&id, WebhookRequestKind::Test);
    world.settle(|_| answered(204));
    let expected = [format!("evt_test_1_{id}"), format!("evt_test_2_{id}")];
    assert_eq!(world.events_of(&id), expected);
    let body: serde_json::Value = serde_json::from_str(&world.received[0].body).unwrap();
    assert_eq!((body["type"].as_str(), body["resource"].as_str()), (Some("webhook.test"), Some(id.as_str())));
    assert_eq!(world.log(&id)[1].event, expected[1]);
    assert_eq!(world.reader().newest_event().unwrap(), newest);
}
