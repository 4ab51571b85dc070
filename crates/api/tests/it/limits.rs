//! Limits of a key, pauses and exclusions: they stop every way, and no retry of what was done.

use serde_json::{Value, json};

use crate::world::{Ask, CHAIN, Reply, World, funds_of, player, server_key};

/// The arena with a second key that takes, and gives, 100 a minute at most.
struct Limited {
    world: World,
    token: String,
}

impl Limited {
    fn new() -> Self {
        let world = World::new();
        let mut draft = server_key("arena", "limited");
        draft["spend_limit"] = json!("100");
        world.owner("POST", "/v1/registry/server-keys", draft);
        let body = world.registration("arena", "limited", |_| {}, CHAIN).to_string().into_bytes();
        let opened = world.ask(Ask { body: Some(body), ..Ask::new("POST", "/v1/register") }).expect(200);
        let token = opened["token"].as_str().unwrap().to_owned();
        Self { world, token }
    }

    fn post(&self, path: &str, key: &str, body: &Value) -> Reply {
        let (path, body) = (format!("/v1/servers/arena/{path}"), body.to_string().into_bytes());
        self.world.ask(Ask { token: Some(&self.token), key: Some(key), body: Some(body), ..Ask::new("POST", &path) })
    }

    fn withdraw(&self, key: &str, amount: &str) -> Reply {
        self.post("withdraw", key, &json!({ "account": funds_of("arena", "alice"), "amount": amount }))
    }

    fn deposit(&self, key: &str, amount: &str) -> Reply {
        self.post("deposit", key, &json!({ "account": funds_of("arena", "alice"), "amount": amount }))
    }
}

#[test]
fn a_key_with_a_spend_limit_takes_no_more_in_a_minute() {
    let limited = Limited::new();
    assert_eq!(limited.withdraw("k1", "60").status, 200);
    assert_eq!(limited.withdraw("k2", "41").code(), "spend_limit");
    assert_eq!(limited.withdraw("k3", "40").status, 200, "what was refused was not counted");
    limited.world.pass(62);
    assert_eq!(limited.withdraw("k4", "100").status, 200);
}

#[test]
fn a_retry_of_what_was_applied_is_answered_although_the_window_is_full() {
    let limited = Limited::new();
    let first = limited.withdraw("k1", "60").expect(200);
    limited.withdraw("k2", "40").expect(200);
    let again = limited.withdraw("k1", "60");
    assert_eq!((again.status, again.replayed, &again.body), (200, true, &first));
    assert_eq!(limited.withdraw("k1", "61").code(), "idempotency_mismatch");
    assert_eq!(limited.withdraw("k3", "1").code(), "spend_limit");
    let operation = |key: &str, amount: &str| json!({ "key": key, "type": "withdraw", "account": funds_of("arena", "alice"), "amount": amount });
    let batch = json!({ "operations": [operation("k1", "60"), operation("k3", "1")] });
    let results = limited.post("batch", "batch", &batch).expect(200)["results"].clone();
    assert_eq!((&results[0]["applied"], &results[0]["replayed"]), (&first, &json!(true)));
    assert_eq!(results[1]["error"]["code"], json!("spend_limit"));
    assert_eq!(limited.world.balance("arena", &funds_of("arena", "alice")).0, "900");
}

#[test]
fn what_a_key_gives_to_players_is_limited_like_what_it_takes() {
    let limited = Limited::new();
    let (world, alice) = (&limited.world, funds_of("arena", "alice"));
    // The other key fills the world: two live spawns, and 400 of Alice's.
    let mut spawns = Vec::new();
    for key in ["s1", "s2"] {
        let spawn = world.post_with("arena", "/v1/servers/arena/spawns", key, json!({ "player": player("alice") }));
        let spawn = spawn.expect(200)["spawn"].as_str().unwrap().to_owned();
        world.post("arena", &format!("/v1/servers/arena/spawns/{spawn}/commit"), json!({})).expect(200);
        spawns.push(spawn);
    }
    world.post("arena", "/v1/servers/arena/withdraw", json!({ "account": alice, "amount": "400" })).expect(200);
    limited.deposit("k1", "60").expect(200);
    let keep = |id: &str, amount: &str| json!({ "exit_id": id, "player": player("carol"), "amount": amount, "payout": "keep" });
    assert_eq!(limited.post("exits", "k2", &keep("x1", "41")).code(), "spend_limit");
    limited.post("exits", "k3", &keep("x2", "40")).expect(200);
    assert_eq!(limited.deposit("k4", "1").code(), "spend_limit");
    let refund = |spawn: usize, key: &str| limited.post(&format!("spawns/{}/refund", spawns[spawn]), key, &json!({}));
    assert_eq!(refund(0, "k5").code(), "spend_limit");
    let held = world.post("arena", "/v1/servers/arena/holds", json!({ "account": "arena/world/1", "amount": "50" }));
    assert_eq!(held.code(), "route_not_allowed", "a hold in the world, posted to a player, is no way around it");
    world.pass(62);
    let refunded = refund(0, "k5").expect(200);
    assert_eq!(refund(1, "k7").code(), "spend_limit");
    assert_eq!(refund(0, "k5").body, refunded, "a retry is answered");
    // What it takes has a window of its own.
    limited.withdraw("k8", "100").expect(200);
}

