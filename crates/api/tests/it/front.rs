//! The front on a real port: limits, health, documentation, relays.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex},
    time::Duration,
};

use bankroll_api::front::{FrontBackend, FrontConfig, FrontHandle, MetricGauge, ReadyCheck, RelayCall, answer, serve};
use bankroll_nodes::{CallError, CallRefusal};
use serde_json::{Value, json};

use crate::world::{World, funds_of};

pub fn config() -> FrontConfig {
    FrontConfig {
        rate_per_address: None,
        rate_per_session: None,
        rate_public: None,
        ..FrontConfig::new("127.0.0.1:0".parse().unwrap())
    }
}

pub fn start(world: &World, config: FrontConfig) -> FrontHandle {
    serve(config, FrontBackend::Here(world.router.clone())).unwrap()
}

/// A plain client: writes bytes, reads one answer.
pub struct Client(TcpStream);

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

impl Client {
    pub fn new(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(stream)
    }

    pub fn send(&mut self, head: &str, body: &str) -> Answer {
        write!(self.0, "{head}\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        self.read()
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1"), "")
    }

    fn read(&mut self) -> Answer {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(b"\r\n\r\n") {
            assert_eq!(self.0.read(&mut byte).unwrap(), 1, "the connection ended: {}", String::from_utf8_lossy(&bytes));
            bytes.push(byte[0]);
        }
        let head = String::from_utf8(bytes).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body: String::from_utf8_lossy(&body).into_owned() }
    }

    /// Whether the other side has closed the connection.
    fn is_closed(&mut self) -> bool {
        matches!(self.0.read(&mut [0; 64]), Ok(0) | Err(_))
    }
}

fn pellets(world: &World, key: &str) -> String {
    let token = world.token("arena");
    format!(
        "POST /v1/servers/arena/pellets HTTP/1.1\r\nauthorization: Bearer {token}\r\nidempotency-key: {key}\r\n\
         content-type: application/json"
    )
}

#[test]
fn the_front_passes_requests_on_and_adds_id_and_headers() {
    let world = World::new();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&lines);
    let config = FrontConfig { log: Arc::new(move |line| log.lock().unwrap().push(line.clone())), ..config() };
    let front = start(&world, config);
    let mut client = Client::new(front.address());
    let done = client.send(&pellets(&world, "k"), r#"{"amount": "3"}"#);
    assert_eq!((done.status, &done.json()["postings"][0]["amount"]), (200, &json!("3")), "{done:?}");
    assert!(
        done.head.contains("x-request-id: req_") && done.head.contains("x-content-type-options: nosniff"),
        "{done:?}"
    );
    let refused = client.send("GET /v1/servers/arena HTTP/1.1\r\nx-request-id: mine-1", "");
    assert_eq!((refused.status, &refused.json()["request_id"]), (401, &json!("mine-1")));
    let forged = client.send("GET /v1/time HTTP/1.1\r\nx-request-id: a b", "");
    assert!(!forged.head.contains("x-request-id: a b"), "an id cannot forge a log line");
    let lines = lines.lock().unwrap();
    assert_eq!((lines[0].route.as_str(), lines[0].status), ("/v1/servers/{server}/pellets", 200));
    assert_eq!((lines[1].request_id.as_str(), lines[1].code), ("mine-1", Some("unauthenticated")));
}

#[test]
fn health_documentation_and_metrics_are_there_without_a_network() {
    let world = World::new();
    let checks = || {
        vec![
            ReadyCheck { name: "books".into(), problem: None, is_needed: true },
            ReadyCheck { name: "eip155:1".into(), problem: Some("far behind".into()), is_needed: true },
        ]
    };
    let gauge = MetricGauge { name: "bankroll_journal_seq", help: "The last record.", labels: String::new(), value: 7 };
    let config = FrontConfig {
        checks: Arc::new(checks),
        gauges: Arc::new(move || vec![gauge.clone()]),
        metrics_listen: Some("127.0.0.1:0".parse().unwrap()),
        ..config()
    };
    let front = start(&world, config);
    let mut client = Client::new(front.address());
    assert_eq!(client.get("/livez").status, 200);
    let ready = client.get("/readyz");
    assert_eq!((ready.status, &ready.json()["checks"][1]["problem"]), (503, &json!("far behind")));
    let document = client.get("/openapi.json").json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{document}");
    let page = client.get("/docs/");
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("src=\"http") && !page.body.contains("href=\"http"), "{}", page.body);
    assert_eq!(client.get("/docs/swagger-ui-bundle.js").status, 200);
    assert!(client.get("/errors/busy").body.contains("Retry-After"));
    assert_eq!(client.get("/errors/no_such").status, 404);
    assert_eq!(client.get("/metrics").status, 404, "not on the public address");
    let metrics = Client::new(front.metrics_address().unwrap()).get("/metrics").body;
    assert!(metrics.contains("bankroll_http_requests_total{route=\"/readyz\",status=\"503\"} 1"), "{metrics}");
    assert!(metrics.contains("bankroll_journal_seq 7"), "{metrics}");
}

