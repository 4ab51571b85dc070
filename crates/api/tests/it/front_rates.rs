//! How many requests the front takes of one address, of one session, and at what anybody may post.

use bankroll_api::front::{FrontConfig, RateLimit};

use crate::{
    front::{Answer, Client, config, start},
    world::World,
};

#[test]
fn a_caller_that_sends_too_much_is_throttled() {
    let world = World::new();
    let limit = RateLimit { per_second: 1, burst: 3 };
    let front = start(&world, FrontConfig { rate_per_address: Some(limit), ..config() });
    let mut client = Client::new(front.address());
    let answers: Vec<Answer> = (0..6).map(|_| client.get("/v1/time")).collect();
    let limited: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 429).collect();
    assert!(limited.len() >= 2, "{answers:?}");
    assert!(limited.iter().all(|answer| answer.head.contains("retry-after: 1")), "{limited:?}");
    assert_eq!(client.get("/livez").status, 200, "the process is alive anyway");
}

#[test]
fn signing_in_has_a_low_rate_of_its_own() {
    let world = World::new();
    let front = start(&world, FrontConfig { rate_public: Some(RateLimit { per_second: 1, burst: 2 }), ..config() });
    let mut client = Client::new(front.address());
    let mut statuses =
        |path: &str| -> Vec<u16> { (0..6).map(|_| client.send(&format!("POST {path} HTTP/1.1"), "").status).collect() };
    let limited = |statuses: &[u16]| statuses.iter().filter(|status| **status == 429).count();
    let nonces = statuses("/v1/sign-in/nonce");
    assert!(limited(&nonces) >= 2 && nonces[0] != 429, "{nonces:?}");
    for path in ["/v1/register", "/v1/sessions", "/v1/sign-in"] {
        let together = statuses(path);
        assert!(limited(&together) >= 2, "one limit for all of them, {path}: {together:?}");
    }
    assert_eq!(limited(&statuses("/v1/servers/arena/transfer")), 0, "another operation");
}

#[test]
fn a_session_has_one_rate_in_every_spelling_of_its_header() {
    let world = World::new();
    let limit = RateLimit { per_second: 1, burst: 2 };
    let front = start(&world, FrontConfig { rate_per_session: Some(limit), ..config() });
    let mut client = Client::new(front.address());
    let mut call = |scheme: &str, token: &str| {
        client.send(&format!("GET /v1/servers/arena HTTP/1.1\r\nauthorization: {scheme} {token}"), "").status
    };
    let token = world.token("arena");
    let spellings = ["Bearer", "bearer", "BEARER", "Bearer ", "bEARER", "bearer  ", "beareR", "BeareR"];
    let statuses: Vec<u16> = spellings.iter().map(|scheme| call(scheme, &token)).collect();
    assert_eq!(statuses[..2], [200, 200], "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(call("Bearer", &world.token("olga")), 200, "another session");
}
