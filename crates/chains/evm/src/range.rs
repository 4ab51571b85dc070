//! Reads many blocks at once: several connections, and batches within each.
//!
//! Guarantees: blocks come in order and without a gap, each verified like a single one. Receipts are requested by the
//! block's hash, and traces name it. That each block is the parent of the next is left to the caller, who compares
//! hashes anyway.
//!
//! Bounds: about `transactions_max` transactions are held, and what one batch on each connection brings. How many
//! blocks a batch has follows from the sizes of the blocks before it; what a node refuses as too much is halved, and
//! grows again by one block at a time.
//!
//! What ends the list early: a block that the node does not have, the bound on transactions, and a failure, of which
//! the caller hears when the failing block is the first one that it asks for. Only a [`RpcError::Disagreeing`] is
//! reported at once, whatever was read: after a lie nothing else of that node should be used.

use std::{
    ops::RangeInclusive,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::json;

use crate::{
    block::{Block, BlockTag},
    error::{RpcError, Unavailable},
    fetch::block_parameter,
    node::RpcNode,
    quirks,
    traces::InternalTransfer,
    transport::CONNECTIONS_MAX,
    verify,
};

/// The batch size while nothing is known about a node.
const BATCH_AT_FIRST: u64 = 1_000;

/// A verified block, and what contracts moved in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedBlock {
    pub block: Block,
    /// Unverified, like all traces. Empty if traces were not requested.
    pub internal: Vec<InternalTransfer>,
}

/// Which blocks to read, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPlan {
    /// The first block.
    pub from: u64,
    /// The last block, included.
    pub to: u64,
    /// How many requests are under way at the same time, at most 16.
    pub connections: usize,
    /// How many blocks one request asks for, at most.
    pub batch: usize,
    /// No more blocks are requested when this many transactions are read or expected.
    pub transactions_max: usize,
    pub with_traces: bool,
}

/// What was learned about a node's blocks and batches.
#[derive(Debug)]
pub struct Pace {
    /// Transactions in a block: of the latest blocks, or more.
    usual: u64,
    /// The largest batch that the node is asked for.
    batch: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { usual: 200, batch: BATCH_AT_FIRST }
    }
}

/// One worker's reading of a range.
struct Part {
    range: RangeInclusive<u64>,
    blocks: Vec<TracedBlock>,
    failure: Option<RpcError>,
}

/// Hands ranges to workers.
struct Claims<'a> {
    plan: &'a ReadPlan,
    next: u64,
    read: u64,
    expected: u64,
    stopped: bool,
}

impl RpcNode {
    /// Reads blocks as the plan says; fewer where the head of this document says so.
    pub fn read_blocks(&self, plan: &ReadPlan) -> Result<Vec<TracedBlock>, RpcError> {
        let claims = Mutex::new(Claims { plan, next: plan.from, read: 0, expected: 0, stopped: false });
        let workers = plan.connections.clamp(1, CONNECTIONS_MAX);
        let mut parts = if workers == 1 || plan.from >= plan.to {
            self.read_claimed(&claims)
        } else {
            std::thread::scope(|scope| {
                let readers: Vec<_> = (0..workers).map(|_| scope.spawn(|| self.read_claimed(&claims))).collect();
                readers
                    .into_iter()
                    .flat_map(|reader| reader.join().expect("bug: a reader of blocks panicked"))
                    .collect()
            })
        };
        parts.sort_by_key(|part| *part.range.start());
        joined(parts)
    }

    fn read_claimed(&self, claims: &Mutex<Claims<'_>>) -> Vec<Part> {
        let mut parts = Vec::new();
        loop {
            let Some((range, expected)) = locked(claims).claim(&locked(&self.abilities.pace)) else { return parts };
            let part = self.read_part(range, claims);
            locked(claims).settle(&part, expected);
            parts.push(part);
        }
    }

    /// Reads a range in as few requests as the node takes.
    fn read_part(&self, range: RangeInclusive<u64>, claims: &Mutex<Claims<'_>>) -> Part {
        let with_traces = locked(claims).plan.with_traces;
        let (mut waiting, mut blocks, mut failure) = (vec![range.clone()], Vec::new(), None);
        while let Some(some) = waiting.pop() {
            let count = length(&some);
            let before = blocks.len();
            match self.read_batch(&some, with_traces, &mut blocks) {
                Ok(()) => {
                    let transactions =
                        blocks.iter().skip(before).map(|read| read.block.transactions.len() as u64).sum();
                    locked(&self.abilities.pace).went_well(count, transactions);
                    if (blocks.len().saturating_sub(before) as u64) < count {
                        break;
                    }
                }
                Err(error) if count > 1 && blocks.len() == before && quirks::is_too_much(&error) => {
                    locked(&self.abilities.pace).was_too_much(count);
                    let middle = some.start().saturating_add(count / 2);
                    waiting.push(middle..=*some.end());
                    waiting.push(*some.start()..=middle.saturating_sub(1));
                }
                Err(error) => {
                    self.distrust(&error);
                    if matches!(error, RpcError::Unavailable(Unavailable::TimedOut)) {
                        locked(&self.abilities.pace).was_too_much(count);
                    }
                    failure = Some(error);
                    break;
                }
            }
        }
        Part { range, blocks, failure }
    }

