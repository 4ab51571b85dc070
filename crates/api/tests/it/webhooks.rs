//! Webhooks over HTTP: who manages which, secrets that are shown once, what the journal says about it.

use serde_json::{Value, json};

use crate::{people::signed, world::World};

const HOOK: &str = "https://hooks.example/bankroll";

fn create(world: &World, of: &str, path: &str, key: &str) -> Value {
    world.post_with(of, path, key, json!({ "url": HOOK, "types": ["deposit.*"] })).expect(200)
}

fn secret(body: &Value) -> String {
    let secret = body["secret"].as_str().unwrap_or_else(|| panic!("no secret: {body}")).to_owned();
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");
    secret
}

#[test]
fn an_operator_makes_changes_and_disables_a_webhook() {
    let world = World::new();
    let made = create(&world, "olga", "/v1/webhooks", "k1");
    let id = made["webhook"].as_str().unwrap();
    assert_eq!((&made["url"], &made["types"], &made["enabled"]), (&json!(HOOK), &json!(["deposit.*"]), &json!(true)));
    let secret = secret(&made);
    let path = format!("/v1/webhooks/{id}");
    let shown = world.get("olga", &path).expect(200);
    assert!(shown.get("secret").is_none(), "it is shown once: {shown}");
    assert_eq!(world.get("olga", "/v1/webhooks").expect(200)["webhooks"], json!([shown]));
    let moved = json!({ "url": "https://hooks.example/two" });
    let changed = world.owner("PATCH", &path, moved);
    assert_eq!((&changed["url"], &changed["types"]), (&json!("https://hooks.example/two"), &json!(["deposit.*"])));
    let disabled = world.post("olga", &format!("{path}/disable"), json!({})).expect(200);
    assert_eq!((&disabled["enabled"], &disabled["disabled_reason"]), (&json!(false), &json!("operator")));
    assert_eq!(world.post("olga", &format!("{path}/test"), json!({})).code(), "conflict");
    let enabled = world.post("olga", &format!("{path}/enable"), json!({})).expect(200);
    assert_eq!((&enabled["enabled"], &enabled["revision"]), (&json!(true), &json!(4)));
    world.post("olga", &format!("{path}/test"), json!({})).expect(200);
    world.post("olga", &format!("{path}/resend"), json!({ "from": "evt_1_0", "to": "evt_9_0" })).expect(200);
    let events = world.events_of("olga", "?types=webhook.*");
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["webhook.created", "webhook.changed", "webhook.disabled", "webhook.enabled"]);
    let all = json!(events).to_string();
    assert!(!all.contains("hooks.example") && !all.contains(&secret), "neither the URL nor the secret: {all}");
    let changes = world.get("olga", "/v1/registry/changes").expect(200).to_string();
    assert!(!changes.contains(&secret));
}

#[test]
fn a_retry_makes_no_second_webhook_and_gets_the_same_secret() {
    let world = World::new();
    let first = create(&world, "olga", "/v1/webhooks", "k1");
    let again = world.post_with("olga", "/v1/webhooks", "k1", json!({ "url": HOOK, "types": ["deposit.*"] }));
    assert_eq!((again.replayed, &again.body), (true, &first));
    let other = world.post_with("olga", "/v1/webhooks", "k1", json!({ "url": HOOK }));
    assert_eq!(other.code(), "idempotency_mismatch");
    let path = format!("/v1/webhooks/{}/rotate", first["webhook"].as_str().unwrap());
    let rotated = world.post_with("olga", &path, "k2", json!({})).expect(200);
    assert_ne!(secret(&rotated), secret(&first));
    assert_eq!(rotated["previous_secret_until"], "2026-11-17T00:00:00.000000Z", "both sign for a day");
    let again = world.post_with("olga", &path, "k2", json!({}));
    assert_eq!((again.replayed, &again.body), (true, &rotated));
    let late = world.post_with("olga", "/v1/webhooks", "k1", json!({ "url": HOOK, "types": ["deposit.*"] }));
    assert!(late.body.get("secret").is_none(), "the first secret is not the newest any more: {late:?}");
    let at_once = world.post("olga", &path, json!({ "overlap_seconds": 0 })).expect(200);
    assert_eq!(at_once["previous_secret_until"], "2026-11-16T00:00:00.000000Z");
    assert_eq!(world.post("olga", &path, json!({ "overlap_seconds": 604_801 })).code(), "body_invalid");
    assert_eq!(world.get("olga", "/v1/webhooks").expect(200)["webhooks"].as_array().unwrap().len(), 1);
}

