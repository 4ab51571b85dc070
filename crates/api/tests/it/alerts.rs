//! Alerts by HTTP: reading, acknowledging and closing them.

use bankroll_alerts::{AlertKind, AlertObservation};
use serde_json::{Value, json};

use crate::{
    people::signed,
    world::{Reply, World},
};

fn act(world: &World, alert: &str, verb: &str, key: &str) -> Reply {
    world.post_with("olga", &format!("/v1/alerts/{alert}/{verb}"), key, json!({}))
}

fn listed(world: &World, query: &str) -> Vec<String> {
    let page = world.get("olga", &format!("/v1/alerts{query}")).expect(200);
    let subject =
        |alert: &Value| format!("{} {}", alert["subject"].as_str().unwrap(), alert["state"].as_str().unwrap());
    page["alerts"].as_array().unwrap().iter().map(subject).collect()
}

#[test]
fn an_alert_says_what_it_is_about_and_what_to_do() {
    let world = World::new();
    let id = world.open_alert("eip155:1/0xabc");
    let alert = world.get("olga", &format!("/v1/alerts/{id}")).expect(200);
    let expected = json!({
        "id": id, "kind": "wallet_stopped", "subject": "eip155:1/0xabc", "severity": "critical", "state": "open",
        "summary": "nothing new is paid", "details": {}, "items": 1, "opening": 1,
        "opened_at": "2026-11-16T00:00:00.000000Z", "changed_at": "2026-11-16T00:00:00.000000Z",
        "closes_by_itself": true, "runbook": "docs/runbooks/wallet_stopped.md",
        "next_step": "find out who used the wallet's key",
    });
    assert_eq!(alert, expected);
    assert_eq!(world.get("olga", "/v1/alerts/alt_123").code(), "not_found");
}

#[test]
fn a_person_acknowledges_once_and_a_retry_gets_the_same_answer() {
    let world = World::new();
    let id = world.open_alert("hot");
    world.pass(5);
    let first = act(&world, &id, "acknowledge", "k1");
    assert!(!first.replayed);
    let body = first.expect(200);
    assert_eq!((&body["state"], &body["acknowledged_by"]), (&json!("acknowledged"), &json!("olga")));
    assert_eq!(body["acknowledged_at"], "2026-11-16T00:00:05.000000Z");
    world.pass(5);
    let again = act(&world, &id, "acknowledge", "k1");
    assert!(again.replayed);
    assert_eq!(again.expect(200), body);
    assert_eq!(act(&world, &id, "acknowledge", "k2").expect(200), body, "it is so already");

    // The condition ends: it closes by itself, and the retry is no second acknowledgement.
    world.observe(&[AlertObservation::all(AlertKind::WalletStopped, vec![])]);
    assert_eq!(act(&world, &id, "acknowledge", "k1").expect(200)["state"], "closed");
    assert_eq!(listed(&world, ""), [""; 0]);
    assert_eq!(listed(&world, "?state=closed"), ["hot closed"]);
    let found = world.get("olga", &format!("/v1/alerts/{id}")).expect(200);
    assert_eq!((&found["closed_by"], &found["closed_at"]), (&Value::Null, &json!("2026-11-16T00:00:10.000000Z")));
}

#[test]
fn a_person_closes_it_and_a_closed_one_cannot_be_acknowledged() {
    let world = World::new();
    let id = world.open_alert("hot");
    let closed = act(&world, &id, "close", "k1").expect(200);
    assert_eq!((&closed["state"], &closed["closed_by"]), (&json!("closed"), &json!("olga")));
    let refused = act(&world, &id, "acknowledge", "k2");
    assert_eq!((refused.status, refused.code()), (409, "conflict"));
    assert_eq!(act(&world, &id, "close", "k3").expect(200), closed);
    // It holds on: another object.
    assert_ne!(world.open_alert("hot"), id);
    assert_eq!(listed(&world, ""), ["hot open"]);
}

#[test]
fn a_change_needs_a_key_and_an_empty_body() {
    let world = World::new();
    let id = world.open_alert("hot");
    let path = format!("/v1/alerts/{id}/acknowledge");
    let ask = |key, body: &str| {
        let body = Some(body.as_bytes().to_vec());
        world.ask(signed(&world, "olga", ("POST", &path), key, body))
    };
    assert_eq!(ask(None, "{}").code(), "idempotency_key_missing");
    assert_eq!(ask(Some("k"), r#"{"state":"closed"}"#).code(), "body_invalid");
    assert_eq!(listed(&world, ""), ["hot open"]);
}

#[test]
fn a_list_is_paged_filtered_and_strict() {
    let world = World::new();
    for wallet in ["a", "b", "c"] {
        world.open_alert(wallet);
        world.pass(1);
    }
    let page = world.get("olga", "/v1/alerts?limit=2").expect(200);
    let next = page["next"].as_str().unwrap();
    assert_eq!(listed(&world, "?limit=2"), ["c open", "b open"]);
    assert_eq!(listed(&world, &format!("?limit=2&after={next}")), ["a open"]);
    assert_eq!(listed(&world, "?severity=critical&kind=wallet_stopped").len(), 3);
    assert_eq!(listed(&world, "?severity=info"), [""; 0]);
    for wrong in ["?state=new", "?kind=fire", "?severity=high", "?limit=0", "?after=alt_1", "?color=red"] {
        assert_eq!(world.get("olga", &format!("/v1/alerts{wrong}")).code(), "query_invalid", "{wrong}");
    }
}
