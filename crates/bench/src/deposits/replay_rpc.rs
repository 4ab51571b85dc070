//! JSON-RPC from a replay file: single calls and batches, as far as an indexer needs them.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bankroll_chains_evm::B256;
use bankroll_chains_simulated::Address;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    blocks::{self, Holding},
    replay_file::{AnswerPart, ReplayFile, ReplayReader},
};

/// Distances of the named blocks from the head, as the simulated chain has them.
const SAFE_DEPTH: u64 = 32;
const FINALIZED_DEPTH: u64 = 64;

/// The blocks that are shown.
pub(super) struct ReplayNode {
    pub file: ReplayFile,
    head: Mutex<u64>,
    changed: Condvar,
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
        Self { file, head, changed: Condvar::new() }
    }

    pub fn head(&self) -> u64 {
        *self.locked_head()
    }

    /// Shows the blocks up to this one, and wakes the subscriptions.
    pub fn set_head(&self, number: u64) {
        *self.locked_head() = number;
        self.changed.notify_all();
    }

    /// The head, when it is no longer this one or the time is over.
    pub fn next_head(&self, known: u64, time: Duration) -> u64 {
        let waited = self.changed.wait_timeout_while(self.locked_head(), time, |head| *head == known);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn locked_head(&self) -> MutexGuard<'_, u64> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
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
                    "eth_chainId" => Some(format!("{:#x}", self.file.index.chain_id)),
                    "eth_blockNumber" => Some(format!("{:#x}", self.head())),
                    "eth_getBalance" => self.balance(&query.params),
                    "eth_call" => self.token_balance(&query.params),
                    _ => None,
                };
                let shown = result.map_or_else(
                    || r#""error":{"code":-32601,"message":"the method does not exist"}}"#.into(),
                    |result| format!(r#""result":"{result}"}}"#),
                );
                to.extend(shown.bytes());
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

    fn balance(&self, params: &[Value]) -> Option<String> {
        let held = self.holding(params.first()?.as_str()?.parse().ok()?, params.get(1))?;
        Some(format!("{:#x}", held.coins))
    }

    /// A call of `balanceOf(address)`; no other is answered.
    fn token_balance(&self, params: &[Value]) -> Option<String> {
        let call = params.first()?;
        let input = call.get("input").or_else(|| call.get("data"))?.as_str()?;
        let is_token = call.get("to")?.as_str()?.parse::<Address>().ok()? == blocks::TOKEN;
        let holder = input.strip_prefix("0x70a08231")?.get(24..).filter(|_| is_token)?;
        let held = self.holding(holder.parse().ok()?, params.get(1))?;
        Some(format!("0x{:064x}", held.tokens))
    }

    /// What an address has after a block that is shown. Only the paid ones are known; all others have nothing.
    fn holding(&self, holder: Address, block: Option<&Value>) -> Option<Holding> {
        let number = self.number(block)?;
        let paid = (0..blocks::PAID).position(|paid| blocks::watched(paid) == holder);
        paid.map_or(Some(Holding::default()), |paid| self.file.holding(number, paid))
    }

    /// The number of a block that is shown, by its number, name or hash.
    fn number(&self, block: Option<&Value>) -> Option<u64> {
        let block = block?;
        let (text, head) = (block.get("blockHash").unwrap_or(block).as_str()?, self.head());
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
