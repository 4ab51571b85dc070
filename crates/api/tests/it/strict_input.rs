//! A body has one meaning, or none.

use serde_json::json;

use crate::world::{Ask, Reply, World, funds_of};

fn send(world: &World, path: &str, body: &str) -> Reply {
    let (token, key) = (world.token("arena"), format!("strict-{}", world.number()));
    let body = Some(body.as_bytes().to_vec());
    world.ask(Ask { token: Some(&token), key: Some(&key), body, ..Ask::new("POST", path) })
}

#[test]
fn every_other_form_of_a_body_is_refused_and_moves_nothing() {
    let world = World::new();
    let alice = funds_of("arena", "alice");
    let check = |body: &str, code: &str| {
        let reply = send(&world, "/v1/servers/arena/withdraw", &body.replace("ALICE", &alice));
        assert_eq!(reply.code(), code, "{body}");
    };
    check(r#"{"account": "ALICE", "amount": "1", "balance": "9"}"#, "body_invalid");
    check(r#"{"account": "ALICE", "amount": "1", "amount": "2"}"#, "body_duplicate_field");
    check(r#"{"account": "ALICE", "amount": "1", "\u0061mount": "2"}"#, "body_duplicate_field");
    check(r#"{"account": "ALICE", "amount": 1}"#, "body_invalid");
    check(r#"{"account": "ALICE"}"#, "body_invalid");
    check(r#"{"account": "ALICE", "amount": "1"} {}"#, "body_not_json");
    check("", "body_not_json");
    check(r#"{"account": "#, "body_not_json");
    check(r#"["ALICE", "1"]"#, "body_invalid");
    check(&r#"{"a":"#.repeat(100), "body_too_deep");
    for amount in ["-1", "+1", "01", "1.0", "1e3", "0x1", " 1", "", "1,000"] {
        check(&format!(r#"{{"account": "ALICE", "amount": "{amount}"}}"#), "amount_malformed");
    }
    check(r#"{"account": "ALICE", "amount": "340282366920938463463374607431768211456"}"#, "amount_too_large");
    check(r#"{"account": "ALICE", "amount": "0"}"#, "amount_zero");
    check(r#"{"account": "arena/funds/01/x", "amount": "1"}"#, "account_name_invalid");
    assert_eq!(world.balance("arena", &alice).0, "1000");
}

#[test]
fn size_and_type_of_a_body_are_checked() {
    let world = World::new();
    let large = format!(r#"{{"amount": "1", "x": "{}"}}"#, "y".repeat(1 << 20));
    let reply = send(&world, "/v1/servers/arena/pellets", &large);
    assert_eq!((reply.status, reply.code()), (413, "body_too_large"));
    let operations: Vec<_> =
        (0..8_001).map(|key| json!({ "key": key.to_string(), "type": "pellets", "amount": "1" })).collect();
    let reply = send(&world, "/v1/servers/arena/batch", &json!({ "operations": operations }).to_string());
    assert_eq!((reply.status, reply.code()), (400, "body_invalid"));
    let reply = send(&world, "/v1/servers/arena/batch", r#"{"operations": []}"#);
    assert_eq!((reply.status, reply.code()), (400, "body_invalid"), "nothing is not too much");
    let (token, body) = (world.token("arena"), Some(br#"{"amount": "1"}"#.to_vec()));
    let mut request =
        Ask { token: Some(&token), key: Some("k"), body, ..Ask::new("POST", "/v1/servers/arena/pellets") }.request();
    request.headers_mut().insert("content-type", http::HeaderValue::from_static("text/plain"));
    let reply = world.runtime.block_on(crate::world::send(world.router.clone(), request));
    assert_eq!((reply.status, reply.code()), (415, "media_type"));
}

#[test]
fn queries_are_strict_too() {
    let world = World::new();
    let check = |query: &str, code: &str| {
        assert_eq!(world.get("arena", &format!("/v1/servers/arena/accounts?{query}")).code(), code, "{query}");
    };
    check("limit=0", "query_invalid");
    check("limit=1001", "query_invalid");
    check("limit=1&limit=2", "query_invalid");
    check("role=admin", "query_invalid");
    check("after=x", "cursor_invalid");
    check("owner=%00", "query_invalid");
    check("after=1%0a", "query_invalid");
    let below = |number: &str| world.get("arena", &format!("/v1/servers/arena/versions?below={number}"));
    assert_eq!(below("9223372036854775808").code(), "query_invalid", "the document says int64");
    below("9223372036854775807").expect(200);
    let page = world.get("arena", "/v1/servers/arena/accounts?kind=funds&limit=1").expect(200);
    assert_eq!(page["accounts"][0]["account"], json!(funds_of("arena", "alice")));
}

#[test]
fn an_error_names_its_request_and_its_page() {
    let world = World::new();
    let reply = world.get("arena", "/v1/servers/arena/accounts/arena%2Ffunds%2F1%2Fstranger");
    assert_eq!(
        reply.body,
        json!({
            "type": "/errors/not_found", "title": "There is no such resource", "status": 404, "code": "not_found",
            "detail": "There is no such resource", "retriable": false, "request_id": "story",
        })
    );
    assert_eq!(world.get("arena", "/v1/no/such/path").body, reply.body);
    assert_eq!(world.get("arena", "/v1/servers/arena/transfer").code(), "method_not_allowed");
}

#[test]
fn operations_beyond_the_most_of_a_batch_are_not_read() {
    let world = World::new();
    let batch = |operations: &[&str]| {
        let body = format!(r#"{{"operations": [{}]}}"#, operations.join(","));
        send(&world, "/v1/servers/arena/batch", &body)
    };
    let wrong = r#"{"no_such_field": 1}"#;
    assert_eq!(batch(&[wrong]).code(), "body_invalid");
    let mut operations = vec![r#"{"key":"k","type":"pellets","amount":"0"}"#; 8_001];
    operations.push(wrong);
    let refused = batch(&operations);
    assert_eq!((refused.status, refused.code()), (400, "body_invalid"), "{refused:?}");
    assert_eq!(refused.body["detail"], "a batch has 1 to 8000 operations; this one has more");
    assert_eq!(batch(&[]).code(), "body_invalid");
}
