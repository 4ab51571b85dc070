//! Reading blocks: what is asked of the node, in which order. What is believed of the answers is `verify.rs`.

use serde_json::{Value, json, value::RawValue};

use crate::{
    block::{At, Block, Header},
    error::{NodeError, Unavailable},
    node::Node,
    quirks,
    verify::{self, WithoutReceipts},
};

/// How many receipts are asked for at once, where a node does not give those of a block.
const RECEIPTS_AT_ONCE: usize = 100;

impl Node {
    /// A header, or none if the node does not have the block. Its hash is computed; that it is canonical, safe or final is
    /// the node's word.
    pub fn header(&self, at: At) -> Result<Option<Header>, NodeError> {
        match self.ask_block(at, false)? {
            Some((answer, method)) => verify::header(&answer, at, method).inspect_err(|error| self.doubt(error)),
            None => Ok(None),
        }
    }

    /// A block with everything in it, or none if the node does not have it. Asks for the receipts by the block's hash, so
    /// that a reorganisation in between cannot mix two blocks.
    pub fn block(&self, at: At) -> Result<Option<Block>, NodeError> {
        self.whole_block(at).inspect_err(|error| self.doubt(error))
    }

    fn whole_block(&self, at: At) -> Result<Option<Block>, NodeError> {
        let Some((answer, method)) = self.ask_block(at, true)? else { return Ok(None) };
        let Some(block) = verify::without_receipts(&answer, at, method)? else { return Ok(None) };
        let receipts = if block.is_empty() { Vec::new() } else { self.ask_receipts(&block)? };
        block.complete(&receipts, "eth_getBlockReceipts").map(Some)
    }

    fn ask_block(&self, at: At, whole: bool) -> Result<Option<(Box<RawValue>, &'static str)>, NodeError> {
        let method = match at {
            At::Hash(_) => "eth_getBlockByHash",
            _ => "eth_getBlockByNumber",
        };
        match self.ask(method, &json!([block_parameter(at), whole])) {
            Ok(answer) => Ok(Some((answer, method))),
            Err(error) if quirks::is_no_block(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn ask_receipts(&self, block: &WithoutReceipts) -> Result<Vec<Box<RawValue>>, NodeError> {
        let method = "eth_getBlockReceipts";
        match self.ask_for::<Option<Vec<Box<RawValue>>>>(method, &json!([block.header.hash])) {
            Ok(Some(receipts)) => Ok(receipts),
            Ok(None) => Err(Unavailable::Incomplete("receipts").into()),
            Err(error) if quirks::is_no_block(&error) => Err(Unavailable::Incomplete("receipts").into()),
            Err(error) if quirks::has_no_method(&error) => self.ask_receipts_singly(block),
            Err(error) => Err(error),
        }
    }

    fn ask_receipts_singly(&self, block: &WithoutReceipts) -> Result<Vec<Box<RawValue>>, NodeError> {
        let hashes: Vec<Value> = block.hashes().map(|hash| json!([hash])).collect();
        let mut receipts = Vec::with_capacity(hashes.len());
        for some in hashes.chunks(RECEIPTS_AT_ONCE) {
            receipts.extend(self.ask_each("eth_getTransactionReceipt", some.to_vec())?);
        }
        Ok(receipts)
    }
}

/// How the protocol writes a block.
pub(crate) fn block_parameter(at: At) -> Value {
    match at {
        At::Number(number) => format!("{number:#x}").into(),
        At::Hash(hash) => json!(hash),
        At::Latest => "latest".into(),
        At::Safe => "safe".into(),
        At::Finalized => "finalized".into(),
    }
}