#[test]
fn huge_slow_and_endless_bodies_end_and_the_service_goes_on() {
    let world = World::new();
    let short = Duration::from_millis(300);
    let front = start(&world, FrontConfig { head_timeout: short, body_timeout: short, ..config() });
    let mut huge = Client::new(front.address());
    write!(huge.0, "{}\r\nhost: x\r\ncontent-length: 9999999999\r\n\r\n", pellets(&world, "huge")).unwrap();
    assert_eq!(huge.read().json()["code"], json!("body_too_large"), "before a byte of it was read");
    let mut endless = Client::new(front.address());
    write!(endless.0, "{}\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n", pellets(&world, "endless")).unwrap();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    // The front may close while this still writes.
    for _ in 0..32 {
        if endless.0.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let mut slow = Client::new(front.address());
    write!(slow.0, "{}\r\nhost: x\r\ncontent-length: 20\r\n\r\n{{", pellets(&world, "slow")).unwrap();
    assert_eq!(slow.read().json()["code"], json!("body_timeout"));
    let mut silent = Client::new(front.address());
    write!(silent.0, "GET /v1/time HTTP/1.1\r\nhost:").unwrap();
    assert!(silent.is_closed(), "half of a head");
    let done = Client::new(front.address()).send(&pellets(&world, "k"), r#"{"amount": "1"}"#);
    assert_eq!(done.status, 200);
}

#[test]
fn idle_connections_keep_no_caller_out() {
    let world = World::new();
    let front = start(&world, FrontConfig { connections_max: 16, ..config() });
    let idle: Vec<Client> = (0..200).map(|_| Client::new(front.address())).collect();
    for _ in 0..3 {
        assert_eq!(Client::new(front.address()).get("/v1/time").status, 200);
    }
    assert!(front.connections() <= 16, "{}", front.connections());
    drop(idle);
}

/// Waits for a condition of the front; fails if it does not come true.
fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while !is_true() {
        assert!(std::time::Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

/// A connection that asks for far more than sockets buffer, and reads nothing.
fn greedy(front: &FrontHandle) -> Client {
    let mut client = Client::new(front.address());
    for _ in 0..24 {
        write!(client.0, "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    }
    client
}

#[test]
fn slow_bodies_keep_no_caller_out() {
    let world = World::new();
    let front = start(&world, FrontConfig { connections_max: 16, ..config() });
    let slow = |_| {
        let mut client = Client::new(front.address());
        write!(client.0, "POST /v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-length: 20\r\n\r\n{{").unwrap();
        client
    };
    let slow: Vec<Client> = (0..32).map(slow).collect();
    assert_eq!(Client::new(front.address()).get("/v1/time").status, 200);
    assert!(front.connections() <= 2, "an eighth for one network: {}", front.connections());
    drop(slow);
}

#[test]
fn a_connection_that_gave_way_ends_although_its_caller_reads_nothing() {
    let world = World::new();
    let close_timeout = Duration::from_millis(50);
    let front = start(&world, FrontConfig { connections_max: 16, close_timeout, ..config() });
    let greedy: Vec<Client> = (0..8).map(|_| greedy(&front)).collect();
    assert_eq!(Client::new(front.address()).get("/v1/time").status, 200);
    wait_until("no connection is closing for ever", || front.closing_connections() == 0);
    drop(greedy);
}

#[test]
fn a_caller_that_takes_nothing_of_its_answer_loses_its_connection() {
    let world = World::new();
    let front = start(&world, FrontConfig { write_timeout: Duration::from_millis(50), ..config() });
    let greedy = greedy(&front);
    wait_until("the front gave up", || front.connections() == 0);
    drop(greedy);
}

#[test]
fn a_body_is_bounded_by_the_configuration_and_a_batch_without_a_proof_is_no_exception() {
    let world = World::new();
    let front = start(&world, FrontConfig { body_max: 1_024, ..config() });
    let long = " ".repeat(2_000);
    for head in
        [pellets(&world, "long"), "POST /v1/servers/arena/batch HTTP/1.1".into(), "POST /x/batch HTTP/1.1".into()]
    {
        let refused = Client::new(front.address()).send(&head, &long);
        assert_eq!((refused.status, &refused.json()["code"]), (413, &json!("body_too_large")), "{head}");
    }
    let batch = pellets(&world, "long").replace("/pellets", "/batch");
    assert_ne!(Client::new(front.address()).send(&batch, &long).status, 413);
}

#[test]
fn only_configured_origins_may_call_from_a_browser() {
    let world = World::new();
    let front = start(&world, FrontConfig { cors_origins: vec!["https://play.example".into()], ..config() });
    let mut client = Client::new(front.address());
    let ask = |client: &mut Client, origin: &str| {
        let head = "OPTIONS /v1/me HTTP/1.1\r\naccess-control-request-method: GET";
        client.send(&format!("{head}\r\norigin: {origin}"), "").head
    };
    assert!(ask(&mut client, "https://play.example").contains("access-control-allow-origin: https://play.example"));
    assert!(!ask(&mut client, "https://play.example.evil").contains("access-control-allow-origin"));
}

#[test]
fn a_front_elsewhere_relays_the_raw_request() {
    let world = World::new();
    let router = world.router.clone();
    let relay: RelayCall = Arc::new(move |request| {
        let router = router.clone();
        Box::pin(async move { Ok(answer(router, request).await) })
    });
    let front = serve(config(), FrontBackend::Relay(relay)).unwrap();
    let mut client = Client::new(front.address());
    let body = r#"{"amount": "3"}"#;
    let first = client.send(&pellets(&world, "k"), body);
    let again = client.send(&pellets(&world, "k"), body);
    assert_eq!((first.status, &first.body), (200, &again.body));
    assert!(again.head.contains("idempotent-replayed: true"));
    assert_eq!(client.get("/v1/servers/arena").status, 401, "the front claims nothing for its callers");
    let lost: RelayCall = Arc::new(|_| Box::pin(async { Err(CallError::Unknown) }));
    let front = serve(config(), FrontBackend::Relay(lost)).unwrap();
    let lost = Client::new(front.address()).send(&pellets(&world, "lost"), body);
    assert_eq!(
        (lost.status, &lost.json()["code"], &lost.json()["retriable"]),
        (503, &json!("outcome_unknown"), &json!(true))
    );
}

#[test]
fn what_waiting_does_not_help_is_not_called_unavailable() {
    let world = World::new();
    let cases = [
        (CallError::Refused(CallRefusal::TooLong), 413, "body_too_large"),
        (CallError::ReplyTooLong, 500, "response_too_large"),
        (CallError::Refused(CallRefusal::NotAllowed), 500, "internal"),
    ];
    for (error, status, code) in cases {
        let failing: RelayCall = Arc::new(move |_| {
            let error = error.clone();
            Box::pin(async { Err(error) })
        });
        let front = serve(config(), FrontBackend::Relay(failing)).unwrap();
        let answer = Client::new(front.address()).send(&pellets(&world, "k"), r#"{"amount": "1"}"#);
        let body = answer.json();
        assert_eq!((answer.status, &body["code"], &body["retriable"]), (status, &json!(code), &json!(false)));
    }
}

#[test]
fn books_that_are_not_held_are_unavailable_and_a_drain_ends() {
    let world = World::new();
    let front = start(&world, config());
    world.funds.release();
    let mut client = Client::new(front.address());
    let answer = client.send(&pellets(&world, "k"), r#"{"amount": "1"}"#);
    assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("unavailable")));
    assert!(answer.head.contains("retry-after: 1"));
    world.funds.acquire(world.ledger.clone()).unwrap();
    assert_eq!(client.send(&pellets(&world, "k"), r#"{"amount": "1"}"#).status, 200);
    let address = front.address();
    front.drain();
    assert!(client.is_closed());
    assert!(TcpStream::connect(address).is_err(), "nothing listens any more");
    assert_eq!(world.balance("arena", &funds_of("arena", "alice")).0, "1000");
}

#[test]
fn a_drain_waits_for_the_first_request_of_a_connection() {
    let world = World::new();
    let long = Duration::from_secs(60);
    let front = start(&world, FrontConfig { first_request_timeout: long, drain_timeout: long, ..config() });
    let (address, mut new, mut used) = (front.address(), Client::new(front.address()), Client::new(front.address()));
    assert_eq!(used.get("/v1/time").status, 200);
    wait_until("both are accepted", || front.connections() == 2);
    let draining = std::thread::spawn(move || front.drain());
    assert!(used.is_closed(), "it is idle");
    wait_until("nothing listens any more", || TcpStream::connect(address).is_err());
    let last = new.send(&pellets(&world, "last"), r#"{"amount": "1"}"#);
    assert_eq!(last.status, 200, "{last:?}");
    assert!(new.is_closed());
    draining.join().unwrap();
}

#[test]
fn half_open_handshakes_keep_no_caller_out() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("front.pem"), folder.path().join("front.key"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let front = start(&world, FrontConfig { connections_max: 16, tls: Some((certificate, key)), ..config() });
    let half_open: Vec<Client> = (0..256).map(|_| Client::new(front.address())).collect();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let session = rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    let mut stream = rustls::StreamOwned::new(session, TcpStream::connect(front.address()).unwrap());
    write!(stream, "GET /v1/time HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("strict-transport-security"), "{answer}");
    assert!(front.connections() <= 16);
    drop(half_open);
}

#[test]
fn an_answer_that_does_not_come_in_time_is_unknown_for_a_change_only() {
    let world = World::new();
    let never: RelayCall = Arc::new(|_| Box::pin(std::future::pending()));
    let config = FrontConfig { answer_timeout: Duration::from_millis(200), ..config() };
    let front = serve(config, FrontBackend::Relay(never)).unwrap();
    let mut client = Client::new(front.address());
    let change = client.send(&pellets(&world, "k"), r#"{"amount": "1"}"#);
    assert_eq!((change.status, &change.json()["code"]), (503, &json!("outcome_unknown")));
    assert_eq!(client.get("/v1/servers/arena").json()["code"], json!("unavailable"), "a read changes nothing");
}
