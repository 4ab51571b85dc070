//! Readers of event streams while nodes die, restart and hand over: every event once, and no event after a revocation.

use bankroll_testkit::event_stream::{StreamFrame, StreamReader, StreamRequest};
use serde_json::{Value, json};

use super::{
    caller::Caller,
    casino::{Casino, api_address},
    deployment::Deployment,
    rounds, seed,
    wallet::Wallet,
};
use crate::running::Running;

fn reserve(arena: &Caller, key: &str) {
    let body = json!({ "player": Wallet::of("alice").address() }).to_string();
    arena.post_until_answered("/v1/servers/arena/spawns", key, &body).expect(200);
}

fn stream(arena: &Caller) -> StreamRequest {
    StreamRequest::new(arena.address, &arena.token)
}

fn event(frame: &StreamFrame) -> Value {
    serde_json::from_str(frame.data.as_deref().unwrap()).unwrap()
}

fn next(stream: &mut StreamReader) -> Value {
    event(&stream.event().unwrap().expect("the stream goes on"))
}

fn newest(arena: &Caller) -> u64 {
    arena.get("/v1/events?after=newest").expect(200)["next"].as_u64().unwrap()
}

/// Everything that the server sees after this position.
fn listed(arena: &Caller, after: u64) -> Vec<Value> {
    arena.get(&format!("/v1/events?after={after}&limit=1000")).expect(200)["events"].as_array().unwrap().clone()
}

#[test]
fn a_reader_resumes_after_each_kill_of_the_node_and_sees_every_event_once() {
    let mut casino = Casino::open();
    let mut random = fastrand::Rng::with_seed(seed());
    let start = newest(&casino.arena);
    let (mut seen, mut last) = (Vec::new(), start);
    for round in rounds(4) {
        let mut reader = stream(&casino.arena).after(last).open();
        let (count, read) = (random.u64(1..6), random.u64(0..6));
        for number in 0..count {
            reserve(&casino.arena, &format!("{round}-{number}"));
        }
        let mut take = |frame: &StreamFrame| {
            last = frame.id.unwrap();
            seen.push(event(frame));
        };
        for _ in 0..read.min(count) {
            take(&reader.event().unwrap().unwrap());
        }
        casino = casino.kill_and_start();
        // What was on its way still counts; a frame that is cut is no event.
        while let Ok(Some(frame)) = reader.event() {
            take(&frame);
        }
    }
    let all = listed(&casino.arena, start);
    let mut reader = stream(&casino.arena).after(last).open();
    while seen.len() < all.len() {
        seen.push(next(&mut reader));
    }
    assert_eq!(seen, all, "each once, in order, with the same id and content");
    casino.close();
}

/// A second front of the deployment, and where it answers.
fn second_front(deployment: &Deployment) -> (Running, Caller) {
    let front = Running::start(deployment.folder.path(), &deployment.url, "api-2", "api");
    let [api, _] = front.until_all(["api", "books_found"]);
    let arena = Caller { address: api_address(&api), ..deployment.arena.clone() };
    (front, arena)
}

#[test]
fn fronts_in_other_processes_stream_and_a_closed_session_ends_it_on_each() {
    let deployment = Deployment::open();
    let (_second, elsewhere) = second_front(&deployment);
    let alice = Wallet::of("alice").sign_in(&deployment.arena);
    let alice_elsewhere = Caller { address: elsewhere.address, ..alice.clone() };
    let mut readers = [&deployment.arena, &elsewhere, &alice, &alice_elsewhere].map(|of| stream(of).open());
    reserve(&deployment.arena, "k1");
    let first = next(&mut readers[0]);
    assert_eq!((&first["type"], &first["server"]), (&json!("spawn.reserved"), &json!("arena")));
    for reader in &mut readers[1..] {
        assert_eq!(next(reader), first, "the same event on each node");
    }
    let closed = alice.connect().and_then(|mut connection| {
        std::io::Write::write_all(&mut connection, alice.head("DELETE", "/v1/sessions/current", "none", 0).as_bytes())?;
        super::caller::Reply::read(connection)
    });
    closed.unwrap().expect(200);
    // Nothing that happens after the answer reaches her, on any node.
    reserve(&deployment.arena, "k2");
    let [arena, arena_elsewhere, alice, alice_elsewhere] = &mut readers;
    for reader in [alice, alice_elsewhere] {
        let end = reader.event().unwrap().unwrap();
        assert_eq!(end.event.as_deref(), Some("stream.end"), "{end:?}");
        assert_eq!(event(&end)["code"], "session_revoked");
        assert_eq!(reader.frame().unwrap(), None);
    }
    assert_eq!(next(arena), next(arena_elsewhere));
}

#[test]
fn a_stream_through_a_front_survives_the_death_of_the_holder() {
    let Deployment { folder, url, books, front, arena, .. } = Deployment::open();
    let start = newest(&arena);
    let mut reader = stream(&arena).open();
    reserve(&arena, "before");
    let mut seen = vec![next(&mut reader)];
    books.signal("-KILL");
    books.ended();
    let books = Running::start(folder.path(), &url, "books-1", "books");
    books.until("took");
    reserve(&arena, "after");
    seen.push(next(&mut reader));
    assert_eq!(seen, listed(&arena, start), "on the same connection, without a gap");
    drop((books, front));
}
