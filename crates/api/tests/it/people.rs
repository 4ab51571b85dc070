//! What people do in stories: each change is signed, sessions read, and more people are hired by proposals.

use bankroll_ledger::{IdempotencyKey, Name, Namespace, Principal, Scope, Time};
use bankroll_operators::{AuthorName, Proof, SignedRequest};
use bankroll_orders::typed_data::{self, ApiRequest, B256, WalletSignature};
use bankroll_registry::{ChangeOrigin, Registry, change_request};
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};

use crate::world::{AUDIENCE, Ask, CHAIN, Reply, World, address, key};

/// The names of people in stories; `olga` is the first owner.
pub const PEOPLE: [&str; 8] = ["olga", "omar", "vera", "sam", "otto", "anna", "paul", "susi"];

/// A request with the signature of its sender's key over it.
pub fn signed<'a>(
    world: &World,
    of: &str,
    (method, path): (&'a str, &'a str),
    request_key: Option<&'a str>,
    body: Option<Vec<u8>>,
) -> Ask<'a> {
    let expires = world.seconds() + 60;
    let message = ApiRequest {
        method: method.into(),
        path: path.into(),
        audience: AUDIENCE.into(),
        idempotencyKey: request_key.unwrap_or_default().into(),
        bodyHash: B256::from_slice(&Keccak256::digest(body.as_deref().unwrap_or_default())),
        expires,
    };
    let signature = WalletSignature::by(&key(of), &typed_data::digest(&message, CHAIN)).unwrap();
    let headers = vec![
        ("x-bankroll-signature", signature.to_string()),
        ("x-bankroll-address", address(of).to_string()),
        ("x-bankroll-expires", expires.to_string()),
    ];
    Ask { key: request_key, body, headers, ..Ask::new(method, path) }
}

impl World {
    /// A signed change with a new key.
    pub fn sign(&self, of: &str, method: &str, path: &str, body: Value) -> Reply {
        self.sign_with(of, method, path, &format!("story-{}", self.number()), body)
    }

    pub fn sign_with(&self, of: &str, method: &str, path: &str, key: &str, body: Value) -> Reply {
        self.ask(signed(self, of, (method, path), Some(key), Some(body.to_string().into_bytes())))
    }

    /// A signed read.
    pub fn look(&self, of: &str, path: &str) -> Reply {
        self.ask(signed(self, of, ("GET", path), None, None))
    }

    pub fn propose(&self, of: &str, content: &Value) -> Reply {
        self.sign(of, "POST", "/v1/proposals", json!({ "content": content }))
    }

    pub fn confirm(&self, of: &str, proposal: &Value, content: &Value) -> Reply {
        let path = format!("/v1/proposals/{}/confirm", proposal["proposal"].as_str().unwrap());
        self.sign(of, "POST", &path, json!({ "content": content }))
    }

    /// Olga proposes it. If one more signature is needed, the second owner confirms it.
    pub fn agree(&self, content: &Value) -> Value {
        let proposed = self.propose("olga", content).expect(200);
        if proposed["status"] == "confirmed" {
            return proposed;
        }
        self.confirm("omar", &proposed, content).expect(200)
    }

    /// Makes a person with these roles. The first one that Olga hires needs no second signature.
    pub fn hire(&self, name: &str, roles: &[&str]) {
        let content = json!({ "kind": "add_person", "person": name, "roles": roles, "address": address(name) });
        assert_eq!(self.agree(&content)["status"], json!("confirmed"));
    }

    /// One person of each role; `omar` is a second owner, `susi` an owner who is suspended.
    pub fn hire_all(&self) {
        self.hire("omar", &["owner"]);
        let roles = [("vera", "viewer"), ("sam", "support"), ("otto", "operator"), ("anna", "approver")];
        roles.iter().for_each(|(name, role)| self.hire(name, &[role]));
        self.hire("paul", &["policy_admin"]);
        self.hire("susi", &["owner"]);
        self.sign("olga", "POST", "/v1/operators/susi/suspend", json!({})).expect(200);
    }

    /// A studio of one says so: one signature is enough from here on.
    pub fn set_quorum_of_one(&self) {
        self.agree(&json!({ "kind": "set_quorum", "quorum": 1 }));
    }

    /// The text of a new key of a program with these rights.
    pub fn program_key(&self, rights: &[&str]) -> String {
        let body = json!({ "label": "reports", "rights": rights });
        let made = self.sign("olga", "POST", "/v1/program-keys", body).expect(200);
        made["key"].as_str().unwrap().to_owned()
    }

    pub fn with_token(&self, token: &str, method: &str, path: &str) -> Reply {
        let key = format!("story-{}", self.number());
        self.ask(Ask { token: Some(token), key: Some(&key), ..Ask::new(method, path) })
    }

    /// Commits a confirmation and not the money: as a process that ends between the two.
    pub fn confirm_without_money(&self, of: &str, proposal: &Value, content: &Value) {
        let (path, request_key) =
            (format!("/v1/proposals/{}/confirm", proposal["proposal"].as_str().unwrap()), "crash");
        let body = json!({ "content": content }).to_string();
        let ask = signed(self, of, ("POST", &path), Some(request_key), Some(body.clone().into_bytes()));
        let header = |name: &str| ask.headers.iter().find(|(found, _)| *found == name).unwrap().1.clone();
        let request = SignedRequest {
            method: "POST".into(),
            path: path.clone(),
            audience: AUDIENCE.into(),
            chain_id: CHAIN.0,
            idempotency_key: request_key.into(),
            body,
            expires: header("x-bankroll-expires").parse().unwrap(),
            address: address(of),
            signature: header("x-bankroll-signature"),
        };
        let (person, now): (Name, Time) = (of.parse().unwrap(), Time(self.seconds() * 1_000_000));
        let reader = bankroll_store::Reader::open(self.ledger.location().clone()).unwrap();
        let registry = Registry::load(&reader, now).unwrap();
        let act = request.act(&person, now, None, None).unwrap();
        let decided =
            registry.decide_act(AuthorName::Person(person), act, Proof::Signed(Box::new(request)), now).unwrap();
        assert!(decided.money.is_some());
        let key = IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text: "crash".into() };
        let by = "operator:omar".parse().unwrap();
        let origin = ChangeOrigin { principal: Principal::System, key, by, request_hash: [0; 32], now };
        self.ledger.apply(change_request(&origin, &decided.changes).unwrap()).unwrap().effects().unwrap();
    }

    /// The kinds of the newest events, the oldest first.
    pub fn events(&self) -> Vec<String> {
        let reader = bankroll_store::Reader::open(self.ledger.location().clone()).unwrap();
        let all = reader.events_after(bankroll_ledger::Seq(0), 10_000).unwrap();
        all.iter().map(|event| event.kind.clone()).collect()
    }
}
