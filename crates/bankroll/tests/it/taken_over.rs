//! A node process that was taken over: what its certificate and its database login are good for, against a node that
//! holds the books. SECURITY.md has the same as sentences.

use std::sync::Arc;

use bankroll_ledger::{
    AccountId, Action, Amount, Confirmation, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope,
};
use bankroll_nodes::{
    CallError, CallRefusal, Forwarder, RelayedResponse,
    wire::{self, CallBody, CallReply, CallRequest, FrameViolation, ServerFrame},
};
use bankroll_store::{LeaseWatch, Reader};
use bankroll_testkit::postgres::pairs;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    house::{self, ALICE, ALICES_FUNDS, House, relay},
    running::Running,
};

const NODES: [(&str, &str); 4] =
    [("books-1", "books"), ("api-1", "api"), ("indexer-1", "indexer"), ("payouts-1", "payouts")];
const STAKE: &str = "/v1/servers/arena/transfer";

/// Two registered servers, and the node that holds their books.
fn house() -> (House, Running) {
    let house = House::new(&NODES, 1_000);
    let books = house.start("books-1", "books");
    books.until("took");
    house.register("api-1");
    (house, books)
}

fn stake() -> Value {
    json!({ "from": ALICES_FUNDS, "to": "arena/world/1", "amount": "5" })
}

/// Alice's balance, as the database has it.
fn funds(house: &House) -> u128 {
    let reader = Reader::open(house.url.clone()).unwrap();
    reader.account_named(&ALICES_FUNDS.parse().unwrap()).unwrap().unwrap().balance.units()
}

/// Status and code of a response.
fn refusal(response: &RelayedResponse) -> (u16, String) {
    (response.status, house::json(response)["code"].as_str().unwrap_or_default().to_owned())
}

/// A connection to the holder with the certificate of this node, after the welcome.
async fn connect(house: &House, node: &str) -> TlsStream<TcpStream> {
    let holder = tokio::task::spawn_blocking({
        let url = house.login("api");
        move || LeaseWatch::new(url).holder().unwrap().unwrap()
    });
    let file = |name: String| house.path().join("nodes").join(name);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file("ca.pem".into())).unwrap()).unwrap();
    let chain = vec![CertificateDer::from_pem_file(file(format!("{node}.pem"))).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file(format!("{node}.key"))).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .unwrap();
    let stream = TcpStream::connect(holder.await.unwrap().address).await.unwrap();
    let name = ServerName::try_from("books.role.bankroll").unwrap();
    let mut stream = TlsConnector::from(Arc::new(client)).connect(name, stream).await.unwrap();
    let welcome = wire::read::<ServerFrame>(&mut stream).await.unwrap();
    assert_eq!(welcome, Some(ServerFrame::Welcome { version: wire::VERSION, holds: true }));
    stream
}

/// What the holder answers to this frame of this node.
fn answer(house: &House, node: &str, frame: &[u8]) -> ServerFrame {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let mut stream = connect(house, node).await;
        wire::send(&mut stream, frame).await.unwrap();
        wire::read(&mut stream).await.unwrap().unwrap()
    })
}

/// Ledger requests as version 1 of the protocol had them, in names that a node must not use.
fn ledger_requests() -> Vec<Vec<u8>> {
    let arena: Scope = Scope::Server("arena".parse().unwrap());
    let leg = Leg::Move { from: AccountId(2), to: AccountId(1), amount: Amount::new(1) };
    let request = |namespace, principal, confirmation: Option<Confirmation>| Request {
        key: IdempotencyKey { namespace, scope: arena.clone(), text: "forged".into() },
        principal,
        confirmation,
        action: Action::Legs(vec![leg.clone()]),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    };
    let second = Confirmation { proposal: "proposal-1".parse().unwrap(), by: "invented".parse().unwrap() };
    let requests = [
        request(Namespace::Client, Principal::Admin("olga".parse().unwrap()), Some(second)),
        request(Namespace::Client, Principal::GameServer("arena".parse().unwrap()), None),
        request(Namespace::Player, Principal::User(ALICE.parse().unwrap()), None),
        request(Namespace::Payouts, Principal::System, None),
        request(Namespace::Deposits, Principal::Indexer, None),
    ];
    // Call number 1, kind of call 1 (apply) or 2 (open accounts), and what belongs to it.
    let applies = requests.iter().map(|request| wire::frame(&(1_u64, 1_u32, [request].as_slice())).unwrap());
    let game = Principal::GameServer("arena".parse().unwrap());
    let open = wire::frame(&(1_u64, 2_u32, game, ["arena/funds/1/mallory"].as_slice())).unwrap();
    applies.chain([open]).collect()
}

