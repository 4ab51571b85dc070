//! Exits: the player is always credited, once, whatever the game names, repeats or forgets.

use bankroll_ledger::Action;
use serde_json::{Value, json};

use crate::world::{Reply, World, funds_of, player};

const EXITS: &str = "/v1/servers/arena/exits";

/// Alice stakes so much; her place is no spawn.
fn stake(world: &World, amount: &str) {
    let body = json!({ "account": funds_of("arena", "alice"), "amount": amount });
    world.post("arena", "/v1/servers/arena/withdraw", body).expect(200);
}

fn spawn(world: &World, key: &str, name: &str) -> String {
    let body = json!({ "player": player(name) });
    let reserved = world.post_with("arena", "/v1/servers/arena/spawns", key, body).expect(200);
    let id = reserved["spawn"].as_str().unwrap().to_owned();
    world.post("arena", &format!("/v1/servers/arena/spawns/{id}/commit"), json!({})).expect(200);
    id
}

fn auto(id: &str, amount: &str, cap: &str) -> Value {
    json!({ "exit_id": id, "player": player("alice"), "amount": amount, "payout": "auto", "fee_cap": cap })
}

fn keep(id: &str, amount: &str) -> Value {
    json!({ "exit_id": id, "player": player("alice"), "amount": amount, "payout": "keep" })
}

fn exit(world: &World, body: Value) -> Reply {
    world.post("arena", EXITS, body)
}

#[test]
fn an_exit_whose_gas_the_player_cannot_pay_is_kept_and_its_id_is_used() {
    let world = World::new();
    stake(&world, "1000");
    let kept = exit(&world, auto("x1", "30", "5")).expect(200);
    assert_eq!((&kept["withdrawal"], &kept["kept_because"]), (&Value::Null, &json!("insufficient_funds")));
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("30".into(), "30".into()));
    let again = exit(&world, auto("x1", "30", "5"));
    assert_eq!((again.replayed, &again.body), (true, &kept));
    assert_eq!(world.get("arena", &format!("{EXITS}/x1")).expect(200), kept);
    for other in [auto("x1", "30", "6"), auto("x1", "29", "5"), keep("x1", "30")] {
        assert_eq!(exit(&world, other).code(), "idempotency_mismatch");
    }
    // Now she could pay the gas of the next one.
    let paid = exit(&world, auto("x2", "30", "5")).expect(200);
    assert!(paid["withdrawal"].is_string() && paid["kept_because"].is_null());
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("60".into(), "25".into()));
}

#[test]
fn an_exit_of_a_player_with_a_debt_repays_it_and_keeps_the_rest() {
    let world = World::new();
    world.account(&format!("arena/debt/1/{}", player("alice")));
    let lost = world.give(&funds_of("arena", "alice"), 50);
    stake(&world, "1050");
    world.apply("reverse/1".into(), Action::Reverse(lost), Vec::new());
    let kept = exit(&world, auto("x1", "80", "0")).expect(200);
    assert_eq!(kept["kept_because"], json!("insufficient_funds"));
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("30".into(), "30".into()));
    assert_eq!(world.balance("arena", "arena/world/1").0, "970");
    assert!(exit(&world, auto("x2", "80", "0")).expect(200)["withdrawal"].is_string(), "the debt is repaid");
}

/// An exit that names no spawn, and then the refund of the spawn: the world would pay twice.
#[test]
fn an_exit_names_the_live_spawn_of_its_player() {
    let world = World::new();
    let (first, second) = (spawn(&world, "s1", "alice"), spawn(&world, "s2", "alice"));
    let refused = exit(&world, keep("x1", "100"));
    assert_eq!((refused.status, refused.code()), (409, "conflict"));
    assert!(refused.body["detail"].as_str().unwrap().contains("the live spawn spn_"), "{}", refused.body);
    let named = |id: &str, spawn: &str| {
        let mut body = keep(id, "100");
        body["spawn"] = json!(spawn);
        body
    };
    exit(&world, named("x1", &first)).expect(200);
    let refund = format!("/v1/servers/arena/spawns/{first}/refund");
    assert_eq!(world.post("arena", &refund, json!({})).code(), "conflict");
    assert_eq!(exit(&world, named("x2", &first)).code(), "conflict", "it has ended");
    let missing = format!("spn_{}", "0".repeat(32));
    assert_eq!(exit(&world, named("x2", &missing)).code(), "not_found");
    exit(&world, named("x2", &second)).expect(200);
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("1000".into(), "1000".into()));
    stake(&world, "10");
    exit(&world, keep("x3", "10")).expect(200);
}

#[test]
fn a_key_is_for_one_exit_and_an_exit_has_one_id() {
    let world = World::new();
    stake(&world, "100");
    let first = world.post_with("arena", EXITS, "k1", keep("x1", "10")).expect(200);
    let again = world.post_with("arena", EXITS, "k1", keep("x1", "10"));
    assert_eq!((again.replayed, &again.body), (true, &first));
    let other = world.post_with("arena", EXITS, "k1", keep("x2", "10"));
    assert_eq!((other.status, other.code()), (409, "idempotency_mismatch"));
    let same_exit = world.post_with("arena", EXITS, "k2", keep("x1", "10"));
    assert_eq!((same_exit.replayed, &same_exit.body), (true, &first));
    assert_eq!(world.balance("arena", "arena/world/1").0, "90");
    // The refused exit can still be made: its id is not used up.
    world.post_with("arena", EXITS, "k3", keep("x2", "10")).expect(200);
    // Keys of one server are not the other's.
    world.give("rival/ecosystem/1", 10);
    world.pellets("rival", "10");
    let rivals = json!({ "exit_id": "x1", "player": player("bob"), "amount": "10", "payout": "keep" });
    world.post_with("rival", "/v1/servers/rival/exits", "k1", rivals).expect(200);
}
