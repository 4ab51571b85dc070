//! One key, one effect, one body.

use std::{sync::Barrier, thread};

use serde_json::{Value, json};

use super::{
    caller::{Caller, Reply},
    casino::{ALICE_HAS, Casino, WORLD},
    deployment::Deployment,
    wallet::Wallet,
};

const CLIENTS: usize = 64;

/// 64 clients withdraw 10 of Alice's with one key, at the same time.
fn at_once(arena: &Caller) -> Vec<Reply> {
    let body = json!({ "account": Wallet::of("alice").funds(), "amount": "10" });
    let start = Barrier::new(CLIENTS);
    thread::scope(|scope| {
        let client = |_| {
            scope.spawn(|| {
                start.wait();
                arena.arena("withdraw", "the key", &body)
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    })
}

fn check_one_effect(arena: &Caller) {
    let replies = at_once(arena);
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == replies[0].body), "{replies:?}");
    assert_eq!(replies.iter().filter(|reply| reply.is_replay()).count(), CLIENTS - 1);
    let left = ALICE_HAS - 10;
    assert_eq!(arena.balance(&Wallet::of("alice").funds()), (left, left));
}

#[test]
fn sixty_four_clients_with_one_key_have_one_effect_and_one_body() {
    let casino = Casino::open();
    check_one_effect(&casino.arena);
    casino.close();
}

#[test]
fn sixty_four_clients_of_a_front_in_another_process_have_one_effect_and_one_body() {
    let deployment = Deployment::open();
    check_one_effect(&deployment.arena);
}

/// A request, and another one under the same key.
fn pairs(alice: &str) -> Vec<(&'static str, Value, Value)> {
    let wallet = Wallet::of("alice").address();
    let two = |body: fn(&str, &str) -> Value| (body(alice, "7"), body(alice, "8"));
    let (withdraw, more) = two(|alice, amount| json!({ "account": alice, "amount": amount }));
    let (transfer, larger) = two(|alice, amount| json!({ "from": alice, "to": WORLD, "amount": amount }));
    let (pellets, others) = two(|_, amount| json!({ "amount": amount }));
    let exit =
        |amount: &str, payout: &str| json!({ "exit_id": "x1", "player": wallet, "amount": amount, "payout": payout });
    vec![
        ("withdraw", withdraw.clone(), more.clone()),
        ("deposit", withdraw.clone(), more.clone()),
        ("transfer", transfer, larger),
        ("holds", withdraw, more),
        ("pellets", pellets.clone(), others.clone()),
        ("recycle", pellets, others),
        ("spawns", json!({ "player": wallet }), json!({ "player": Wallet::of("bob").address() })),
        ("exits", exit("7", "keep"), exit("8", "keep")),
        ("exits", exit("7", "keep"), exit("7", "auto")),
    ]
}

#[test]
fn the_same_key_with_another_body_is_refused_on_every_money_route() {
    let casino = Casino::open();
    let (arena, wallet) = (&casino.arena, Wallet::of("alice"));
    let alice = wallet.sign_in(arena);
    for (path, first, other) in pairs(&wallet.funds()) {
        let key = format!("key of {path}");
        let done = arena.arena(path, &key, &first);
        done.expect(200);
        let refused = arena.arena(path, &key, &other);
        assert_eq!((refused.status, refused.code().as_str()), (409, "idempotency_mismatch"), "{path} {other}");
        assert_eq!(arena.arena(path, &key, &first).body, done.body, "{path}: the first body still has its answer");
    }
    refuses_other_settlements(arena, &wallet.funds());
    let operation =
        |amount: &str| json!({ "key": "item", "type": "withdraw", "account": wallet.funds(), "amount": amount });
    let batch = |amount: &str| {
        let answer = arena.arena("batch", "batch", &json!({ "operations": [operation(amount)] })).expect(200);
        answer["results"][0].clone()
    };
    assert!(batch("7")["applied"].is_object());
    assert_eq!(batch("8")["error"]["code"], "idempotency_mismatch");
    let first = alice.post("/v1/me/withdrawals", "payout", &wallet.payout("p1", 7));
    first.expect(200);
    let other = alice.post("/v1/me/withdrawals", "payout", &wallet.payout("p1", 8));
    assert_eq!((other.status, other.code().as_str()), (409, "idempotency_mismatch"));
    casino.close();
}

/// A hold is posted and released under keys of their own.
fn refuses_other_settlements(arena: &Caller, alice: &str) {
    let held = arena.arena("holds", "hold to post", &json!({ "account": alice, "amount": "50" })).expect(200);
    let hold = held["holds"][0]["id"].as_str().unwrap();
    let post =
        |amount: &str| arena.arena(&format!("holds/{hold}/post"), "post", &json!({ "to": WORLD, "amount": amount }));
    post("7").expect(200);
    assert_eq!(post("8").code(), "idempotency_mismatch");
    let release = |hold: &str, key: &str| arena.arena(&format!("holds/{hold}/release"), key, &json!({}));
    assert_eq!(release(hold, "post").code(), "idempotency_mismatch", "another operation under the same key");
    release(hold, "release").expect(200);
}