#[test]
fn with_its_certificate_a_node_relays_and_pings_and_nothing_else() {
    let (house, _books) = house();
    let head = || Reader::open(house.url.clone()).unwrap().head().unwrap().seq;
    let before = head();
    let request = || house::request("GET", "/v1/servers/arena", None, None, None);
    let relayed = wire::frame(&CallRequest { number: 1, body: CallBody::Relay(request()) }).unwrap();
    let ping = wire::frame(&CallRequest { number: 1, body: CallBody::Ping }).unwrap();
    for (node, role) in &NODES[1..] {
        assert_eq!(answer(&house, node, &ping), ServerFrame::Reply { number: 1, reply: Ok(CallReply::Pong) });
        for frame in ledger_requests() {
            assert_eq!(answer(&house, node, &frame), ServerFrame::Goodbye(FrameViolation::Malformed), "{role}");
        }
        match answer(&house, node, &relayed) {
            ServerFrame::Reply { reply: Ok(CallReply::Relayed(response)), .. } => {
                assert_eq!((*role, refusal(&response)), ("api", (401, "unauthenticated".into())));
            }
            refused => {
                assert_ne!(*role, "api");
                assert_eq!(refused, ServerFrame::Reply { number: 1, reply: Err(CallRefusal::NotAllowed) }, "{role}");
            }
        }
    }
    assert_eq!(relay(&house.forwarder("payouts-1", "payouts"), request()), not_allowed());
    assert_eq!((funds(&house), head()), (1_000, before));
}

fn not_allowed() -> Result<RelayedResponse, CallError> {
    Err(CallError::Refused(CallRefusal::NotAllowed))
}

#[test]
fn a_front_forges_no_caller_and_no_confirmation() {
    let (house, _books) = house();
    let front = house.forwarder("api-1", "api");
    let (arena, maze) = (house.session("api-1", "arena"), house.session("api-1", "maze"));
    let post = |path: &str, token: Option<&str>, body: &Value| {
        refusal(&relay(&front, house::request("POST", path, token, Some("forged"), Some(body))).unwrap())
    };
    assert_eq!(post(STAKE, None, &stake()), (401, "unauthenticated".into()));

    // The claims of one token with the seal of another, with an empty seal, and without one.
    let (claims, others) = (&arena[..arena.len() - 64], &maze[maze.len() - 64..]);
    for forged in [format!("{claims}{others}"), format!("{claims}{}", "0".repeat(64)), claims.to_owned()] {
        assert_eq!(post(STAKE, Some(&forged), &stake()), (401, "session_invalid".into()));
    }
    // A signature of an address that it does not have the key of.
    let mut signed = house::request("POST", STAKE, None, Some("forged"), Some(&stake()));
    let proof = [("signature", format!("0x{}1b", "11".repeat(64))), ("address", ALICE.into()), ("expires", "9".into())];
    signed.headers.extend(proof.map(|(name, value)| (format!("x-bankroll-{name}"), value)));
    assert_eq!(relay(&front, signed).unwrap().status, 401);
    // Words of its own about the caller are no proof.
    let mut claimed = house::request("POST", STAKE, None, Some("forged"), Some(&stake()));
    claimed.headers.extend(["x-principal", "x-role", "x-forwarded-user"].map(|name| (name.into(), "admin".into())));
    assert_eq!(refusal(&relay(&front, claimed).unwrap()), (401, "unauthenticated".into()));

    // Another server's session sees nothing of this one.
    assert_eq!(post(STAKE, Some(&maze), &stake()), (404, "not_found".into()));
    let get = |path: &str, token: &str| {
        refusal(&relay(&front, house::request("GET", path, Some(token), None, None)).unwrap())
    };
    assert_eq!(get("/v1/servers/arena", &maze), (404, "not_found".into()));
    // A session of a server is no owner's and no player's, and nothing in a body makes a second person of it.
    assert_eq!(get("/v1/servers", &arena).0, 403);
    assert_eq!(get("/v1/me", &arena).0, 403);
    let confirmed = json!({
        "from": ALICES_FUNDS, "to": "arena/world/1", "amount": "5", "confirmation": { "by": "invented" },
    });
    assert_eq!(post(STAKE, Some(&arena), &confirmed), (400, "body_invalid".into()));
    assert_eq!(funds(&house), 1_000);
}

