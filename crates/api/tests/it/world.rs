//! A world with two game servers, two players, an owner and a clock that a story moves; the router in this process.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{Router, body::Body};
use bankroll_alerts::{ALERTS, AlertCondition, AlertKind, AlertObservation, AlertWatch, round};
use bankroll_api::{Funds, FundsSettings, router};
use bankroll_ledger::{
    AccountId, Action, Amount, Fact, IdempotencyKey, Leg, Name, Namespace, Principal, References, Request, Scope, Seq,
    Time,
};
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, B256, OpenSession, Registration, U256, WalletSignature},
};
use bankroll_registry::{ChangeOrigin, REGISTRY, Registry, SignInConfig, SignInOrigin, change_request};
use bankroll_spawns::{SPAWNS, Spawns};
use bankroll_store::{Clock, Ledger, LedgerOptions};
use bankroll_withdrawals::{ApprovalPolicy, WITHDRAWALS};
use http_body_util::BodyExt;
use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::people::PEOPLE;

pub const AUDIENCE: &str = "funds.example";
pub const CHAIN: ChainId = ChainId(1337);
/// 2026-11-16T00:00:00Z.
pub const START: u64 = 1_794_787_200;

pub struct World {
    _folder: TempDir,
    pub ledger: Ledger,
    pub funds: Funds,
    pub router: Router,
    pub runtime: tokio::runtime::Runtime,
    clock: Arc<AtomicU64>,
    numbers: AtomicU64,
    tokens: Mutex<HashMap<String, String>>,
}

/// An answer as a story looks at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub replayed: bool,
    pub body: Value,
}

impl Reply {
    /// The code of an error.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }
}

/// The key of a person or a server, from its name.
pub fn key(name: &str) -> SigningKey {
    SigningKey::from_slice(&Keccak256::digest(name)).unwrap()
}

pub fn address(name: &str) -> Address {
    Address::of(key(name).verifying_key())
}

/// The player's name in the books.
pub fn player(name: &str) -> String {
    address(name).lower_hex()
}

pub fn funds_of(server: &str, name: &str) -> String {
    format!("{server}/funds/1/{}", player(name))
}

/// A request of a story.
pub struct Ask<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub token: Option<&'a str>,
    pub key: Option<&'a str>,
    pub body: Option<Vec<u8>>,
    pub headers: Vec<(&'a str, String)>,
}

impl<'a> Ask<'a> {
    pub fn new(method: &'a str, path: &'a str) -> Self {
        Self { method, path, token: None, key: None, body: None, headers: Vec::new() }
    }

    pub fn request(self) -> axum::extract::Request {
        let mut request = http::Request::builder().method(self.method).uri(self.path).header("x-request-id", "story");
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(key) = self.key {
            request = request.header("idempotency-key", key);
        }
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let body = self.body.map_or_else(Body::empty, Body::from);
        request.header("content-type", "application/json").body(body).unwrap()
    }
}

