//! JSON-RPC from a replay file: single calls and batches, as far as an indexer needs them.

use std::sync::atomic::{AtomicU64, Ordering};

use bankroll_chains_evm::B256;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::replay_file::{AnswerPart, ReplayFile, ReplayReader};

/// Distances of the named blocks from the head, as the simulated chain has them.
const SAFE_DEPTH: u64 = 32;
const FINALIZED_DEPTH: u64 = 64;

/// The blocks that are shown.
pub(super) struct ReplayNode {
    pub file: ReplayFile,
    head: AtomicU64,
}

#[derive(Deserialize)]
struct RpcQuery<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    method: &'a str,
    #[serde(default)]
    params: Vec<Value>,
}

impl ReplayNode {
    pub fn new(file: ReplayFile) -> Self {
        let head = file.blocks().into();
        Self { file, head }
    }

    pub fn head(&self) -> u64 {
        self.head.load(Ordering::SeqCst)
    }

    pub fn set_head(&self, number: u64) {
        self.head.store(number, Ordering::SeqCst);
    }

    /// Appends the answer to a request or a batch.
    ///
    /// # Errors
    /// If the request cannot be parsed, or the file cannot be read.
    pub fn answer(&self, reader: &mut ReplayReader<'_>, request: &[u8], to: &mut Vec<u8>) -> anyhow::Result<()> {
        if !request.trim_ascii_start().starts_with(b"[") {
            return self.answer_one(reader, &serde_json::from_slice(request)?, to);
        }
        let queries: Vec<RpcQuery<'_>> = serde_json::from_slice(request)?;
        for (place, query) in queries.iter().enumerate() {
            to.push(if place == 0 { b'[' } else { b',' });
            self.answer_one(reader, query, to)?;
        }
        to.push(b']');
        Ok(())
    }

    fn answer_one(&self, reader: &mut ReplayReader<'_>, query: &RpcQuery<'_>, to: &mut Vec<u8>) -> anyhow::Result<()> {
        to.extend([br#"{"jsonrpc":"2.0","id":"#, query.id.get().as_bytes(), b","].concat());
        let found = |part| (self.number(query.params.first()), part);
        let whole = query.params.get(1) == Some(&Value::Bool(true));
        let (number, part) = match query.method {
            "eth_getBlockByNumber" | "eth_getBlockByHash" if whole => found(AnswerPart::Block),
            "eth_getBlockByNumber" | "eth_getBlockByHash" => found(AnswerPart::Header),
            "eth_getBlockReceipts" => found(AnswerPart::Receipts),
            "trace_block" => found(AnswerPart::Traces),
            method => {
                let result = match method {
                    "eth_chainId" => format!(r#""result":"{:#x}"}}"#, self.file.index.chain_id),
                    "eth_blockNumber" => format!(r#""result":"{:#x}"}}"#, self.head()),
                    _ => r#""error":{"code":-32601,"message":"the method does not exist"}}"#.into(),
                };
                to.extend(result.bytes());
                return Ok(());
            }
        };
        to.extend(br#""result":"#);
        let is_there = match number {
            Some(number) => reader.append(number, part, to)?,
            None => false,
        };
        if !is_there {
            to.extend(b"null");
        }
        to.push(b'}');
        Ok(())
    }

    /// The number of a block that is shown, by its number, name or hash.
    fn number(&self, block: Option<&Value>) -> Option<u64> {
        let (text, head) = (block?.as_str()?, self.head());
        let number = match text {
            "latest" | "pending" => head,
            "safe" => head.saturating_sub(SAFE_DEPTH),
            "finalized" => head.saturating_sub(FINALIZED_DEPTH),
            "earliest" => 0,
            hash if hash.len() == 66 => self.file.number_of(hash.parse::<B256>().ok()?)?,
            number => u64::from_str_radix(number.strip_prefix("0x")?, 16).ok()?,
        };
        (number <= head).then_some(number)
    }
}
