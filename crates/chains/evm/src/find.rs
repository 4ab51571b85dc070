//! Finds a transaction: in a verified block, pending, or unknown to this node.

use alloy_primitives::B256;
use serde::Deserialize;
use serde_json::json;

use crate::{
    block::{Block, BlockTag},
    error::{Disagreement, RpcError, Unavailable},
    node::RpcNode,
};

/// The state of a transaction at one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindOutcome {
    /// In this verified block. That the block is canonical is only the node's claim.
    Included(Box<Block>),
    /// Known to the node, in no block.
    Waiting,
    /// Unknown to this node. This proves nothing: others may know it, and it may be included at any time.
    Unheard,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeSighting {
    block_hash: Option<B256>,
}

impl RpcNode {
    /// Looks a transaction up by its hash.
    pub fn find(&self, transaction: B256) -> Result<FindOutcome, RpcError> {
        let sighting: Option<NodeSighting> = self.request_as("eth_getTransactionByHash", &json!([transaction]))?;
        match sighting.map(|sighting| sighting.block_hash) {
            None => Ok(FindOutcome::Unheard),
            Some(None) => Ok(FindOutcome::Waiting),
            Some(Some(hash)) => {
                let block = self.block(BlockTag::Hash(hash))?.ok_or(Unavailable::Incomplete("block"))?;
                if block.transaction(transaction).is_none() {
                    return Err(Disagreement::NotIncluded { transaction, block: hash }.into());
                }
                Ok(FindOutcome::Included(Box::new(block)))
            }
        }
    }
}
