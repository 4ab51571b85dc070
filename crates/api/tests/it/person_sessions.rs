//! Sessions and keys of people and programs: they read, are listed, and stop at once.

use bankroll_operators::{ActHash, Operators};
use serde_json::{Value, json};

use crate::{
    people::signed,
    world::{Ask, CHAIN, World, address, key},
};

#[test]
fn a_session_reads_and_changes_nothing() {
    let world = World::new();
    let token = world.token("olga");
    assert_eq!(world.with_token(&token, "GET", "/v1/registry/chains").status, 200);
    let changes = [
        ("POST", "/v1/registry/chains"),
        ("PUT", "/v1/servers/arena/labels"),
        ("PUT", "/v1/servers/arena/pauses"),
        ("POST", "/v1/proposals"),
        ("POST", "/v1/program-keys"),
        ("POST", "/v1/operators/olga/suspend"),
        ("DELETE", "/v1/operators/sessions/ses_00000000000000000000000000000000"),
    ];
    for (method, path) in changes {
        let refused = world.with_token(&token, method, path);
        assert_eq!((refused.status, refused.code()), (403, "signature_needed"), "{method} {path}");
    }
}

#[test]
fn sessions_are_listed_and_stop_when_they_are_revoked() {
    let world = World::new();
    world.hire("omar", &["owner"]);
    world.hire("vera", &["viewer"]);
    let (omars, veras) = (world.open_session("operator", "omar"), world.open_session("operator", "vera"));
    let listed = |token: &str| world.with_token(token, "GET", "/v1/operators/sessions").expect(200)["sessions"].clone();
    assert_eq!(listed(&omars).as_array().unwrap().len(), 3);
    let own = listed(&veras);
    assert_eq!((own.as_array().unwrap().len(), &own[0]["person"]), (1, &json!("vera")));
    let path = format!("/v1/operators/sessions/{}", own[0]["session"].as_str().unwrap());
    world.sign("omar", "DELETE", &path, json!({})).expect(200);
    assert_eq!(world.with_token(&veras, "GET", "/v1/servers").code(), "session_revoked");
    world.with_token(&omars, "DELETE", "/v1/sessions/current").expect(200);
    assert_eq!(world.with_token(&omars, "GET", "/v1/servers").code(), "session_revoked");
    assert_eq!(world.look("olga", "/v1/operators/sessions").expect(200)["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_suspension_ends_sessions_for_ever_and_keys_until_it_is_lifted() {
    let world = World::new();
    world.hire("omar", &["owner"]);
    world.hire("vera", &["viewer"]);
    let token = world.open_session("operator", "vera");
    world.sign("omar", "POST", "/v1/operators/vera/suspend", json!({})).expect(200);
    assert_eq!(world.with_token(&token, "GET", "/v1/servers").code(), "session_revoked");
    assert_eq!(world.look("vera", "/v1/servers").code(), "unauthenticated");
    world.agree(&json!({ "kind": "reinstate", "person": "vera" }));
    assert_eq!(world.look("vera", "/v1/servers").status, 200);
    assert_eq!(world.with_token(&token, "GET", "/v1/servers").code(), "session_revoked", "it stays dead");
}

#[test]
fn the_key_of_a_program_reads_within_its_rights_and_is_shown_once() {
    let world = World::new();
    let body = json!({ "label": "reports", "rights": ["read_money"], "lifetime_seconds": 600 });
    let make = || world.sign_with("olga", "POST", "/v1/program-keys", "k1", body.clone());
    let made = make().expect(200);
    let text = made["key"].as_str().unwrap().to_owned();
    let again = make();
    assert!(again.replayed && again.body["key"].is_null(), "{again:?}");
    assert_eq!(again.body["program_key"], made["program_key"]);
    let get = |text: &str, path: &str| world.with_token(text, "GET", path);
    assert_eq!(get(&text, "/v1/servers/arena/accounts").status, 200);
    assert_eq!(get(&text, "/v1/audit-log").code(), "forbidden");
    assert_eq!(world.with_token(&text, "POST", "/v1/registry/chains").code(), "forbidden");
    let id = made["program_key"]["id"].as_str().unwrap();
    let wrong = [
        format!("bkp_{id}_{}", "0".repeat(64)),
        format!("bkp_0123456789abcdef_{}", &text[text.len() - 64..]),
        text.to_uppercase(),
        format!("{text}00"),
        "bkp_".into(),
        format!("bkp_{id}_"),
    ];
    for text in &wrong {
        assert_eq!(get(text, "/v1/servers").code(), "session_invalid", "{text}");
    }
    let log = world.look("olga", "/v1/audit-log").expect(200).to_string();
    assert!(!log.contains(&text[text.len() - 64..]), "the books keep a hash");
    world.sign("olga", "DELETE", &format!("/v1/program-keys/{id}"), json!({})).expect(200);
    assert_eq!(get(&text, "/v1/servers").code(), "session_invalid");
    let short = world.sign("olga", "POST", "/v1/program-keys", body).expect(200)["key"].as_str().unwrap().to_owned();
    assert_eq!(get(&short, "/v1/servers").status, 200);
    world.pass(600);
    assert_eq!(get(&short, "/v1/servers").code(), "session_invalid");
}

#[test]
fn a_signature_for_another_deployment_counts_for_nothing() {
    use bankroll_orders::{
        ChainId,
        typed_data::{self, ApiRequest, B256, WalletSignature},
    };
    use sha3::{Digest, Keccak256};
    let world = World::new();
    let body = json!({ "content": { "kind": "set_quorum", "quorum": 1 } }).to_string().into_bytes();
    for (audience, chain) in [("staging.example", CHAIN), ("funds.example", ChainId(1))] {
        let mut ask = signed(&world, "olga", ("POST", "/v1/proposals"), Some("k"), Some(body.clone()));
        let message = ApiRequest {
            method: "POST".into(),
            path: "/v1/proposals".into(),
            audience: audience.into(),
            idempotencyKey: "k".into(),
            bodyHash: B256::from_slice(&Keccak256::digest(&body)),
            expires: world.seconds() + 60,
        };
        ask.headers[0].1 = WalletSignature::by(&key("olga"), &typed_data::digest(&message, chain)).unwrap().to_string();
        assert_eq!(world.ask(ask).code(), "signature_invalid", "{audience}");
    }
    // Nor a signature over another path.
    let ask = signed(&world, "olga", ("POST", "/v1/program-keys"), Some("k"), Some(body));
    assert_eq!(world.ask(Ask { path: "/v1/proposals", ..ask }).code(), "signature_invalid");
    assert_eq!(world.look("olga", "/v1/operators").expect(200)["quorum"], json!(2));
}

#[test]
fn a_stranger_can_verify_the_whole_log() {
    let world = World::new();
    world.hire_all();
    world.look("sam", &format!("/v1/players/{}", crate::world::player("alice"))).expect(200);
    let mut entries: Vec<Value> = Vec::new();
    let mut below = String::new();
    loop {
        let page = world.look("anna", &format!("/v1/audit-log?limit=7{below}")).expect(200);
        entries.extend(page["entries"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_u64() else { break };
        below = format!("&below={next}");
    }
    entries.reverse();
    let pairs = entries.iter().map(|entry| {
        let mut hash = [0; 32];
        hex::decode_to_slice(entry["hash"].as_str().unwrap(), &mut hash).unwrap();
        (entry["text"].as_str().unwrap(), ActHash(hash))
    });
    let operators = Operators::replay(pairs).unwrap();
    assert_eq!(operators.people().count(), 8);
    assert_eq!(operators.entries(), u64::try_from(entries.len()).unwrap());
    let first = world.look("anna", "/v1/audit-log?person=sam").expect(200);
    assert_eq!(first["entries"].as_array().unwrap().len(), 1);
    assert_eq!(first["entries"][0]["act"]["act"], json!("read_player"));
    // Who may not see players gets no text of theirs.
    let redacted = world.look("paul", "/v1/audit-log").expect(200);
    assert_eq!(redacted["entries"][0]["text"], Value::Null);
    assert!(!redacted.to_string().contains(&address("susi").lower_hex()), "{redacted}");
}

#[test]
fn what_is_revoked_stops_at_once_through_a_front_as_well() {
    let world = World::new();
    world.hire("omar", &["owner"]);
    let front = crate::front::start(&world, crate::front::config());
    let get = |token: &str| {
        let head = format!("GET /v1/servers HTTP/1.1\r\nauthorization: Bearer {token}");
        crate::front::Client::new(front.address()).send(&head, "").status
    };
    let (session, program) = (world.open_session("operator", "omar"), world.program_key(&["read_money"]));
    assert_eq!((get(&session), get(&program)), (200, 200));
    let id = program.split('_').nth(1).unwrap();
    world.sign("olga", "DELETE", &format!("/v1/program-keys/{id}"), json!({})).expect(200);
    assert_eq!(get(&program), 401);
    world.sign("olga", "DELETE", &format!("/v1/operators/keys/{}", address("omar")), json!({})).expect(200);
    assert_eq!(get(&session), 401);
}
