//! What people sign, without a command: for stories about the log itself.

use std::path::Path;

use bankroll_ledger::{IdempotencyKey, Namespace, Principal, Scope, Time};
use bankroll_operators::{AuthorName, Proof, SignedRequest};
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, ApiRequest, B256},
};
use bankroll_registry::{ChangeOrigin, Registry, change_request};
use bankroll_roles::AuthKey;
use bankroll_store::{Clock, Reader};
use sha3::{Digest, Keccak256};

use crate::program::hold;

pub const AUDIENCE: &str = "localhost:8640";
const CHAIN: ChainId = ChainId(31_337);

pub fn now() -> Time {
    Clock::machine().now()
}

/// A request that this key has signed in the name of this address.
pub fn signed(by: &AuthKey, address: Address, (method, path, body): (&str, &str, &str), key: &str) -> SignedRequest {
    let expires = now().0 / 1_000_000 + 240;
    let message = ApiRequest {
        method: method.into(),
        path: path.into(),
        audience: AUDIENCE.into(),
        idempotencyKey: key.into(),
        bodyHash: B256::from_slice(&Keccak256::digest(body)),
        expires,
    };
    SignedRequest {
        method: method.into(),
        path: path.into(),
        audience: AUDIENCE.into(),
        chain_id: CHAIN.0,
        idempotency_key: key.into(),
        body: body.into(),
        expires,
        address,
        signature: by.sign(&typed_data::digest(&message, CHAIN)).unwrap().to_string(),
    }
}

/// A person's signed request, carried out in the books of this folder, which no node holds.
pub fn act(folder: &Path, key: &AuthKey, change: (&str, &str, &str), idempotency_key: &str) {
    let ledger = hold(folder);
    let registry = Registry::load(&Reader::open(folder).unwrap(), now()).unwrap();
    let request = signed(key, key.address(), change, idempotency_key);
    let author = registry.operators().person_with(key.address()).unwrap().name.clone();
    let act = request.act(&author, now(), None, None).unwrap();
    let (proof, author) = (Proof::Signed(Box::new(request)), AuthorName::Person(author));
    let decided = registry.decide_act(author, act, proof, now()).unwrap();
    let key = IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text: idempotency_key.into() };
    let by = "operator:owner".parse().unwrap();
    let origin = ChangeOrigin { principal: Principal::System, key, by, request_hash: [0; 32], now: now() };
    ledger.apply(change_request(&origin, &decided.changes).unwrap()).unwrap().effects().unwrap();
    ledger.close();
}
