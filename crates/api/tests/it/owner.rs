//! What the owner changes: keys with an end, keys of people, developers, labels, addresses of players; and consumed deposits.

use bankroll_orders::typed_data;
use serde_json::{Value, json};

use crate::world::{Ask, CHAIN, Reply, World, address, funds_of, player, server_key};

fn owner(world: &World, method: &str, path: &str, body: Value) -> Reply {
    world.sign("olga", method, path, body)
}

fn register(world: &World, body: &Value) -> Reply {
    world.ask(Ask { body: Some(body.to_string().into_bytes()), ..Ask::new("POST", "/v1/register") })
}

#[test]
fn the_old_key_of_a_rotation_ends_at_its_time() {
    let world = World::new();
    world.owner("POST", "/v1/registry/server-keys", server_key("arena", "arena-2"));
    let path = format!("/v1/registry/server-keys/{}", address("arena"));
    let end = json!({ "valid_until": "2026-11-16T00:10:00Z", "spend_limit": "500" });
    let changed = world.owner("PATCH", &path, end.clone());
    assert_eq!(changed["changes"][0]["server_key"]["spend_limit"], json!("500"));
    assert_eq!(world.get("arena", "/v1/servers/arena").status, 200, "both are good until then");
    register(&world, &world.registration("arena", "arena-2", |_| {}, CHAIN)).expect(200);
    world.pass(600);
    assert_eq!(world.get("arena", "/v1/servers/arena").code(), "session_revoked");
    assert_eq!(world.register("arena").code(), "key_revoked");
    register(&world, &world.registration("arena", "arena-2", |_| {}, CHAIN)).expect(200);
    // What is not named stays as it is, and null takes a value away.
    let changed = world.owner("PATCH", &path, json!({ "valid_until": null }));
    let key = &changed["changes"][0]["server_key"];
    assert_eq!((&key["valid_until"], &key["spend_limit"]), (&Value::Null, &json!("500")));
    assert_eq!(world.get("arena", "/v1/servers/arena").status, 200);
    assert_eq!(owner(&world, "PATCH", &path, json!({ "server": "rival" })).code(), "body_invalid");
    let unknown = format!("/v1/registry/server-keys/{}", address("nobody"));
    assert_eq!(owner(&world, "PATCH", &unknown, end).code(), "not_found");
}

#[test]
fn a_stolen_key_of_a_person_is_revoked_and_the_last_one_never() {
    let world = World::new();
    let of = |name: &str| format!("/v1/operators/keys/{}", address(name));
    assert_eq!(owner(&world, "DELETE", &of("olga"), json!({})).code(), "last_owner");
    world.hire("omar", &["owner"]);
    let stolen = world.token("olga");
    assert_eq!(world.with_token(&stolen, "GET", "/v1/servers").status, 200);
    world.sign("omar", "DELETE", &of("olga"), json!({})).expect(200);
    assert_eq!(world.with_token(&stolen, "GET", "/v1/servers").code(), "session_revoked");
    assert_eq!(world.look("olga", "/v1/servers").code(), "unauthenticated");
    assert_eq!(world.sign("omar", "DELETE", &of("omar"), json!({})).code(), "last_owner");
    assert_eq!(world.sign("omar", "DELETE", &of("olga"), json!({})).code(), "not_found", "it is revoked for ever");
    let people = world.look("omar", "/v1/operators").expect(200)["people"].clone();
    assert!(people[0]["keys"][0]["revoked_at"].is_string(), "{people}");
}

#[test]
fn the_key_of_one_is_not_the_key_of_another() {
    let world = World::new();
    let taken =
        |path: &str, body: Value| assert_eq!(owner(&world, "POST", path, body).code(), "body_invalid", "{path}");
    for name in ["alice", "arena"] {
        let omar = json!({ "kind": "add_person", "person": "omar", "roles": ["owner"], "address": address(name) });
        taken("/v1/proposals", json!({ "content": omar }));
    }
    taken("/v1/registry/custody-keys", json!({ "id": "players", "address": address("alice") }));
    taken("/v1/registry/server-keys", server_key("arena", "alice"));
    for name in ["arena", "olga", "arena custody"] {
        assert_eq!(world.sign_in(name).code(), "wallet_taken", "{name}");
    }
}

#[test]
fn a_registration_cannot_take_the_developers_fees() {
    let world = World::new();
    let stolen = |message: &mut typed_data::Registration| message.developer = address("mallory").into();
    let refused = register(&world, &world.registration("arena", "arena", stolen, CHAIN));
    assert_eq!((refused.status, refused.code()), (409, "conflict"));
    assert_eq!(world.get("dev", "/v1/servers/arena/developer").status, 200);
    world.owner("PUT", "/v1/servers/arena/developer", json!({ "developer": address("dora") }));
    assert_eq!(world.get("dev", "/v1/servers/arena/developer").code(), "not_found");
    let moved = |message: &mut typed_data::Registration| message.developer = address("dora").into();
    register(&world, &world.registration("arena", "arena", moved, CHAIN)).expect(200);
}

