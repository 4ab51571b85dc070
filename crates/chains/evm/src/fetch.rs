//! Fetches blocks: the requests and their order. `verify.rs` checks the answers.

use serde_json::{Value, json, value::RawValue};

use crate::{
    block::{Block, BlockHeader, BlockTag},
    error::{RpcError, Unavailable},
    node::RpcNode,
    quirks,
    verify::{self, WithoutReceipts},
};

/// The batch size for nodes without `eth_getBlockReceipts`.
const RECEIPTS_AT_ONCE: usize = 100;

impl RpcNode {
    /// A header, or `None` if the node does not have the block. Its hash is verified; that it is canonical, safe or
    /// final is only the node's claim.
    pub fn header(&self, at: BlockTag) -> Result<Option<BlockHeader>, RpcError> {
        match self.fetch_block(at, false)? {
            Some((answer, method)) => verify::header(&answer, at, method).inspect_err(|error| self.distrust(error)),
            None => Ok(None),
        }
    }

    /// A complete block, or `None` if the node does not have it. The receipts are fetched by the block's hash, so a
    /// reorganisation in between cannot mix two blocks.
    pub fn block(&self, at: BlockTag) -> Result<Option<Block>, RpcError> {
        self.full_block(at).inspect_err(|error| self.distrust(error))
    }

    fn full_block(&self, at: BlockTag) -> Result<Option<Block>, RpcError> {
        let Some((answer, method)) = self.fetch_block(at, true)? else { return Ok(None) };
        let Some(block) = verify::without_receipts(&answer, at, method)? else { return Ok(None) };
        let receipts = if block.is_empty() { Vec::new() } else { self.fetch_receipts(&block)? };
        block.complete(&receipts, "eth_getBlockReceipts").map(Some)
    }

    fn fetch_block(&self, at: BlockTag, whole: bool) -> Result<Option<(Box<RawValue>, &'static str)>, RpcError> {
        let method = match at {
            BlockTag::Hash(_) => "eth_getBlockByHash",
            _ => "eth_getBlockByNumber",
        };
        match self.request(method, &json!([block_parameter(at), whole])) {
            Ok(answer) => Ok(Some((answer, method))),
            Err(error) if quirks::is_no_block(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn fetch_receipts(&self, block: &WithoutReceipts) -> Result<Vec<Box<RawValue>>, RpcError> {
        let method = "eth_getBlockReceipts";
        match self.request_as::<Option<Vec<Box<RawValue>>>>(method, &json!([block.header.hash])) {
            Ok(Some(receipts)) => Ok(receipts),
            Ok(None) => Err(Unavailable::Incomplete("receipts").into()),
            Err(error) if quirks::is_no_block(&error) => Err(Unavailable::Incomplete("receipts").into()),
            Err(error) if quirks::has_no_method(&error) => self.fetch_receipts_one_by_one(block),
            Err(error) => Err(error),
        }
    }

    fn fetch_receipts_one_by_one(&self, block: &WithoutReceipts) -> Result<Vec<Box<RawValue>>, RpcError> {
        let hashes: Vec<Value> = block.hashes().map(|hash| json!([hash])).collect();
        let mut receipts = Vec::with_capacity(hashes.len());
        for some in hashes.chunks(RECEIPTS_AT_ONCE) {
            receipts.extend(self.request_batch("eth_getTransactionReceipt", some.to_vec())?);
        }
        Ok(receipts)
    }
}

pub(crate) fn block_parameter(at: BlockTag) -> Value {
    match at {
        BlockTag::Number(number) => format!("{number:#x}").into(),
        BlockTag::Hash(hash) => json!(hash),
        BlockTag::Latest => "latest".into(),
        BlockTag::Safe => "safe".into(),
        BlockTag::Finalized => "finalized".into(),
    }
}
