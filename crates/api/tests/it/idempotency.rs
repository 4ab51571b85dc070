//! One key, one effect, one body: whatever is lost, repeated or mixed up.

use std::{future::Future, task::Poll};

use serde_json::json;

use crate::{
    people::signed,
    world::{Ask, World, funds_of, send},
};

#[test]
fn sixty_four_clients_with_one_key_have_one_effect_and_one_body() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let (token, body) = (world.token("arena"), json!({ "account": alice, "amount": "10" }).to_string());
    let replies = world.runtime.block_on(async {
        let one = || {
            let ask = Ask::new("POST", "/v1/servers/arena/withdraw");
            let body = Some(body.clone().into_bytes());
            let request = Ask { token: Some(&token), key: Some("the key"), body, ..ask }.request();
            tokio::spawn(send(world.router.clone(), request))
        };
        let tasks: Vec<_> = (0..64).map(|_| one()).collect();
        let mut replies = Vec::new();
        for task in tasks {
            replies.push(task.await.unwrap());
        }
        replies
    });
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == replies[0].body), "{replies:?}");
    assert_eq!(replies.iter().filter(|reply| !reply.replayed).count(), 1, "63 are marked as replays");
    assert_eq!(world.balance("arena", &alice).0, "990");
}

#[test]
fn the_same_key_with_another_body_changes_nothing() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let money = |amount: &str| json!({ "account": alice, "amount": amount });
    world.post_with("arena", "/v1/servers/arena/withdraw", "k", money("10")).expect(200);
    let other = world.post_with("arena", "/v1/servers/arena/withdraw", "k", money("11"));
    assert_eq!((other.status, other.code()), (409, "idempotency_mismatch"));
    let other = world.post_with("arena", "/v1/servers/arena/deposit", "k", money("10"));
    assert_eq!((other.status, other.code()), (409, "idempotency_mismatch"), "one space of keys for all operations");
    assert_eq!(world.balance("arena", &alice).0, "990");
    // Another server's key of the same text is another key.
    let bob = json!({ "account": funds_of("rival", "bob"), "amount": "10" });
    world.post_with("rival", "/v1/servers/rival/withdraw", "k", bob).expect(200);
}

#[test]
fn a_retry_after_a_lost_answer_gets_the_stored_one_even_a_refusal() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let money = json!({ "account": alice, "amount": "5000" });
    let first = world.post_with("arena", "/v1/servers/arena/withdraw", "k", money.clone());
    assert_eq!((first.status, first.code()), (422, "insufficient_funds"));
    world.give(&alice, 10_000);
    let again = world.post_with("arena", "/v1/servers/arena/withdraw", "k", money);
    assert_eq!(again.body, first.body, "money that came since does not make an old request succeed");
}

#[test]
fn a_change_needs_a_sound_key() {
    let world = World::new();
    let body = || Some(json!({ "amount": "1" }).to_string().into_bytes());
    let token = world.token("arena");
    let ask = |key: Option<&str>| {
        world.ask(Ask { token: Some(&token), key, body: body(), ..Ask::new("POST", "/v1/servers/arena/pellets") })
    };
    assert_eq!(ask(None).code(), "idempotency_key_missing");
    assert_eq!(ask(Some("")).code(), "idempotency_key_invalid");
    assert_eq!(ask(Some(&"k".repeat(201))).code(), "idempotency_key_invalid");
    assert_eq!(ask(Some(&"k".repeat(200))).status, 200);
    assert_eq!(ask(Some("developer/k")).status, 200, "it is the server's own key, whatever its text");
}

#[test]
fn a_change_of_the_registry_is_made_once() {
    let world = World::new();
    let wallet = |name: &str| {
        let address = crate::world::address(name);
        json!({ "name": name, "chain": "eip155:1337", "address": address, "role": "cold" })
    };
    let first = world.post_with("olga", "/v1/registry/wallets", "k", wallet("vault"));
    let again = world.post_with("olga", "/v1/registry/wallets", "k", wallet("vault"));
    assert_eq!((first.status, again.status, again.replayed), (200, 200, true));
    assert_eq!(first.body, again.body);
    assert_eq!(world.post_with("olga", "/v1/registry/wallets", "k", wallet("other")).code(), "idempotency_mismatch");
}

#[test]
fn a_key_opens_the_accounts_of_one_player() {
    let world = World::new();
    let open = |key: &str, name: &str| {
        let body = json!({ "player": crate::world::player(name) });
        world.post_with("arena", "/v1/servers/arena/accounts", key, body)
    };
    let first = open("k1", "carol").expect(200);
    let again = open("k1", "carol");
    assert_eq!((again.replayed, &again.body), (true, &first));
    assert_eq!(open("k1", "dave").code(), "idempotency_mismatch");
    open("k2", "carol").expect(200);
}

/// The journal has the change, and the caller is gone before memory has it.
#[test]
fn a_caller_that_goes_away_leaves_memory_and_journal_the_same() {
    let world = World::new();
    let reader = bankroll_store::Reader::open(world.ledger.location().clone()).unwrap();
    // The moment is short, so not every caller meets it.
    let is_missed = (0..1_000).all(|number| {
        let name = format!("vault-{number}");
        let address = crate::world::address(&name);
        let body = json!({ "name": name, "chain": "eip155:1337", "address": address, "role": "cold" });
        let ask = || {
            let body = Some(body.to_string().into_bytes());
            signed(&world, "olga", ("POST", "/v1/registry/wallets"), Some(&name), body).request()
        };
        let before = reader.head().unwrap().seq;
        let is_answered = world.runtime.block_on(async {
            let mut sent = Box::pin(send(world.router.clone(), ask()));
            loop {
                let once = std::future::poll_fn(|context| Poll::Ready(sent.as_mut().poll(context).is_ready()));
                let is_answered = once.await;
                if is_answered || reader.head().unwrap().seq > before {
                    break is_answered;
                }
                tokio::task::yield_now().await;
            }
        });
        let again = world.runtime.block_on(send(world.router.clone(), ask()));
        assert_eq!((again.status, again.replayed), (200, true), "{again:?}");
        let wallets = world.get("olga", "/v1/registry/wallets").expect(200)["entries"].to_string();
        assert_eq!(wallets.matches(&format!("\"{name}\"")).count(), 1, "{wallets}");
        is_answered
    });
    assert!(!is_missed, "no caller went away between the commit and the answer");
}