    /// Adds blocks until the range ends, or the node does not have one, or one is not as it should be.
    fn read_batch(
        &self,
        range: &RangeInclusive<u64>,
        with_traces: bool,
        read: &mut Vec<TracedBlock>,
    ) -> Result<(), RpcError> {
        let method = "eth_getBlockByNumber";
        let answers = if range.start() == range.end() {
            self.fetch_block(BlockTag::Number(*range.start()), true)?.map(|(answer, _)| answer).into_iter().collect()
        } else {
            let params = range.clone().map(|number| json!([block_parameter(BlockTag::Number(number)), true]));
            self.request_many(method, params.collect())?
        };
        let mut incomplete = Vec::with_capacity(answers.len());
        for (number, answer) in range.clone().zip(answers) {
            let Some(block) = verify::without_receipts(&answer, BlockTag::Number(number), method)? else { break };
            incomplete.push(block);
        }
        let receipts = self.fetch_receipts(&incomplete)?;
        let complete =
            |(block, receipts): (verify::WithoutReceipts, _)| block.complete(receipts, "eth_getBlockReceipts");
        let blocks: Vec<Block> = incomplete.into_iter().zip(receipts).map(complete).collect::<Result<_, _>>()?;
        if !with_traces {
            read.extend(blocks.into_iter().map(|block| TracedBlock { block, internal: Vec::new() }));
            return Ok(());
        }
        let internal = self.internal_transfers_of(&blocks)?;
        read.extend(blocks.into_iter().zip(internal).map(|(block, internal)| TracedBlock { block, internal }));
        Ok(())
    }

    fn internal_transfers_of(&self, blocks: &[Block]) -> Result<Vec<Vec<InternalTransfer>>, RpcError> {
        let traced: Vec<&Block> = blocks.iter().filter(|block| !block.transactions.is_empty()).collect();
        if traced.is_empty() {
            return Ok(blocks.iter().map(|_| Vec::new()).collect());
        }
        let transfers = self.with_trace_method(|method| {
            let params = traced.iter().map(|block| method.parameters(block)).collect();
            let answers = self.request_many(method.name(), params)?;
            let read = answers.iter().zip(&traced).map(|(answer, block)| method.transfers(answer, block));
            read.collect::<Result<Vec<_>, _>>()
        })?;
        let mut transfers = transfers.into_iter();
        let of = |block: &Block| if block.transactions.is_empty() { None } else { transfers.next() };
        Ok(blocks.iter().map(of).map(Option::unwrap_or_default).collect())
    }
}

fn joined(parts: Vec<Part>) -> Result<Vec<TracedBlock>, RpcError> {
    if let Some(lie) = parts.iter().filter_map(|part| part.failure.clone()).find(is_lie) {
        return Err(lie);
    }
    let mut blocks = Vec::new();
    for part in parts {
        let is_whole = part.blocks.len() as u64 == length(&part.range);
        blocks.extend(part.blocks);
        match part.failure {
            Some(failure) if blocks.is_empty() => return Err(failure),
            _ if !is_whole => break,
            _ => {}
        }
    }
    Ok(blocks)
}

fn is_lie(error: &RpcError) -> bool {
    matches!(error, RpcError::Disagreeing(_))
}

fn length(range: &RangeInclusive<u64>) -> u64 {
    range.end().checked_sub(*range.start()).map_or(0, |more| more.saturating_add(1))
}

/// What the lock guards is sound after every statement.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Claims<'_> {
    /// The next range for a worker, and how many transactions are expected in it.
    fn claim(&mut self, pace: &Pace) -> Option<(RangeInclusive<u64>, u64)> {
        let most = self.plan.transactions_max as u64;
        let is_first = self.next == self.plan.from;
        let is_full = self.read.saturating_add(self.expected) >= most;
        if self.stopped || self.next > self.plan.to || (is_full && !is_first) {
            return None;
        }
        let share = most / (self.plan.connections.clamp(1, CONNECTIONS_MAX) as u64) / pace.usual.max(1);
        let size = share.min(self.plan.batch as u64).min(pace.batch).max(1);
        let last = self.next.saturating_add(size.saturating_sub(1)).min(self.plan.to);
        let range = self.next..=last;
        let expected = length(&range).saturating_mul(pace.usual);
        self.expected = self.expected.saturating_add(expected);
        // The last number that there is cannot be passed.
        self.stopped = last == u64::MAX;
        self.next = last.saturating_add(1);
        Some((range, expected))
    }

    fn settle(&mut self, part: &Part, expected: u64) {
        self.expected = self.expected.saturating_sub(expected);
        let transactions = part.blocks.iter().map(|read| read.block.transactions.len() as u64).sum();
        self.read = self.read.saturating_add(transactions);
        self.stopped |= part.failure.is_some() || (part.blocks.len() as u64) < length(&part.range);
    }
}

impl Pace {
    fn went_well(&mut self, blocks: u64, transactions: u64) {
        let now = transactions.div_ceil(blocks.max(1));
        // Up at once, down slowly: too small a batch costs little, too large a one costs memory.
        self.usual = now.max(self.usual.saturating_mul(3).saturating_add(now) / 4).max(1);
        if blocks >= self.batch {
            self.batch = self.batch.saturating_add(1);
        }
    }

    fn was_too_much(&mut self, blocks: u64) {
        self.batch = self.batch.min(blocks / 2).max(1);
    }
}
