//! Who a caller is: registration, sessions, signed requests, sign-in; each refusal with its own code.

use bankroll_orders::{
    ChainId,
    typed_data::{self, ApiRequest, B256, U256, WalletSignature},
};
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};

use crate::world::{AUDIENCE, Ask, CHAIN, Reply, World, address, funds_of, key, player};

fn register(world: &World, body: &Value) -> Reply {
    world.ask(Ask { body: Some(body.to_string().into_bytes()), ..Ask::new("POST", "/v1/register") })
}

#[test]
fn each_wrong_registration_has_its_own_code() {
    let world = World::new();
    let code = |body: Value| register(&world, &body).code().to_owned();
    let arena = |change: fn(&mut typed_data::Registration)| world.registration("arena", "arena", change, CHAIN);
    let used = arena(|_| {});
    assert_eq!(register(&world, &used).status, 200);
    assert_eq!(code(used), "nonce_used", "a replay");
    assert_eq!(code(arena(|message| message.audience = "other.example".into())), "audience_wrong");
    assert_eq!(code(world.registration("arena", "arena", |_| {}, ChainId(1))), "chain_wrong");
    assert_eq!(code(arena(|message| message.expires = 5)), "signature_expired");
    assert_eq!(code(arena(|message| message.expires += 3_600)), "signature_too_far_ahead");
    assert_eq!(code(world.registration("arena", "mallory", |_| {}, CHAIN)), "key_not_allow_listed");
    assert_eq!(code(world.registration("rival", "arena", |_| {}, CHAIN)), "key_not_allow_listed", "another's server");
    assert_eq!(code(arena(|message| message.buyIn = U256::from(1_001))), "out_of_bounds");
    assert_eq!(code(arena(|message| message.developerFeeBps = 501)), "out_of_bounds");
    assert_eq!(code(arena(|message| message.payoutAddress = address("mallory").into())), "payout_address_unknown");
    let mut body = arena(|_| {});
    body["signature"] = json!("0x1234");
    assert_eq!(code(body), "signature_malformed");
    let mut body = arena(|_| {});
    body["buy_in"] = json!("99");
    assert_eq!(code(body), "key_not_allow_listed", "a changed field is another signer's message");
}

#[test]
fn a_registration_with_other_terms_is_a_new_version() {
    let world = World::new();
    let body = world.registration("arena", "arena", |message| message.buyIn = U256::from(200), CHAIN);
    assert_eq!(register(&world, &body).expect(200)["server"]["version"], json!(2));
    assert_eq!(world.register("arena").expect(200)["server"]["version"], json!(3));
    assert_eq!(world.register("arena").expect(200)["server"]["version"], json!(3), "the same terms are no change");
    let versions = world.get("arena", "/v1/servers/arena/versions").expect(200);
    let buy_ins: Vec<_> = versions["servers"].as_array().unwrap().iter().map(|one| one["buy_in"].clone()).collect();
    assert_eq!(json!(buy_ins), json!(["100", "200", "100"]));
}

#[test]
fn a_revoked_key_is_dead_with_its_sessions() {
    let world = World::new();
    assert_eq!(world.get("arena", "/v1/servers/arena").status, 200);
    world.owner("DELETE", &format!("/v1/registry/server-keys/{}", address("arena")), json!({}));
    assert_eq!(world.get("arena", "/v1/servers/arena").code(), "session_revoked");
    assert_eq!(world.register("arena").code(), "key_revoked");
    assert_eq!(world.get("rival", "/v1/servers/rival").status, 200);
}

#[test]
fn a_session_ends_when_it_is_closed_and_when_its_time_is_over() {
    let world = World::new();
    let token = world.token("alice");
    let ask = |method, path| world.ask(Ask { token: Some(&token), key: Some("k"), ..Ask::new(method, path) });
    assert_eq!(ask("GET", "/v1/me").expect(200)["player"], json!(player("alice")));
    ask("DELETE", "/v1/sessions/current").expect(200);
    assert_eq!(ask("GET", "/v1/me").code(), "session_revoked");
    world.pass(13 * 3_600);
    assert_eq!(world.get("bob", "/v1/me").code(), "session_expired");
    let forged = token.replace('a', "b");
    let forged = world.ask(Ask { token: Some(&forged), ..Ask::new("GET", "/v1/me") });
    assert_eq!((forged.status, forged.code()), (401, "session_invalid"));
}

