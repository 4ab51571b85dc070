//! People with keys, who sign requests as their commands do.

use bankroll_ledger::{Name, Time};
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, ApiRequest, B256, WalletSignature},
};
use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};

use crate::{
    Act, ActHash, AuthorName, Effect, LogEntry, NewProgramKey, OperatorRefusal, Operators, Proof, ProposalId, Right,
    SignedRequest,
};

pub const AUDIENCE: &str = "funds.example";
pub const CHAIN: u64 = 1337;
/// 2026-11-16T12:00:00Z.
pub const NOON: u64 = 1_794_830_400;

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// The key of this number: each has one owner in a story.
pub fn key(number: u8) -> SigningKey {
    SigningKey::from_slice(&[number; 32]).unwrap()
}

pub fn address(number: u8) -> Address {
    Address::of(key(number).verifying_key())
}

/// A request of the person who has this key.
pub fn signed(key_number: u8, method: &str, path: &str, request_key: &str, body: &Value, at: Time) -> SignedRequest {
    let mut request = SignedRequest {
        method: method.into(),
        path: path.into(),
        audience: AUDIENCE.into(),
        chain_id: CHAIN,
        idempotency_key: request_key.into(),
        body: if body.is_null() { String::new() } else { body.to_string() },
        expires: at.0 / 1_000_000 + 240,
        address: address(key_number),
        signature: String::new(),
    };
    sign(&mut request, key_number);
    request
}

pub fn sign(request: &mut SignedRequest, key_number: u8) {
    let message = ApiRequest {
        method: request.method.clone(),
        path: request.path.clone(),
        audience: request.audience.clone(),
        idempotencyKey: request.idempotency_key.clone(),
        bodyHash: B256::from_slice(&Keccak256::digest(request.body.as_bytes())),
        expires: request.expires,
    };
    let digest = typed_data::digest(&message, ChainId(request.chain_id));
    request.signature = WalletSignature::by(&key(key_number), &digest).unwrap().to_string();
}

/// The log as rows would keep it, and its state.
#[derive(Clone, Default)]
pub struct World {
    pub operators: Operators,
    pub log: Vec<(String, ActHash)>,
    pub now: Time,
    requests: u32,
}

impl World {
    /// Olga is the first owner, with key 1.
    pub fn new() -> Self {
        let mut world = Self { now: Time(NOON * 1_000_000), ..Self::default() };
        let act = Act::FirstOwner { person: name("olga"), address: address(1) };
        world.enter(AuthorName::Init, act, Proof::Init).unwrap();
        world
    }

    /// Olga and Otto are owners, Paul proposes, Ann approves; two must sign.
    pub fn staffed() -> Self {
        let mut world = Self::new();
        // Olga adds Otto alone: no other person could agree.
        world.propose(1, &json!({ "kind": "add_person", "person": "otto", "roles": ["owner"], "address": address(2) }));
        for (person, role, number) in [("paul", "operator", 3), ("ann", "approver", 4)] {
            let content =
                json!({ "kind": "add_person", "person": person, "roles": [role], "address": address(number) });
            let id = world.propose(1, &content);
            world.confirm(2, id, &content).unwrap();
        }
        world
    }

    pub fn enter(&mut self, author: AuthorName, act: Act, proof: Proof) -> Result<Vec<Effect>, OperatorRefusal> {
        let number = self.operators.entries() + 1;
        let entry = LogEntry { number, at: self.now, author, act, proof };
        let before = self.operators.clone();
        let entered = self.operators.enter(&entry);
        match &entered {
            Ok(_) => self.log.push((entry.text(), self.operators.head())),
            Err(_) => assert_eq!(self.operators, before, "a refused act changes nothing"),
        }
        entered
    }

    /// A signed request through the same steps as in the books.
    pub fn send(&mut self, request: SignedRequest) -> Result<Vec<Effect>, OperatorRefusal> {
        let person = self.operators.person_with(request.address).ok_or(OperatorRefusal::UnknownKey)?.name.clone();
        let new_key = NewProgramKey { id: name("pk1"), secret_hash: "ab".repeat(32) };
        let act = request.act(&person, self.now, Some(Right::PauseServers), Some(&new_key))?;
        self.enter(AuthorName::Person(person), act, Proof::Signed(Box::new(request)))
    }

    pub fn ask(
        &mut self,
        key_number: u8,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Vec<Effect>, OperatorRefusal> {
        self.requests += 1;
        let request_key = format!("r{}", self.requests);
        self.send(signed(key_number, method, path, &request_key, body, self.now))
    }

    pub fn try_propose(
        &mut self,
        key_number: u8,
        content: &Value,
    ) -> Result<(ProposalId, Vec<Effect>), OperatorRefusal> {
        let person = self.operators.person_with(address(key_number)).ok_or(OperatorRefusal::UnknownKey)?.name.clone();
        let effects = self.ask(key_number, "POST", "/v1/proposals", &json!({ "content": content }))?;
        Ok((ProposalId::of(&person, &format!("r{}", self.requests)), effects))
    }

    pub fn propose(&mut self, key_number: u8, content: &Value) -> ProposalId {
        self.try_propose(key_number, content).unwrap().0
    }

    pub fn confirm(&mut self, key_number: u8, id: ProposalId, content: &Value) -> Result<Vec<Effect>, OperatorRefusal> {
        self.ask(key_number, "POST", &format!("/v1/proposals/{id}/confirm"), &json!({ "content": content }))
    }

    pub fn replayed(&self) -> Result<Operators, crate::LogError> {
        Operators::replay(self.log.iter().map(|(text, hash)| (text.as_str(), *hash)))
    }
}

/// The code of a refusal.
pub fn code<T: std::fmt::Debug>(result: Result<T, OperatorRefusal>) -> &'static str {
    result.unwrap_err().code()
}

pub fn transfer(amount: &str) -> Value {
    let (from, to) = ("@house/house/1", "arena/funds/1/0xab12");
    json!({ "kind": "transfer", "from": from, "to": to, "amount": amount, "reason": "a bonus" })
}