/// Sends a request to a router.
pub async fn send(router: Router, request: axum::extract::Request) -> Reply {
    let response = router.oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let replayed = response.headers().contains_key("idempotent-replayed");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    Reply { status, replayed, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
}

impl World {
    /// `arena` and `rival` are registered; Alice has 1,000 at the arena, Bob 500 at the rival.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (clock, hand) = Clock::manual(Time(START * 1_000_000));
        let migrations = vec![
            REGISTRY,
            bankroll_heads::HEADS,
            SPAWNS,
            WITHDRAWALS,
            bankroll_deposits::DEPOSITS,
            bankroll_notify::NOTIFY,
            ALERTS,
        ];
        let options =
            LedgerOptions { clock: clock.clone(), migrations, ..LedgerOptions::new(folder.path().to_path_buf()) };
        let ledger = Ledger::create(options).unwrap();
        add_owner(&ledger);
        let origin = SignInOrigin { domain: "play.example".into(), uri: "https://play.example".into() };
        let settings = FundsSettings {
            // As a reader of books in Postgres: it panics on a thread of the service, where nothing may block.
            newest_block: Arc::new(|_| {
                tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async { 7 })
            }),
            check_webhook_url: Arc::new(|url| {
                let checked = bankroll_notify::TargetPolicy::default().check_url(url);
                checked.map(drop).map_err(|refusal| refusal.to_string())
            }),
            approvals: BTreeMap::from([("eip155:1337".parse().unwrap(), ApprovalPolicy { at_once: Amount::new(100) })]),
            spawns: Spawns::new(60_000_000),
            ..FundsSettings::new(AUDIENCE, CHAIN, SignInConfig { origins: vec![origin] })
        };
        let funds = Funds::new(settings, clock);
        funds.acquire(ledger.clone()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let world = Self {
            _folder: folder,
            ledger,
            router: router(funds.clone()),
            funds,
            runtime,
            clock: hand,
            numbers: AtomicU64::new(1),
            tokens: Mutex::default(),
        };
        world.set_up();
        world
    }

    fn set_up(&self) {
        let owner = self.open_session("operator", "olga");
        self.tokens.lock().unwrap().insert("olga".into(), owner);
        self.owner("POST", "/v1/registry/chains", json!({ "name": "eip155:1337", "label": "Simulated" }));
        let coin = json!({ "chain": "eip155:1337", "decimals": 2, "symbol": "SIM" });
        self.owner("POST", "/v1/registry/assets", coin);
        for server in ["arena", "rival"] {
            let custody =
                json!({ "id": format!("{server}-custody"), "address": address(&format!("{server} custody")) });
            self.owner("POST", "/v1/registry/custody-keys", custody);
            self.owner("POST", "/v1/registry/server-keys", server_key(server, server));
            let token = self.register(server).expect(200)["token"].as_str().unwrap().to_owned();
            self.tokens.lock().unwrap().insert(server.into(), token);
        }
        for (server, name, amount) in [("arena", "alice", 1_000), ("rival", "bob", 500)] {
            let token = self.sign_in(name).expect(200)["token"].as_str().unwrap().to_owned();
            self.tokens.lock().unwrap().insert(name.into(), token);
            let opened =
                self.post(server, &format!("/v1/servers/{server}/accounts"), json!({ "player": player(name) }));
            opened.expect(200);
            self.give(&funds_of(server, name), amount);
        }
        let dev = self.sign_in("dev").expect(200)["token"].as_str().unwrap().to_owned();
        self.tokens.lock().unwrap().insert("dev".into(), dev);
        self.give("arena/ecosystem/1", 300);
        self.give("arena/developer/1", 200);
    }

    /// The token of a server, a player, `dev` (the arena's developer) or `olga` (the first owner).
    pub fn token(&self, of: &str) -> String {
        self.tokens.lock().unwrap().get(of).cloned().unwrap_or_else(|| panic!("no session of {of}"))
    }

    pub fn remember(&self, of: &str, token: String) {
        self.tokens.lock().unwrap().insert(of.into(), token);
    }

    pub fn pass(&self, seconds: u64) {
        self.clock.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
        self.ledger.tick().unwrap();
    }

    pub fn seconds(&self) -> u64 {
        self.clock.load(Ordering::SeqCst) / 1_000_000
    }

    /// The last record of the journal.
    pub fn ledger_head(&self) -> u64 {
        bankroll_store::Reader::open(self.ledger.location()).unwrap().head().unwrap().seq.0
    }

    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::SeqCst)
    }

    /// A nonce that no other message of this story has.
    pub fn nonce(&self) -> [u8; 32] {
        Keccak256::digest(self.number().to_be_bytes()).into()
    }

    pub fn ask(&self, ask: Ask<'_>) -> Reply {
        self.runtime.block_on(send(self.router.clone(), ask.request()))
    }

    /// A change with a new key.
    pub fn post(&self, of: &str, path: &str, body: Value) -> Reply {
        self.post_with(of, path, &format!("story-{}", self.number()), body)
    }

    pub fn post_with(&self, of: &str, path: &str, key: &str, body: Value) -> Reply {
        if PEOPLE.contains(&of) {
            return self.sign_with(of, "POST", path, key, body);
        }
        let (token, body) = (self.token(of), Some(body.to_string().into_bytes()));
        self.ask(Ask { token: Some(&token), key: Some(key), body, ..Ask::new("POST", path) })
    }

    pub fn get(&self, of: &str, path: &str) -> Reply {
        let token = self.token(of);
        self.ask(Ask { token: Some(&token), ..Ask::new("GET", path) })
    }

    pub fn owner(&self, method: &str, path: &str, body: Value) -> Value {
        self.sign("olga", method, path, body).expect(200)
    }

    pub fn open_session(&self, role: &str, subject: &str) -> String {
        let (nonce, expires) = (self.nonce(), self.seconds() + 300);
        let (role_text, subject_text) = (role.to_owned(), subject.to_owned());
        let message = OpenSession {
            role: role_text,
            subject: subject_text,
            audience: AUDIENCE.into(),
            nonce: B256::from(nonce),
            expires,
        };
        let signature = WalletSignature::by(&key(subject), &typed_data::digest(&message, CHAIN)).unwrap();
        let body = json!({
            "role": role, "subject": subject, "audience": AUDIENCE, "chain_id": CHAIN.0,
            "nonce": format!("0x{}", hex::encode(nonce)), "expires": expires, "signature": signature.to_string(),
        });
        let ask = Ask { body: Some(body.to_string().into_bytes()), ..Ask::new("POST", "/v1/sessions") };
        self.ask(ask).expect(200)["token"].as_str().unwrap().to_owned()
    }

    pub fn register(&self, server: &str) -> Reply {
        let body = self.registration(server, server, |_| {}, CHAIN);
        self.ask(Ask { body: Some(body.to_string().into_bytes()), ..Ask::new("POST", "/v1/register") })
    }

    /// A signed registration, maybe changed before it is signed.
    pub fn registration(
        &self,
        server: &str,
        signer: &str,
        change: impl FnOnce(&mut Registration),
        chain: ChainId,
    ) -> Value {
        let mut message = Registration {
            server: server.to_owned(),
            audience: AUDIENCE.into(),
            payoutAddress: address(&format!("{server} custody")).into(),
            developer: address("dev").into(),
            buyIn: U256::from(100),
            developerFeeBps: 250,
            worldFeeBps: 100,
            massPerCoin: U256::from(5),
            exitHoldMs: 3_000,
            nonce: B256::from(self.nonce()),
            expires: self.seconds() + 300,
        };
        change(&mut message);
        let signature = WalletSignature::by(&key(signer), &typed_data::digest(&message, chain)).unwrap();
        json!({
            "server": message.server, "audience": message.audience, "chain_id": chain.0,
            "payout_address": message.payoutAddress.to_string(), "developer": message.developer.to_string(),
            "buy_in": message.buyIn.to_string(), "developer_fee_bps": message.developerFeeBps,
            "world_fee_bps": message.worldFeeBps, "mass_per_coin": message.massPerCoin.to_string(),
            "exit_hold_ms": message.exitHoldMs, "nonce": message.nonce.to_string(), "expires": message.expires,
            "signature": signature.to_string(),
        })
    }

    pub fn sign_in_body(&self, name: &str, domain: &str) -> Value {
        self.wallet_message(name, domain, "")
    }

    /// A wallet agrees to be one more of a player.
    pub fn link_body(&self, name: &str, player: &str) -> Value {
        self.wallet_message(name, "play.example", &format!("\nRequest ID: link:{player}"))
    }

    fn wallet_message(&self, name: &str, domain: &str, end: &str) -> Value {
        let nonce = self.ask(Ask::new("POST", "/v1/sign-in/nonce")).expect(200);
        let issued = bankroll_api::input::show_time(Time(self.seconds() * 1_000_000));
        let text = format!(
            "{domain} wants you to sign in with your Ethereum account:\n{}\n\nPlay.\n\nURI: https://{domain}\n\
             Version: 1\nChain ID: 1337\nNonce: {}\nIssued At: {}{end}",
            address(name),
            nonce["nonce"].as_str().unwrap(),
            issued.replace(".000000Z", "Z"),
        );
        let prefixed = format!("\u{19}Ethereum Signed Message:\n{}{text}", text.len());
        let signature = WalletSignature::by(&key(name), &Keccak256::digest(prefixed).into()).unwrap();
        json!({ "message": text, "signature": signature.to_string() })
    }

    pub fn sign_in(&self, name: &str) -> Reply {
        let body = self.sign_in_body(name, "play.example");
        self.ask(Ask { body: Some(body.to_string().into_bytes()), ..Ask::new("POST", "/v1/sign-in") })
    }

    /// The loop of the holder finds that nothing is paid from a wallet; returns the alert.
    pub fn open_alert(&self, wallet: &str) -> String {
        let condition = AlertCondition::new(AlertKind::WalletStopped, wallet, "nothing new is paid");
        let written = self.observe(&[AlertObservation::of_subject(AlertKind::WalletStopped, wallet, Some(condition))]);
        written.expect("a new subject")
    }

    /// One round of the loop that observes conditions; returns the alert that it wrote last.
    pub fn observe(&self, observations: &[AlertObservation]) -> Option<String> {
        let reader = bankroll_store::Reader::open(self.ledger.location().clone()).unwrap();
        let (mut watch, now) = (AlertWatch::default(), Time(self.clock.load(Ordering::SeqCst)));
        let done = round(&self.ledger, &reader, &mut watch, observations, now).unwrap();
        done.written.last().map(|change| change.alert().id.to_string())
    }

    pub fn account(&self, text: &str) -> AccountId {
        self.ledger.open_accounts(&Principal::System, vec![text.parse().unwrap()]).unwrap()[0].unwrap()
    }

    /// Money from outside, as the deposits flow credits it.
    pub fn give(&self, to: &str, amount: u128) -> Seq {
        let (from, to) = (self.account("@house/custody/1/hot"), self.account(to));
        let legs = vec![Leg::Move { from, to, amount: Amount::new(amount) }];
        self.apply(format!("story-{}", self.number()), Action::Legs(legs), Vec::new())
    }

    /// What the deposits flow does, under a key; the place in the journal.
    pub fn apply(&self, text: String, action: Action, facts: Vec<Fact>) -> Seq {
        let request = Request {
            key: IdempotencyKey { namespace: Namespace::Deposits, scope: Scope::House, text },
            principal: Principal::Indexer,
            confirmation: None,
            action,
            references: References::default(),
            facts,
            events: Vec::new(),
        };
        let answer = self.ledger.apply(request).unwrap();
        answer.effects().unwrap();
        answer.seq.unwrap()
    }

    /// The balance and the available amount, as the API says.
    pub fn balance(&self, of: &str, account: &str) -> (String, String) {
        let server = account.split('/').next().unwrap();
        let path = format!("/v1/servers/{server}/accounts/{}", account.replace('/', "%2F"));
        let body = self.get(of, &path).expect(200);
        let text = |field: &str| body[field].as_str().unwrap().to_owned();
        (text("balance"), text("available"))
    }
}

/// The draft of a key that may act for a server.
pub fn server_key(server: &str, signer: &str) -> Value {
    json!({
        "address": address(signer), "server": server, "chain": "eip155:1337", "asset": 1,
        "custody_key": format!("{server}-custody"), "buy_in_min": "1", "buy_in_max": "1000",
        "developer_bps_max": 500, "world_bps_max": 500,
    })
}

/// The first owner, as `bankroll init` makes them.
fn add_owner(ledger: &Ledger) {
    let olga: Name = "olga".parse().unwrap();
    let changes = Registry::default().add_first_owner(olga, address("olga"), Time(START * 1_000_000)).unwrap();
    let origin = ChangeOrigin {
        principal: Principal::System,
        key: IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text: "init".into() },
        by: "init".parse().unwrap(),
        request_hash: [0; 32],
        now: Time(START * 1_000_000),
    };
    let request = change_request(&origin, &changes).unwrap();
    ledger.apply(request).unwrap().effects().unwrap();
}
