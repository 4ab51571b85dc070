//! The identity of a chain: its id and the hash of its genesis block. Some ids are used by several chains.

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
    /// Transactions are signed for this id.
    pub chain_id: u64,
    /// The hash of the genesis block.
    pub genesis: B256,
}

impl ChainIdentity {
    /// Reads the identity of the chain at a URL, for the setup of a new chain.
    pub fn discover(url: &str, limits: RpcLimits) -> Result<Result<Self, RpcError>, InvalidRpcUrl> {
        let unknown = Self { chain_id: 0, genesis: B256::ZERO };
        RpcNode::http(url, unknown, limits).map(|node| node.discover_identity())
    }
}

impl RpcNode {
    /// Checks that the node is on the right chain. All requests do this by themselves.
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

    /// The identity that the node reports, without comparing it.
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
