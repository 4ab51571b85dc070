//! Accounts: nonces, balances, tokens, calls. No header covers any of it: it is this node's unverified claim.
//!
//! A contract decides what a call of it returns, says when it reverts, and how long it takes. So a contract's refusal
//! or an answer of a wrong form is [`RpcError::Refused`], whatever its words are, and never speaks against the node.

use alloy_primitives::{Bytes, U256, keccak256};
use bankroll_orders::Address;
use serde_json::{Value as Json, json};

use crate::{
    block::BlockTag,
    error::{MalformedAnswer, RpcError, RpcRefusal},
    fetch::block_parameter,
    node::RpcNode,
    quantity::Quantity,
};

/// A call that is simulated, not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub from: Address,
    pub to: Address,
    /// In wei.
    pub value: Quantity,
    pub input: Bytes,
}

impl RpcNode {
    /// The account's number of transactions up to a block, which is the nonce of its next one.
    pub fn nonce(&self, account: Address, at: BlockTag) -> Result<u64, RpcError> {
        self.count("eth_getTransactionCount", account, state_parameter(at))
    }

    /// The same including the node's mempool. Only a hint: other nodes have other mempools.
    pub fn pending_nonce(&self, account: Address) -> Result<u64, RpcError> {
        self.count("eth_getTransactionCount", account, "pending".into())
    }

    fn count(&self, method: &'static str, account: Address, block: Json) -> Result<u64, RpcError> {
        let count = self.request_quantity(method, &json!([account.lower_hex(), block]))?;
        u64::try_from(count).map_err(|_| MalformedAnswer::new(method, "more transactions than there can be").into())
    }

    /// The balance after a block, in wei.
    pub fn balance(&self, account: Address, at: BlockTag) -> Result<Quantity, RpcError> {
        self.request_quantity("eth_getBalance", &json!([account.lower_hex(), state_parameter(at)])).map(Quantity::new)
    }

    /// The token balance after a block, in base units, as claimed by the contract.
    pub fn token_balance(&self, token: Address, holder: Address, at: BlockTag) -> Result<Quantity, RpcError> {
        let words = [&keccak256("balanceOf(address)")[..4], &[0; 12], &holder.0].concat();
        let call = Call { from: Address::ZERO, to: token, value: Quantity::default(), input: words.into() };
        self.word(&call, at).map(Quantity::new)
    }

    /// The decimals claimed by a token's contract. Store them when a token is listed; contracts can change them.
    pub fn token_decimals(&self, token: Address, at: BlockTag) -> Result<u8, RpcError> {
        let input = keccak256("decimals()")[..4].to_vec().into();
        let call = Call { from: Address::ZERO, to: token, value: Quantity::default(), input };
        let decimals = self.word(&call, at)?;
        u8::try_from(decimals).map_err(|_| RpcRefusal::by_contract("more than 255 decimals").into())
    }

    /// The result of a simulated call. A revert is [`RpcError::Refused`].
    pub fn call(&self, call: &Call, at: BlockTag) -> Result<Bytes, RpcError> {
        self.request_as("eth_call", &json!([shown(call), state_parameter(at)]))
    }

    /// The gas of a simulated call. A revert is [`RpcError::Refused`].
    pub fn estimate_gas(&self, call: &Call) -> Result<u64, RpcError> {
        let method = "eth_estimateGas";
        let gas = self.request_quantity(method, &json!([shown(call)]))?;
        u64::try_from(gas).map_err(|_| MalformedAnswer::new(method, "more gas than there can be").into())
    }

    fn word(&self, call: &Call, at: BlockTag) -> Result<U256, RpcError> {
        let answer = self.call(call, at)?;
        let word = <[u8; 32]>::try_from(answer.as_ref())
            .map_err(|_| RpcRefusal::by_contract("the contract's answer is not one word"))?;
        Ok(U256::from_be_bytes(word))
    }
}

fn shown(call: &Call) -> Json {
    let (from, to) = (call.from.lower_hex(), call.to.lower_hex());
    json!({ "from": from, "to": to, "value": call.value.units(), "input": call.input })
}

/// EIP-1898 form of a hash: some methods refuse the bare hash.
fn state_parameter(at: BlockTag) -> Json {
    match at {
        BlockTag::Hash(hash) => json!({ "blockHash": hash, "requireCanonical": true }),
        other => block_parameter(other),
    }
}
