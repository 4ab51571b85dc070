//! A chain with ten players, and helpers to call it.

use bankroll_chains_simulated::{
    Address, B256, Bytes, Payment, RpcReply, SimulatedChain, SimulatedConfig, SimulatedKey, U256,
};
use serde_json::{Value, json};

pub const HOUSE: Address = Address::repeat_byte(0xaa);
pub const SEED: u64 = 7;

pub fn chain() -> SimulatedChain {
    SimulatedChain::new(SimulatedConfig::new(SEED))
}

pub fn player(number: u64) -> SimulatedKey {
    SimulatedKey::derived(SEED, number)
}

pub fn pay(nonce: u64, wei: u64) -> Payment {
    Payment::new(1337, nonce, HOUSE, U256::from(wei))
}

pub fn send(chain: &mut SimulatedChain, from: u64, payment: &Payment) -> Result<B256, String> {
    chain.send(&player(from).sign(payment)).map_err(|refusal| refusal.to_string())
}

pub fn mine(chain: &mut SimulatedChain) -> B256 {
    let time = chain.next_time();
    chain.mine(time).hash
}

pub fn mine_several(chain: &mut SimulatedChain, blocks: u64) {
    for _ in 0..blocks {
        mine(chain);
    }
}

/// The whole answer to one request.
pub fn answer(chain: &mut SimulatedChain, method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    read(chain.answer(0, request.as_bytes()))
}

/// The result of one request.
pub fn ask(chain: &mut SimulatedChain, method: &str, params: Value) -> Value {
    let mut answer = answer(chain, method, params);
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].take()
}

pub fn read(reply: RpcReply) -> Value {
    match reply {
        RpcReply::Body(body) => serde_json::from_slice(&body).unwrap(),
        other => panic!("{other:?}"),
    }
}

pub fn hex(raw: &Bytes) -> Value {
    raw.to_string().into()
}