#[test]
fn each_request_can_be_signed_instead() {
    let world = World::new();
    let path = "/v1/servers/arena/withdraw";
    let body = json!({ "account": funds_of("arena", "alice"), "amount": "5" }).to_string().into_bytes();
    let sign = |signer: &str, body: &[u8], expires: u64| {
        let message = ApiRequest {
            method: "POST".into(),
            path: path.into(),
            audience: AUDIENCE.into(),
            idempotencyKey: "signed".into(),
            bodyHash: B256::from_slice(&Keccak256::digest(body)),
            expires,
        };
        WalletSignature::by(&key(signer), &typed_data::digest(&message, CHAIN)).unwrap().to_string()
    };
    let send = |signature: String, signer: &str, expires: u64| {
        let headers = vec![
            ("x-bankroll-signature", signature),
            ("x-bankroll-address", address(signer).to_string()),
            ("x-bankroll-expires", expires.to_string()),
        ];
        world.ask(Ask { key: Some("signed"), body: Some(body.clone()), headers, ..Ask::new("POST", path) })
    };
    let soon = world.seconds() + 60;
    let first = send(sign("arena", &body, soon), "arena", soon);
    assert_eq!(first.status, 200, "{first:?}");
    let copied = send(sign("arena", &body, soon), "arena", soon);
    assert_eq!((copied.replayed, &copied.body), (true, &first.body), "a copy of the request has no second effect");
    assert_eq!(send(sign("arena", b"{}", soon), "arena", soon).code(), "signature_invalid", "another body");
    assert_eq!(send(sign("mallory", &body, soon), "arena", soon).code(), "signature_invalid");
    assert_eq!(send(sign("mallory", &body, soon), "mallory", soon).code(), "unauthenticated");
    assert_eq!(send(sign("rival", &body, soon), "rival", soon).code(), "not_found");
    let old = world.seconds() - 61;
    assert_eq!(send(sign("arena", &body, old), "arena", old).code(), "signature_expired");
    let far = world.seconds() + 361;
    assert_eq!(send(sign("arena", &body, far), "arena", far).code(), "signature_too_far_ahead");
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")).0, "995");
}

#[test]
fn a_sign_in_is_for_this_site_and_counts_once() {
    let world = World::new();
    let send =
        |body: &Value| world.ask(Ask { body: Some(body.to_string().into_bytes()), ..Ask::new("POST", "/v1/sign-in") });
    let body = world.sign_in_body("carol", "play.example");
    assert_eq!(send(&body).status, 200);
    assert_eq!(send(&body).code(), "nonce_used");
    assert_eq!(send(&world.sign_in_body("carol", "phishing.example")).code(), "audience_wrong");
    let mut forged = world.sign_in_body("carol", "play.example");
    forged["signature"] = world.sign_in_body("mallory", "play.example")["signature"].clone();
    assert_eq!(send(&forged).code(), "signature_invalid");
    let old = world.sign_in_body("carol", "play.example");
    world.pass(700);
    assert!(["nonce_unknown", "signature_expired"].contains(&send(&old).code()));
}

#[test]
fn only_a_wallets_own_signature_makes_it_a_players() {
    let world = World::new();
    let link = |of: &str, wallet: &str| world.post(of, "/v1/me/wallets", world.link_body(wallet, &player(of)));
    let wallets = link("alice", "alice's second").expect(200)["wallets"].clone();
    assert!(wallets.as_array().unwrap().contains(&json!(address("alice's second").to_string())), "{wallets}");
    assert_eq!(link("bob", "alice's second").code(), "wallet_taken");
    // The second wallet signs in as the same player.
    let token = world.sign_in("alice's second").expect(200)["token"].as_str().unwrap().to_owned();
    let me = world.ask(Ask { token: Some(&token), ..Ask::new("GET", "/v1/me") }).expect(200);
    assert_eq!(me["player"], json!(player("alice")));
}

#[test]
fn a_sign_in_that_was_seen_on_its_way_links_no_wallet() {
    let world = World::new();
    let carols = world.sign_in_body("carol", "play.example");
    let stolen = world.post("bob", "/v1/me/wallets", carols.clone());
    assert_eq!((stolen.status, stolen.code()), (400, "sign_in_invalid"));
    let sign_in =
        |body: Value| world.ask(Ask { body: Some(body.to_string().into_bytes()), ..Ask::new("POST", "/v1/sign-in") });
    // The reverse: a link that was seen opens no session.
    assert_eq!(sign_in(world.link_body("carol", &player("alice"))).code(), "sign_in_invalid");
    assert_eq!(sign_in(carols).status, 200, "neither has used up her message");
}
