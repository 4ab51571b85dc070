//! Fetches blocks: the requests and their order. `verify.rs` checks the answers.

use std::sync::atomic::Ordering;

use serde_json::{Value, json, value::RawValue};

use crate::{
    block::{Block, BlockHeader, BlockTag},
    error::{RpcError, Unavailable},
    node::RpcNode,
    quirks,
    verify::{self, RawReceipt, WithoutReceipts},
    wire,
};

const BLOCK_RECEIPTS: &str = "eth_getBlockReceipts";

/// The batch size for nodes without `eth_getBlockReceipts`.
const RECEIPTS_AT_ONCE: usize = 100;

/// The receipts of one block as they came; `None` where the node has none.
type Receipts = Vec<Option<RawReceipt>>;

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
        let receipts = self.fetch_receipts(std::slice::from_ref(&block))?.pop().unwrap_or_default();
        block.complete(receipts, BLOCK_RECEIPTS).map(Some)
    }

    /// A block that the node has, as it came.
    pub(crate) fn fetch_block(
        &self,
        at: BlockTag,
        whole: bool,
    ) -> Result<Option<(Box<RawValue>, &'static str)>, RpcError> {
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

    /// The receipts of several blocks, one list for each.
    pub(crate) fn fetch_receipts(&self, blocks: &[WithoutReceipts]) -> Result<Vec<Receipts>, RpcError> {
        if !self.abilities.no_block_receipts.load(Ordering::Relaxed) {
            match self.fetch_receipts_by_block(blocks) {
                Err(error) if quirks::has_no_method(&error) => {
                    self.abilities.no_block_receipts.store(true, Ordering::Relaxed);
                }
                receipts => return receipts,
            }
        }
        self.fetch_receipts_one_by_one(blocks)
    }

    fn fetch_receipts_by_block(&self, blocks: &[WithoutReceipts]) -> Result<Vec<Receipts>, RpcError> {
        let hashes = blocks.iter().filter(|block| !block.is_empty()).map(|block| json!([block.header.hash]));
        let answers = match self.request_many(BLOCK_RECEIPTS, hashes.collect()) {
            Err(error) if quirks::is_no_block(&error) => Err(Unavailable::Incomplete("receipts").into()),
            answers => answers,
        }?;
        let mut answers = answers.into_iter();
        let receipts = blocks.iter().map(|block| {
            if block.is_empty() {
                return Ok(Vec::new());
            }
            let answer = answers.next().ok_or(Unavailable::Incomplete("receipts"))?;
            let receipts: Option<Receipts> = wire::read(&answer, BLOCK_RECEIPTS)?;
            Ok(receipts.ok_or(Unavailable::Incomplete("receipts"))?)
        });
        receipts.collect()
    }

    fn fetch_receipts_one_by_one(&self, blocks: &[WithoutReceipts]) -> Result<Vec<Receipts>, RpcError> {
        let method = "eth_getTransactionReceipt";
        let hashes: Vec<Value> = blocks.iter().flat_map(WithoutReceipts::hashes).map(|hash| json!([hash])).collect();
        let mut receipts = Vec::with_capacity(hashes.len());
        for some in hashes.chunks(RECEIPTS_AT_ONCE) {
            for answer in self.request_divided(method, some.to_vec())? {
                receipts.push(wire::read(&answer, method)?);
            }
        }
        let mut receipts = receipts.into_iter();
        Ok(blocks.iter().map(|block| receipts.by_ref().take(block.hashes().count()).collect()).collect())
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
