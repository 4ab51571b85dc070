//! A deployment on Postgres whose owner has allowed the keys of two game servers, `arena` and `maze`, which are
//! registered. Alice has money at `arena`.

use std::{fs, path::Path};

use bankroll_ledger::{
    Action, Amount, Asset, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope, Unit,
};
use bankroll_nodes::{CallError, Forwarder, RelayedRequest, RelayedResponse};
use bankroll_store::{DatabaseUrl, Ledger, LedgerOptions};
use bankroll_testkit::postgres::needed_database;
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    forwarding::forwarder,
    program::{Run, run_with},
    running::{PATIENCE, Running, deployment},
};

/// The account 0 of the mnemonic of anvil, and its first address.
const XPUB: &str =
    "xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP";
const FIRST: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const SECOND: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const DEVELOPER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/// The wallet of account 1 of `bankroll chain`.
pub const ALICE: &str = "0x9c36b95a952c3450b32e77fdcd6464c2f91dd09e";
pub const ALICES_FUNDS: &str = "arena/funds/1/0x9c36b95a952c3450b32e77fdcd6464c2f91dd09e";

pub struct House {
    pub folder: TempDir,
    /// As the owner of the database.
    pub url: DatabaseUrl,
}

impl House {
    /// Books, the logins of all roles, and the certificates of these nodes: name and roles. No node runs yet.
    pub fn new(nodes: &[(&str, &str)], wei: u128) -> Self {
        let house = Self { folder: deployment(nodes), url: needed_database() };
        house.run("", "init --users logins --set chain.id=31337").ok();
        fund(&house.url, wei);
        house
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The database as the user of this role sees it.
    pub fn login(&self, role: &str) -> DatabaseUrl {
        let text = fs::read_to_string(self.path().join(format!("logins/{role}.url"))).unwrap();
        DatabaseUrl::new(text.trim())
    }

    /// A node that runs with the login of its role.
    pub fn start(&self, name: &str, role: &str) -> Running {
        Running::start(self.path(), &self.login(role), name, role)
    }

    /// A command that reaches the books with the certificate of this node.
    pub fn run(&self, node: &str, args: &str) -> Run {
        let env = [("BANKROLL__BOOKS__DATABASE", self.url.reveal()), ("BANKROLL__NODE__NAME", node)];
        let env = if node.is_empty() { &env[..1] } else { &env[..] };
        run_with(self.path(), env, &args.split_whitespace().collect::<Vec<_>>())
    }

    /// Registers both servers, while a node holds the books.
    pub fn register(&self, node: &str) {
        self.run(node, "registry chains add eip155:31337 --label Anvil").ok();
        self.run(node, "registry assets add ETH --chain eip155:31337 --decimals 18").ok();
        self.run(node, &format!("registry custody-keys add arena --xpub {XPUB}")).ok();
        self.run(node, &format!("registry custody-keys add maze --address {SECOND}")).ok();
        for (server, wallet) in [("arena", FIRST), ("maze", SECOND)] {
            let hot = format!("registry wallets add {server} --chain eip155:31337 --role hot --address {wallet}");
            self.run(node, &hot).ok();
            let key = self.run("", &format!("keys auth {server}.key --json")).json();
            let of = format!("--server {server} --chain eip155:31337 --asset 1 --custody-key {server}");
            let bounds = "--buy-in-min 1 --buy-in-max 1000 --developer-bps-max 500 --world-bps-max 500";
            let address = key["address"].as_str().unwrap();
            self.run(node, &format!("registry server-keys add {address} {of} {bounds}")).ok();
            let terms = "--buy-in 100 --developer-bps 100 --world-bps 250 --mass-per-coin 1000";
            let wallets = format!("--payout-address {wallet} --developer {DEVELOPER}");
            self.run(node, &format!("servers register {server} --key {server}.key {terms} {wallets}")).ok();
        }
    }

    /// The address of a server's key, and the token of a new session of it.
    pub fn session(&self, node: &str, server: &str) -> String {
        let answer = self.run(node, &format!("servers session {server} --key {server}.key --json")).json();
        answer["token"].as_str().unwrap().to_owned()
    }

    /// A process with this node's certificate and the login of this role.
    pub fn forwarder(&self, node: &str, role: &str) -> Forwarder {
        forwarder(self.path(), &self.login(role), node)
    }
}

/// Alice's money, which only the books themselves may credit.
fn fund(url: &DatabaseUrl, wei: u128) {
    let migrations = bankroll_roles::flows::migrations();
    let ledger = Ledger::open(LedgerOptions { migrations, ..LedgerOptions::new(url.clone()) }).unwrap();
    let ether =
        Asset { chain: "eip155:31337".parse().unwrap(), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
    ledger.list_asset(ether).unwrap();
    let names = ["@house/custody/1/hot", ALICES_FUNDS].map(|name| name.parse().unwrap()).to_vec();
    let opened = ledger.open_accounts(&Principal::System, names).unwrap();
    let (from, to) = (opened[0].unwrap(), opened[1].unwrap());
    let scope = Scope::Server("arena".parse().unwrap());
    let request = Request {
        key: IdempotencyKey { namespace: Namespace::Deposits, scope, text: "deposit".into() },
        principal: Principal::Indexer,
        confirmation: None,
        action: Action::Legs(vec![Leg::Move { from, to, amount: Amount::new(wei) }]),
        references: References::default(),
        facts: Vec::new(),
        events: Vec::new(),
    };
    ledger.apply(request).unwrap().effects().unwrap();
    ledger.close();
}

/// A request of the Funds API with this token, if there is one.
pub fn request(
    method: &str,
    path: &str,
    token: Option<&str>,
    key: Option<&str>,
    body: Option<&Value>,
) -> RelayedRequest {
    let bearer = token.map(|token| ("authorization".to_owned(), format!("Bearer {token}")));
    let key = key.map(|key| ("idempotency-key".to_owned(), key.to_owned()));
    let json = body.map(|_| ("content-type".to_owned(), "application/json".to_owned()));
    let headers = bearer.into_iter().chain(key).chain(json).collect();
    let body = body.map(Value::to_string).unwrap_or_default().into_bytes();
    RelayedRequest { method: method.into(), path: path.into(), headers, body }
}

pub fn relay(by: &Forwarder, request: RelayedRequest) -> Result<RelayedResponse, CallError> {
    by.relay(request, PATIENCE)?.wait()
}

/// The body of a response.
pub fn json(response: &RelayedResponse) -> Value {
    serde_json::from_slice(&response.body).unwrap()
}
