//! Accounts: numbers, coins, tokens, calls. No header vouches for any of it: it is this node's word.

use alloy_primitives::{Address, Bytes, U256, keccak256};
use serde_json::{Value as Json, json};

use crate::{
    block::At,
    error::{Malformed, NodeError},
    node::Node,
    reading::block_parameter,
    value::Value,
};

/// A message to a contract or an account, for trying out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// From whom.
    pub from: Address,
    /// To whom.
    pub to: Address,
    /// How many wei go along.
    pub value: Value,
    /// What is said.
    pub input: Bytes,
}

impl Node {
    /// How many transactions of this account are on the chain up to a block: the number that its next one must have.
    pub fn nonce(&self, account: Address, at: At) -> Result<u64, NodeError> {
        self.count("eth_getTransactionCount", account, state_parameter(at))
    }

    /// The same, with those that the node knows to be waiting. Only a hint: another node knows of others.
    pub fn pending_nonce(&self, account: Address) -> Result<u64, NodeError> {
        self.count("eth_getTransactionCount", account, "pending".into())
    }

    fn count(&self, method: &'static str, account: Address, block: Json) -> Result<u64, NodeError> {
        let count = self.ask_quantity(method, &json!([account, block]))?;
        u64::try_from(count).map_err(|_| Malformed::new(method, "more transactions than there can be").into())
    }

    /// How many wei an account has after a block.
    pub fn balance(&self, account: Address, at: At) -> Result<Value, NodeError> {
        self.ask_quantity("eth_getBalance", &json!([account, state_parameter(at)])).map(Value::new)
    }

    /// How many base units of a token an account has after a block, as the token's contract says.
    pub fn token_balance(&self, token: Address, holder: Address, at: At) -> Result<Value, NodeError> {
        let words = [&keccak256("balanceOf(address)")[..4], holder.into_word().as_slice()].concat();
        let call = Call { from: Address::ZERO, to: token, value: Value::default(), input: words.into() };
        self.word(&call, at).map(Value::new)
    }

    /// How many decimals a token's contract says that it has. Fix them when a token is listed; contracts can change them.
    pub fn token_decimals(&self, token: Address, at: At) -> Result<u8, NodeError> {
        let input = keccak256("decimals()")[..4].to_vec().into();
        let call = Call { from: Address::ZERO, to: token, value: Value::default(), input };
        let decimals = self.word(&call, at)?;
        u8::try_from(decimals).map_err(|_| Malformed::new("eth_call", "more than 255 decimals").into())
    }

    /// What a call would answer, without anything happening. A revert is [`NodeError::Refused`].
    pub fn call(&self, call: &Call, at: At) -> Result<Bytes, NodeError> {
        self.ask_for("eth_call", &json!([shown(call), state_parameter(at)]))
    }

    /// How much gas a call would take now. A call that would revert is [`NodeError::Refused`].
    pub fn estimate_gas(&self, call: &Call) -> Result<u64, NodeError> {
        let method = "eth_estimateGas";
        let gas = self.ask_quantity(method, &json!([shown(call)]))?;
        u64::try_from(gas).map_err(|_| Malformed::new(method, "more gas than there can be").into())
    }

    fn word(&self, call: &Call, at: At) -> Result<U256, NodeError> {
        let answer = self.call(call, at)?;
        let word = <[u8; 32]>::try_from(answer.as_ref()).map_err(|_| Malformed::new("eth_call", "not one word"))?;
        Ok(U256::from_be_bytes(word))
    }
}

fn shown(call: &Call) -> Json {
    json!({ "from": call.from, "to": call.to, "value": call.value.units(), "input": call.input })
}

/// By hash as EIP-1898 has it: nodes refuse the bare hash in some of these methods.
fn state_parameter(at: At) -> Json {
    match at {
        At::Hash(hash) => json!({ "blockHash": hash, "requireCanonical": true }),
        other => block_parameter(other),
    }
}