/// What is left to a front that was taken over, and how it ends.
#[test]
fn a_token_that_a_front_has_seen_works_until_its_key_is_revoked() {
    let (house, _books) = house();
    let front = house.forwarder("api-1", "api");
    let token = house.session("api-1", "arena");
    let send = |key: &str| {
        refusal(&relay(&front, house::request("POST", STAKE, Some(&token), Some(key), Some(&stake()))).unwrap())
    };
    assert_eq!((send("seen-1").0, funds(&house)), (200, 995));
    let keys = house.run("api-1", "registry server-keys list --json").json();
    let key = keys["entries"].as_array().unwrap().iter().find(|key| key["server"] == "arena").unwrap();
    house.run("api-1", &format!("registry server-keys revoke {}", key["address"].as_str().unwrap())).ok();
    assert_eq!((send("seen-2").0, funds(&house)), (401, 995));
    // The certificate itself is revoked, and its connection ends.
    house.run("", "nodes revoke api-1").ok();
    let gone = |front: &Forwarder| match front.ping(std::time::Duration::from_secs(1)) {
        Ok(call) => call.wait().is_err(),
        Err(_) => true,
    };
    let deadline = std::time::Instant::now() + crate::running::PATIENCE;
    while !gone(&front) {
        assert!(std::time::Instant::now() < deadline, "a revoked node is still answered");
    }
}

/// Tables on which the database user of this role has one of these rights, on any column.
fn tables(house: &House, role: &str, rights: &[&str]) -> Vec<String> {
    let user = format!("{}_{role}", house.url.database().unwrap());
    let has = |right: &&str| match *right {
        "DELETE" | "TRUNCATE" => format!("has_table_privilege('{user}', c.oid, '{right}')"),
        _ => format!("has_any_column_privilege('{user}', c.oid, '{right}')"),
    };
    let any = rights.iter().map(has).collect::<Vec<_>>().join(" OR ");
    let sql = format!(
        "SELECT n.nspname AS a, c.relname AS b FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ('r', 'p', 'v') AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
         AND has_schema_privilege('{user}', n.oid, 'USAGE') AND ({any}) ORDER BY 1, 2"
    );
    pairs(&house.url, &sql).into_iter().map(|(schema, table)| format!("{schema}.{table}")).collect()
}

#[test]
fn with_its_database_login_a_node_writes_its_own_tables_and_nothing_else() {
    let house = House::new(&NODES, 1);
    let writes = |role| tables(&house, role, &["INSERT", "UPDATE", "DELETE", "TRUNCATE"]);
    assert_eq!(writes("api"), [] as [&str; 0]);
    assert_eq!(
        writes("indexer"),
        [
            "public.block_headers",
            "public.chain_cursor",
            "public.chain_events",
            "public.deposits",
            "public.withdrawals_chain",
        ]
    );
    assert_eq!(
        writes("payouts"),
        [
            "public.operation_wallet_addresses",
            "public.payout_attempts",
            "public.payout_events",
            "public.payout_nonces",
            "public.withdrawal_queue",
        ]
    );
    // A front must find the holder of the books, and reads nothing else: no secret, no journal, no player.
    assert_eq!(tables(&house, "api", &["SELECT"]), ["books.ledger_head", "public.migrations"]);
    for role in ["indexer", "payouts"] {
        let read = tables(&house, role, &["SELECT"]);
        for secret in ["public.session_keys", "public.server_keys", "public.audit_log"] {
            assert!(!read.iter().any(|table| table == secret), "{role} reads {secret}");
        }
    }
}