#[test]
fn capital_that_is_removed_and_labels() {
    let world = World::new();
    let capital = json!({ "chain": "eip155:1337", "address": address("capital"), "label": "Capital" });
    world.owner("POST", "/v1/registry/treasury", capital);
    let path = format!("/v1/registry/treasury/eip155:1337/{}", address("capital"));
    let removed = world.owner("DELETE", &path, json!({}));
    assert!(removed["changes"][0]["treasury"]["removed_at"].is_string());
    assert_eq!(owner(&world, "DELETE", &path, json!({})).code(), "not_found");
    world.owner("PUT", "/v1/servers/arena/labels", json!({ "labels": "europe, ranked" }));
    assert_eq!(world.get("arena", "/v1/servers/arena").expect(200)["labels"], json!("europe, ranked"));
}

/// The account of the test seed `test test ... junk`: the addresses below are known to every wallet.
const XPUB: &str =
    "xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP";

#[test]
fn players_get_addresses_of_their_own_where_the_server_wants_it() {
    let world = World::new();
    let enabled = |on: bool| json!({ "enabled": on });
    let single = owner(&world, "PUT", "/v1/servers/arena/player-addresses", enabled(true));
    assert_eq!(single.code(), "body_invalid", "the arena's custody key has one address");
    world.owner("POST", "/v1/registry/custody-keys", json!({ "id": "hall-custody", "xpub": XPUB }));
    world.owner("POST", "/v1/registry/server-keys", server_key("hall", "hall"));
    let first = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".parse::<bankroll_orders::Address>().unwrap();
    let payout = |message: &mut typed_data::Registration| message.payoutAddress = first.into();
    register(&world, &world.registration("hall", "hall", payout, CHAIN)).expect(200);
    let address_of = |name: &str| world.get(name, "/v1/me/deposit-address?server=hall").expect(200);
    assert_eq!((&address_of("alice")["address"], &address_of("alice")["is_own"]), (&json!(first), &json!(false)));

    world.owner("PUT", "/v1/servers/hall/player-addresses", enabled(true));
    let alices = address_of("alice");
    assert_eq!(alices["address"], json!("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"));
    assert_eq!((&alices["is_own"], &alices["spendable"]), (&json!(true), &json!(false)));
    assert_eq!(address_of("alice"), alices);
    assert_eq!(address_of("bob")["address"], json!("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"));
    world.owner("PUT", "/v1/servers/hall/player-addresses", enabled(false));
    assert_eq!(address_of("alice"), alices, "an address that was given out stays theirs");
    let devs = address_of("dev");
    assert_eq!((&devs["is_own"], &devs["spendable"]), (&json!(false), &json!(true)));
}

#[test]
fn a_deposit_is_consumed_by_one_spawn() {
    let world = World::new();
    world.deposit("dep-1", "alice", 100);
    let path = "/v1/servers/arena/deposits/dep-1";
    let deposit = world.get("arena", path).expect(200);
    assert_eq!((&deposit["amount"], &deposit["stage"]), (&json!("100"), &json!("credited")));
    assert_eq!(deposit["consumption"], Value::Null);
    let reserve = |key: &str, name: &str| {
        let body = json!({ "player": player(name), "deposit": "dep-1" });
        world.post_with("arena", "/v1/servers/arena/spawns", key, body)
    };
    let spawn = reserve("s1", "alice").expect(200)["spawn"].clone();
    let seen = |status: &str| json!({ "spawn": spawn, "status": status });
    assert_eq!(world.get("arena", path).expect(200)["consumption"], seen("reserved"));
    assert_eq!(reserve("s2", "alice").code(), "conflict");
    let end = |how: &str| {
        let path = format!("/v1/servers/arena/spawns/{}/{how}", spawn.as_str().unwrap());
        world.post("arena", &path, json!({})).expect(200)
    };
    end("commit");
    assert_eq!(world.get("arena", path).expect(200)["consumption"], seen("consumed"));
    end("refund");
    assert_eq!(reserve("s3", "alice").code(), "conflict", "money comes back, the deposit does not");
    let list = world.get("arena", "/v1/servers/arena/deposits").expect(200);
    assert_eq!(list["deposits"][0]["deposit"], json!("dep-1"));
    assert_eq!(world.get("rival", "/v1/servers/rival/deposits").expect(200)["deposits"], json!([]));
    assert_eq!(world.get("rival", "/v1/servers/rival/deposits/dep-1").code(), "not_found");
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")).0, "1100");
}
