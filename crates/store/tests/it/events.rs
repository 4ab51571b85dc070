//! Announcements as consumers read them: pages, times, and each resource's own sequence.

use bankroll_ledger::{Event, Namespace, Principal, Seq, Time};
use bankroll_store::{EventEntry, EventPosition};

use crate::world::{World, moving, request};

fn position(seq: u64, place: u16) -> EventPosition {
    EventPosition { seq: Seq(seq), place }
}

/// A deposit that announces one event about each of these resources.
fn announce(world: &World, resources: &[&str]) -> Seq {
    let (custody, alice) =
        (world.account(bankroll_ledger::AccountKind::Custody, Some("hot")), world.player("alice", 0));
    let mut made = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![moving(custody, alice, 1)]);
    made.events = resources
        .iter()
        .map(|resource| Event {
            kind: "deposit.credited".parse().unwrap(),
            resource: (*resource).to_owned(),
            body: "{}".into(),
        })
        .collect();
    world.ledger().apply(made).unwrap().seq.unwrap()
}

/// Position, resource, number of the resource, time.
fn shown(entries: &[EventEntry]) -> Vec<(u64, u16, &str, u64, u64)> {
    let shown = |entry: &'_ EventEntry| (entry.event.seq.0, entry.event.place, entry.resource_sequence, entry.at.0);
    let shown = entries.iter().map(|entry| (entry.event.resource.as_str(), shown(entry)));
    shown.map(|(resource, (seq, place, number, at))| (seq, place, resource, number, at)).collect()
}

#[test]
fn a_page_of_events_has_times_and_the_sequence_of_each_resource() {
    let mut world = World::new();
    assert_eq!(world.reader().newest_event().unwrap(), EventPosition::default());
    let first = announce(&world, &["dep_a", "dep_b", "dep_a"]).0;
    world.set_time(2_000_000);
    let second = announce(&world, &["dep_b"]).0;
    let all = [
        (first, 0, "dep_a", 1, 1_000_000),
        (first, 1, "dep_b", 1, 1_000_000),
        (first, 2, "dep_a", 2, 1_000_000),
        (second, 0, "dep_b", 2, 2_000_000),
    ];
    let check = |world: &World| {
        let reader = world.reader();
        let page = |after, most| reader.event_entries(after, most).unwrap();
        assert_eq!(shown(&page(EventPosition::default(), 10)), all);
        // A page may begin within a record; numbers of resources do not depend on where it begins.
        assert_eq!(shown(&page(position(first, 0), 2)), all[1..3]);
        assert_eq!(shown(&page(position(first, 2), 9)), all[3..]);
        assert_eq!(page(position(second, 0), 9), []);
        assert_eq!(reader.newest_event().unwrap(), position(second, 0));
        let one = reader.event_entry(position(first, 2)).unwrap().unwrap();
        assert_eq!((one.resource_sequence, one.at), (2, Time(1_000_000)));
        let first_of_record = reader.event_entry(position(second, 0)).unwrap().unwrap();
        assert_eq!(first_of_record.resource_sequence, 2);
        assert_eq!(reader.event_entry(position(first, 3)).unwrap(), None);
    };
    check(&world);
    world.ledger.take().unwrap().close();
    bankroll_store::rebuild_books(&world.options, |_| {}).unwrap();
    check(&world);
}
