//! Which chain a node is on: its number, and the hash of its first block. Numbers alone have been used twice.

use alloy_primitives::B256;
use serde_json::json;

use crate::{
    block::BlockTag,
    error::{Disagreement, RpcError, Unavailable},
    node::RpcNode,
    transport::{InvalidRpcUrl, RpcLimits},
    verify, wire,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChainIdentity {
    /// Its number, which transactions are signed for.
    pub chain_id: u64,
    /// The hash of its first block.
    pub genesis: B256,
}

impl ChainIdentity {
    /// Asks an address which chain is there: for setting a chain up, before anything is known about it.
    pub fn discover(url: &str, limits: RpcLimits) -> Result<Result<Self, RpcError>, InvalidRpcUrl> {
        let nobody = Self { chain_id: 0, genesis: B256::ZERO };
        RpcNode::http(url, nobody, limits).map(|node| node.discover_identity())
    }
}

impl RpcNode {
    /// Whether the node is on the chain it must be on. Everything else asks this first, so it need not be called.
    pub fn check_identity(&self) -> Result<(), RpcError> {
        let expected = self.identity();
        let found = wire::quantity(&self.request_unverified("eth_chainId", &json!([]))?, "eth_chainId")?;
        if u64::try_from(found).ok() != Some(expected.chain_id) {
            return Err(Disagreement::ChainId { expected: expected.chain_id, found }.into());
        }
        let found = self.genesis()?;
        if found != expected.genesis {
            return Err(Disagreement::Genesis { expected: expected.genesis, found }.into());
        }
        Ok(())
    }

    /// Which chain the node says it is on, whatever it should be.
    pub fn discover_identity(&self) -> Result<ChainIdentity, RpcError> {
        let found = wire::quantity(&self.request_unverified("eth_chainId", &json!([]))?, "eth_chainId")?;
        let chain_id = u64::try_from(found).map_err(|_| Disagreement::ChainId { expected: 0, found })?;
        Ok(ChainIdentity { chain_id, genesis: self.genesis()? })
    }

    fn genesis(&self) -> Result<B256, RpcError> {
        let method = "eth_getBlockByNumber";
        let answer = self.request_unverified(method, &json!(["0x0", false]))?;
        let header = verify::header(&answer, BlockTag::Number(0), method)?;
        Ok(header.ok_or(Unavailable::Incomplete("first block"))?.hash)
    }
}
