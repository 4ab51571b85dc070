//! Events in pages: each caller sees their own, in order, from any position.

use bankroll_ledger::{Action, Amount, Event, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope};
use serde_json::{Value, json};

use crate::world::{Ask, World, player};

/// An announcement about a resource of a server and a player, as flows make them.
pub fn event(kind: &str, resource: &str, server: &str, of: &str) -> Event {
    let body = json!({ "server": server, "wallet": player(of), "amount": "5" });
    Event { kind: kind.parse().unwrap(), resource: resource.to_owned(), body: body.to_string() }
}

impl World {
    /// Announcements in the commit of one record.
    pub fn announce(&self, events: Vec<Event>) {
        let (from, to) = (self.account("@house/custody/1/hot"), self.account("arena/ecosystem/1"));
        let request = Request {
            key: IdempotencyKey {
                namespace: Namespace::Deposits,
                scope: Scope::House,
                text: format!("announce-{}", self.number()),
            },
            principal: Principal::Indexer,
            confirmation: None,
            action: Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(1) }]),
            references: References::default(),
            facts: Vec::new(),
            events,
        };
        self.ledger.apply(request).unwrap().effects().unwrap();
    }

    /// The position after everything that happened so far.
    pub fn newest_event(&self) -> u64 {
        self.get("olga", "/v1/events?after=newest").expect(200)["next"].as_u64().unwrap()
    }

    pub fn events_of(&self, of: &str, query: &str) -> Vec<Value> {
        self.get(of, &format!("/v1/events{query}")).expect(200)["events"].as_array().unwrap().clone()
    }
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn a_page_shows_what_happened_and_where_to_go_on() {
    let world = World::new();
    let before = world.newest_event();
    let spawn = world.post("arena", "/v1/servers/arena/spawns", json!({ "player": player("alice") })).expect(200);
    let spawn = spawn["spawn"].as_str().unwrap();
    world.post("arena", &format!("/v1/servers/arena/spawns/{spawn}/commit"), json!({})).expect(200);
    let page = world.get("arena", &format!("/v1/events?after={before}")).expect(200);
    let events = page["events"].as_array().unwrap();
    assert_eq!(kinds(events), ["spawn.reserved", "spawn.committed"]);
    let [first, second] = &events[..] else { panic!("{page}") };
    assert_eq!(first["resource"], spawn);
    assert_eq!([&first["resource_sequence"], &second["resource_sequence"]], [&json!(1), &json!(2)]);
    assert_eq!((&first["version"], &first["time"]), (&json!(1), &json!("2026-11-16T00:00:00.000000Z")));
    assert_eq!((&first["server"], &first["player"]), (&json!("arena"), &json!(player("alice"))));
    assert_eq!(first["data"]["amount"], "100");
    assert_eq!((&page["next"], &page["more"]), (&second["sequence"], &json!(false)));
    let rest = world.events_of("arena", &format!("?after={}", first["sequence"]));
    assert_eq!(rest, std::slice::from_ref(second), "the same event at each reading");
    let one = world.get("arena", &format!("/v1/events?after={before}&limit=1")).expect(200);
    assert_eq!((&one["events"][0], &one["next"], &one["more"]), (first, &first["sequence"], &json!(true)));
}