#[test]
fn a_game_server_manages_its_own_webhooks_and_sees_no_others() {
    let world = World::new();
    let deployments = create(&world, "olga", "/v1/webhooks", "k1");
    let arenas = create(&world, "arena", "/v1/servers/arena/webhooks", "k1");
    let rivals = create(&world, "rival", "/v1/servers/rival/webhooks", "k1");
    assert_eq!((&arenas["server"], deployments.get("server")), (&json!("arena"), None));
    let ids = |of: &str, path: &str| {
        let listed = world.get(of, path).expect(200)["webhooks"].as_array().unwrap().clone();
        listed.iter().map(|one| one["webhook"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids("arena", "/v1/servers/arena/webhooks"), [arenas["webhook"].clone()]);
    assert_eq!(ids("olga", "/v1/webhooks").len(), 3, "operators see all");
    for foreign in [&deployments, &rivals] {
        let path = format!("/v1/servers/arena/webhooks/{}", foreign["webhook"].as_str().unwrap());
        assert_eq!(world.get("arena", &path).code(), "not_found");
        assert_eq!(world.get("arena", &format!("{path}/deliveries")).code(), "not_found");
        assert_eq!(world.post("arena", &format!("{path}/rotate"), json!({})).code(), "not_found");
        assert_eq!(world.post("arena", &format!("{path}/disable"), json!({})).code(), "not_found");
    }
    let path = format!("/v1/servers/arena/webhooks/{}", arenas["webhook"].as_str().unwrap());
    world.post("arena", &format!("{path}/test"), json!({})).expect(200);
    let page = world.get("arena", &format!("{path}/deliveries?state=pending&limit=5")).expect(200);
    assert_eq!(page, json!({ "deliveries": [] }), "no worker runs here");
    let path = format!("/v1/webhooks/{}/disable", arenas["webhook"].as_str().unwrap());
    assert_eq!(world.post("olga", &path, json!({})).expect(200)["enabled"], json!(false), "an operator may stop it");
}

#[test]
fn what_cannot_be_a_webhook_is_refused() {
    let world = World::new();
    let refused = |body: Value| world.post("olga", "/v1/webhooks", body).code().to_owned();
    for url in
        ["http://hooks.example/", "https://127.0.0.1/", "https://10.0.0.1/x", "https://[::1]/", "ftp://a.b/", "x"]
    {
        assert_eq!(refused(json!({ "url": url })), "webhook_target", "{url}");
    }
    assert_eq!(refused(json!({ "url": format!("https://hooks.example/{}", "x".repeat(2_000)) })), "webhook_target");
    assert_eq!(refused(json!({ "url": HOOK, "types": ["deposit"] })), "body_invalid");
    assert_eq!(refused(json!({ "url": HOOK, "secret": "whsec_mine" })), "body_invalid");
    let made = create(&world, "olga", "/v1/webhooks", "k1");
    let path = format!("/v1/webhooks/{}", made["webhook"].as_str().unwrap());
    for (from, to) in [("evt_1", "evt_1_0"), ("evt_2_0", "evt_1_0"), ("1", "2")] {
        let reply = world.post("olga", &format!("{path}/resend"), json!({ "from": from, "to": to }));
        assert_eq!(reply.code(), "body_invalid", "{from} to {to}");
    }
    for query in ["state=lost", "after=x", "after=1", "limit=0"] {
        assert_eq!(world.get("olga", &format!("{path}/deliveries?{query}")).code(), "query_invalid", "{query}");
    }
    let body = Some(json!({ "url": HOOK }).to_string().into_bytes());
    let keyless = world.ask(signed(&world, "olga", ("POST", "/v1/webhooks"), None, body));
    assert_eq!(keyless.code(), "idempotency_key_missing");
}

#[test]
fn enabled_webhooks_are_bounded() {
    let world = World::new();
    for number in 0..32 {
        create(&world, "arena", "/v1/servers/arena/webhooks", &format!("k{number}"));
    }
    let more = world.post("arena", "/v1/servers/arena/webhooks", json!({ "url": HOOK }));
    assert_eq!((more.status, more.code()), (409, "conflict"));
    create(&world, "rival", "/v1/servers/rival/webhooks", "k0");
    create(&world, "arena", "/v1/servers/arena/webhooks", "k0");
}