/// Every way that the API offers from Alice's funds into the world, but for spawns.
fn ways() -> [(&'static str, Value); 3] {
    let alice = funds_of("arena", "alice");
    [
        ("withdraw", json!({ "account": alice, "amount": "1" })),
        ("transfer", json!({ "from": alice, "to": "arena/world/1", "amount": "1" })),
        ("holds", json!({ "account": alice, "amount": "1" })),
    ]
}

/// The codes of all ways, the batch last.
fn codes(world: &World) -> Vec<Value> {
    let mut codes: Vec<Value> = ways()
        .into_iter()
        .map(|(path, body)| world.post("arena", &format!("/v1/servers/arena/{path}"), body).body["code"].clone())
        .collect();
    let key = format!("batch-{}", world.number());
    let operation = json!({ "key": key, "type": "withdraw", "account": funds_of("arena", "alice"), "amount": "1" });
    let batch = world.post("arena", "/v1/servers/arena/batch", json!({ "operations": [operation] })).expect(200);
    codes.push(batch["results"][0]["error"]["code"].clone());
    codes
}

#[test]
fn a_pause_closes_every_way_into_the_world_and_none_out_of_it() {
    let world = World::new();
    world.set_quorum_of_one();
    let alice = funds_of("arena", "alice");
    let body = json!({ "account": alice, "amount": "200" });
    let before = world.post_with("arena", "/v1/servers/arena/withdraw", "k1", body.clone()).expect(200);
    let reserved = json!({ "player": player("alice") });
    let spawn = world.post("arena", "/v1/servers/arena/spawns", reserved).expect(200)["spawn"].clone();
    for pause in ["spawns", "disabled"] {
        let mut pauses = json!({ "deposits": false, "spawns": false, "withdrawals": false, "disabled": false });
        pauses[pause] = json!(true);
        world.owner("PUT", "/v1/servers/arena/pauses", pauses);
        assert_eq!(codes(&world), vec![json!("server_paused"); 4], "{pause}");
    }
    let again = world.post_with("arena", "/v1/servers/arena/withdraw", "k1", body);
    assert_eq!((again.replayed, again.body), (true, before), "what was done before the pause is answered");
    world.post("arena", "/v1/servers/arena/deposit", json!({ "account": alice, "amount": "50" })).expect(200);
    let commit = format!("/v1/servers/arena/spawns/{}/commit", spawn.as_str().unwrap());
    world.post("arena", &commit, json!({})).expect(200);
    let open = json!({ "deposits": false, "spawns": false, "withdrawals": false, "disabled": false });
    world.owner("PUT", "/v1/servers/arena/pauses", open);
    assert_eq!(codes(&world), vec![Value::Null; 4]);
}

#[test]
fn the_money_of_a_player_who_excluded_themselves_stays_out_of_the_world() {
    let world = World::new();
    world.post("alice", "/v1/me/exclusion", json!({ "until": "2027-01-01T00:00:00Z" })).expect(200);
    assert_eq!(codes(&world), vec![json!("not_eligible"); 4]);
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")), ("1000".into(), "1000".into()));
}

#[test]
fn a_change_without_effect_is_recorded_and_has_none_later() {
    let world = World::new();
    let put = |key: &str, is_paused: bool| {
        let pauses = json!({ "deposits": false, "spawns": is_paused, "withdrawals": false, "disabled": false });
        world.sign_with("olga", "PUT", "/v1/servers/arena/pauses", key, pauses)
    };
    let nothing = put("k1", false).expect(200);
    assert_eq!(nothing["changes"], json!([]));
    put("k2", true).expect(200);
    let again = put("k1", false);
    assert_eq!((again.replayed, &again.body), (true, &nothing));
    assert_eq!(world.get("olga", "/v1/servers/arena").expect(200)["pauses"]["spawns"], json!(true), "still paused");
    assert_eq!(put("k1", true).code(), "idempotency_mismatch");
}