#[test]
fn each_caller_sees_their_own_events_and_operators_all() {
    let world = World::new();
    let before = world.newest_event();
    let nobodys = Event { kind: "reconciliation.ok".parse().unwrap(), resource: "rc".into(), body: "{}".into() };
    world.announce(vec![
        event("deposit.credited", "dep_1", "arena", "alice"),
        event("deposit.credited", "dep_2", "rival", "bob"),
        event("deposit.credited", "dep_3", "rival", "alice"),
        nobodys,
    ]);
    let seen = |of: &str| {
        let events = world.events_of(of, &format!("?after={before}"));
        events.iter().map(|event| event["resource"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(seen("arena"), ["dep_1"]);
    assert_eq!(seen("rival"), ["dep_2", "dep_3"]);
    assert_eq!(seen("alice"), ["dep_1", "dep_3"]);
    assert_eq!(seen("bob"), ["dep_2"]);
    assert_eq!(seen("dev"), [""; 0]);
    assert_eq!(seen("olga"), ["dep_1", "dep_2", "dep_3", "rc"]);
    let all = world.events_of("olga", &format!("?after={before}"));
    assert_eq!(all[0]["data"]["wallet"], json!(player("alice")), "the owner sees players in full");
    let anonymous = world.ask(Ask::new("GET", "/v1/events"));
    assert_eq!((anonymous.status, anonymous.code()), (401, "unauthenticated"));
    // Another's events move the position as well: the next page does not read them again.
    let page = world.get("dev", &format!("/v1/events?after={before}")).expect(200);
    assert_eq!(page["next"].as_u64().unwrap(), world.newest_event());
}

#[test]
fn a_players_second_wallet_is_the_player() {
    let world = World::new();
    let link = world.link_body("alice's second", &player("alice"));
    world.post("alice", "/v1/me/wallets", link).expect(200);
    let before = world.newest_event();
    world.announce(vec![event("deposit.credited", "dep_9", "arena", "alice's second")]);
    assert_eq!(world.events_of("alice", &format!("?after={before}")).len(), 1);
    assert!(world.events_of("bob", &format!("?after={before}")).is_empty());
}

#[test]
fn types_choose_events_and_pages_meet_without_a_gap() {
    let world = World::new();
    let before = world.newest_event();
    for number in 0..30 {
        let kind = ["deposit.credited", "deposit.reversed", "spawn.reserved"][number % 3];
        world.announce(vec![event(kind, &format!("r{number}"), "arena", "alice")]);
    }
    let count = |types: &str| world.events_of("arena", &format!("?after={before}&types={types}")).len();
    assert_eq!([count("*"), count("deposit.*"), count("deposit.reversed,spawn.*")], [30, 20, 20]);
    assert_eq!(count("nothing.yet"), 0, "a type that no flow announces yet is none of these");
    let (mut after, mut resources) = (before, Vec::new());
    loop {
        let page = world.get("arena", &format!("/v1/events?after={after}&types=deposit.*&limit=7")).expect(200);
        let events = page["events"].as_array().unwrap();
        resources.extend(events.iter().map(|event| event["resource"].as_str().unwrap().to_owned()));
        after = page["next"].as_u64().unwrap();
        if page["more"] == json!(false) {
            break;
        }
    }
    let expected: Vec<_> = (0..30).filter(|number| number % 3 < 2).map(|number| format!("r{number}")).collect();
    assert_eq!(resources, expected);
}

#[test]
fn a_malformed_position_or_type_is_refused() {
    let world = World::new();
    let newest = world.newest_event();
    for query in ["after=-1", "after=x", "after=01", "after=", "types=deposit", "types=", "limit=0", "since=1"] {
        let reply = world.get("arena", &format!("/v1/events?{query}"));
        assert_eq!((reply.status, reply.code()), (400, "query_invalid"), "{query}");
    }
    let token = world.token("arena");
    let ahead = (newest + 1).to_string();
    for last in ["x", "-1", "1.0", " ", "18446744073709551616", &ahead] {
        let headers = vec![("last-event-id", last.to_owned())];
        let reply = world.ask(Ask { token: Some(&token), headers, ..Ask::new("GET", "/v1/events") });
        assert_eq!((reply.status, reply.code()), (400, "query_invalid"), "{last}");
    }
    let twice = vec![("last-event-id", "1".to_owned()), ("last-event-id", "2".to_owned())];
    let reply = world.ask(Ask { token: Some(&token), headers: twice, ..Ask::new("GET", "/v1/events") });
    assert_eq!(reply.code(), "query_invalid");
}
