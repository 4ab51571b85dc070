//! A game server dies between reserving and committing; a node is stopped while calls are in flight.

use std::{
    collections::BTreeMap,
    io,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use serde_json::json;

use super::{
    caller::{Caller, Reply},
    casino::{ALICE_HAS, Casino, start},
    deployment::{Deployment, start_front},
    wait_until,
    wallet::Wallet,
};
use crate::running::Running;

#[test]
fn a_game_server_that_died_after_reserving_finds_its_place_again() {
    let casino = Casino::open();
    let wallet = Wallet::of("alice");
    let spawn = json!({ "player": wallet.address() });
    let reserved = ["kept", "given back"].map(|key| casino.arena.arena("spawns", key, &spawn).expect(200));
    assert_eq!(casino.arena.balance(&wallet.funds()).1, ALICE_HAS - 200);
    // The node dies as well; what the server knows is the keys that it would have used.
    let casino = casino.kill_and_start();
    let arena = &casino.arena;
    assert_eq!(arena.get("/v1/servers/arena/spawns").expect(200)["spawns"], json!([]), "none is committed");
    for (key, reserved) in ["kept", "given back"].into_iter().zip(&reserved) {
        let again = arena.arena("spawns", key, &spawn);
        assert_eq!((again.is_replay(), &again.expect(200)), (true, reserved), "{key}");
    }
    let end = |place: usize, how: &str| {
        let spawn = reserved[place]["spawn"].as_str().unwrap();
        arena.arena(&format!("spawns/{spawn}/{how}"), &format!("{how}-{place}"), &json!({}))
    };
    end(0, "commit").expect(200);
    end(1, "release").expect(200);
    let live = arena.get("/v1/servers/arena/spawns").expect(200);
    assert_eq!(live["spawns"][0]["spawn"], reserved[0]["spawn"]);
    assert_eq!(live["spawns"].as_array().unwrap().len(), 1);
    assert_eq!(arena.balance(&wallet.funds()), (ALICE_HAS - 100, ALICE_HAS - 100));
    casino.close();
}

/// What a call in flight may end with.
#[derive(Debug)]
enum Outcome {
    Applied(Reply),
    /// The service says that nothing was changed.
    Refused(String),
    /// The connection was not served any more, or the answer says that the outcome is unknown.
    Unknown(String),
}

/// What a call ended with; `None` if nothing listens any more, so that nothing was sent.
fn outcome(sent: io::Result<Reply>) -> Option<Outcome> {
    let reply = match sent {
        Ok(reply) => reply,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return None,
        Err(error) => return Some(Outcome::Unknown(error.kind().to_string())),
    };
    Some(match reply.status {
        200 => Outcome::Applied(reply),
        503 if reply.code() == "outcome_unknown" => Outcome::Unknown(reply.code()),
        503 | 429 => Outcome::Refused(reply.code()),
        _ => panic!("{reply:?}"),
    })
}

/// Calls with keys of their own, until nothing listens any more, or several were refused.
fn call_until_gone(arena: &Caller, caller: usize, answered: &AtomicUsize) -> BTreeMap<String, Outcome> {
    let body = json!({ "account": Wallet::of("alice").funds(), "amount": "1" }).to_string();
    let (mut outcomes, mut refused) = (BTreeMap::new(), 0);
    while refused < 16 {
        let key = format!("{caller}-{}", outcomes.len());
        let Some(outcome) = outcome(arena.try_post("/v1/servers/arena/withdraw", &key, &body)) else { break };
        refused += usize::from(matches!(outcome, Outcome::Refused(_)));
        outcomes.insert(key, outcome);
        answered.fetch_add(1, Ordering::SeqCst);
    }
    outcomes
}

/// The states of `/readyz` until nothing listens any more: whether it was green, each.
fn readiness(arena: &Caller, is_gone: &AtomicBool) -> Vec<bool> {
    let mut seen = Vec::new();
    while !is_gone.load(Ordering::SeqCst) {
        seen.push(arena.try_get("/readyz").is_ok_and(|reply| reply.status == 200));
    }
    seen
}

/// Stops a node while calls are in flight; what became of each, by key.
fn stop_under_load(node: Running, arena: &Caller) -> BTreeMap<String, Outcome> {
    let (answered, is_gone) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (outcomes, ready) = thread::scope(|scope| {
        let calls = |caller| {
            let answered = &answered;
            scope.spawn(move || call_until_gone(arena, caller, answered))
        };
        let callers: Vec<_> = (0..8).map(calls).collect();
        let probe = scope.spawn(|| readiness(arena, &is_gone));
        wait_until("calls are in flight", || answered.load(Ordering::SeqCst) >= 64);
        node.signal("-TERM");
        assert_eq!(node.ended().0, 0);
        is_gone.store(true, Ordering::SeqCst);
        let outcomes = callers.into_iter().flat_map(|caller| caller.join().unwrap());
        (outcomes.collect::<BTreeMap<String, Outcome>>(), probe.join().unwrap())
    });
    let is = |outcome: &Outcome| match outcome {
        Outcome::Applied(_) => "applied".to_owned(),
        Outcome::Refused(code) | Outcome::Unknown(code) => code.clone(),
    };
    let counts = outcomes.values().map(is).fold(BTreeMap::new(), |mut counts, kind| {
        *counts.entry(kind).or_insert(0) += 1;
        counts
    });
    println!("{counts:?}");
    let red = ready.iter().position(|is_ready| !is_ready).expect("it turns red");
    assert!(red > 0 && ready[red..].iter().all(|is_ready| !is_ready), "green, then red for good: {ready:?}");
    outcomes
}

/// Repeats each call: what was answered is answered again, what was refused had not happened, and each is applied once.
fn check_outcomes(arena: &Caller, outcomes: &BTreeMap<String, Outcome>) {
    let body = json!({ "account": Wallet::of("alice").funds(), "amount": "1" }).to_string();
    for (key, outcome) in outcomes {
        let repeated = arena.post_until_answered("/v1/servers/arena/withdraw", key, &body);
        match outcome {
            Outcome::Applied(first) => assert_eq!((repeated.is_replay(), &repeated.body), (true, &first.body), "{key}"),
            Outcome::Refused(code) => assert!(!repeated.is_replay(), "{key}: {code} said that nothing was changed"),
            Outcome::Unknown(_) => {}
        }
    }
    let left = ALICE_HAS - outcomes.len() as u64;
    assert_eq!(arena.balance(&Wallet::of("alice").funds()), (left, left), "each was applied once");
}

#[test]
fn a_node_that_is_stopped_answers_or_refuses_each_call_and_loses_none() {
    let Casino { folder, node, arena } = Casino::open();
    let outcomes = stop_under_load(node, &arena);
    let (node, address) = start(folder.path(), &[]);
    let arena = Caller { address, ..arena };
    check_outcomes(&arena, &outcomes);
    Casino { folder, node, arena }.close();
}

#[test]
fn a_front_that_is_stopped_answers_or_refuses_each_call_and_loses_none() {
    let Deployment { folder, url, front, arena, books, .. } = Deployment::open();
    let outcomes = stop_under_load(front, &arena);
    let (_front, address) = start_front(folder.path(), &url);
    check_outcomes(&Caller { address, ..arena }, &outcomes);
    drop(books);
}
