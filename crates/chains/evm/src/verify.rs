//! Builds a verified block from a node's answers. Pure.
//!
//! It checks: the hash of the header; that it is the requested block; the hash of each transaction; the root of all
//! transactions; one receipt per transaction, in order; the bloom of the logs; the root of all receipts, computed from
//! the same statuses, gas and logs that are returned. Fields that cannot be checked are not used,
//! except the claimed senders: they are a filter, and prove nothing.

use alloy_consensus::{
    Header as ConsensusHeader, Receipt, ReceiptEnvelope, Transaction as _,
    proofs::{calculate_receipt_root, ordered_trie_root_encoded},
};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{B256, Bloom, Bytes, LogData, U64, keccak256};
use bankroll_orders::Address;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    block::{Block, BlockHeader, BlockTag, RawEnvelope, Transaction},
    error::{Disagreement, MalformedAnswer, RpcError, Unavailable},
    log::EventLog,
    quantity::Quantity,
    sidecars::is_root_with_blobs,
    transactions::RawTransaction,
    wire::{self, WireAddress},
};

#[derive(Deserialize)]
struct ClaimedHash {
    hash: B256,
}

#[derive(Deserialize)]
struct Body {
    hash: B256,
    transactions: Vec<RawTransaction>,
}

/// What is not in an envelope. Read apart: to flatten both into one would buffer every transaction.
#[derive(Deserialize)]
struct ClaimedSenders {
    transactions: Vec<ClaimedSender>,
}

#[derive(Deserialize)]
struct ClaimedSender {
    #[serde(default)]
    from: Option<WireAddress>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RawReceipt {
    status: U64,
    cumulative_gas_used: U64,
    logs: Vec<RawLog>,
    transaction_hash: B256,
    block_hash: B256,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLog {
    address: WireAddress,
    topics: Vec<B256>,
    data: Bytes,
    #[serde(default)]
    block_hash: Option<B256>,
    #[serde(default)]
    transaction_hash: Option<B256>,
    #[serde(default)]
    removed: bool,
}

/// A block whose receipts are not fetched yet.
pub struct WithoutReceipts {
    pub header: BlockHeader,
    consensus: ConsensusHeader,
    transactions: Vec<UnreceiptedTransaction>,
}

struct UnreceiptedTransaction {
    hash: B256,
    claimed_sender: Option<Address>,
    envelope: RawEnvelope,
}

/// The header in an answer, or `None` if there is no such block.
pub fn header(answer: &RawValue, at: BlockTag, method: &'static str) -> Result<Option<BlockHeader>, RpcError> {
    if answer.get() == "null" {
        return Ok(None);
    }
    let consensus: ConsensusHeader = wire::read(answer, method)?;
    let ClaimedHash { hash: claimed } = wire::read(answer, method)?;
    verified(&consensus, claimed, at).map(Some)
}

fn verified(consensus: &ConsensusHeader, claimed: B256, at: BlockTag) -> Result<BlockHeader, RpcError> {
    let computed = consensus.hash_slow();
    if claimed != computed {
        return Err(Disagreement::BlockHash { claimed, computed }.into());
    }
    let header = BlockHeader {
        number: consensus.number,
        hash: computed,
        parent: consensus.parent_hash,
        time: consensus.timestamp,
        base_fee: consensus.base_fee_per_gas,
    };
    let other = |asked: String| Disagreement::OtherBlock { asked, number: header.number, hash: header.hash };
    match at {
        BlockTag::Number(number) if number != header.number => Err(other(number.to_string()).into()),
        BlockTag::Hash(hash) if hash != header.hash => Err(other(hash.to_string()).into()),
        _ => Ok(header),
    }
}

/// The block in an answer with full transactions.
pub fn without_receipts(
    answer: &RawValue,
    at: BlockTag,
    method: &'static str,
) -> Result<Option<WithoutReceipts>, RpcError> {
    if answer.get() == "null" {
        return Ok(None);
    }
    let consensus: ConsensusHeader = wire::read(answer, method)?;
    let Body { hash, transactions } = wire::read(answer, method)?;
    let ClaimedSenders { transactions: senders } = wire::read(answer, method)?;
    let header = verified(&consensus, hash, at)?;
    let transactions = transactions.into_iter().map(|raw| raw.envelope(method)).collect::<Result<Vec<_>, _>>()?;
    let encoded: Vec<Vec<u8>> = transactions.iter().map(Encodable2718::encoded_2718).collect();
    let mut hashed = Vec::with_capacity(transactions.len());
    for ((envelope, encoded), sender) in transactions.into_iter().zip(&encoded).zip(senders) {
        let (claimed, computed) = (*envelope.tx_hash(), keccak256(encoded));
        if claimed != computed {
            return Err(Disagreement::TransactionHash { claimed, computed }.into());
        }
        let claimed_sender = sender.from.map(|from| Address(from.into_array()));
        hashed.push(UnreceiptedTransaction { hash: computed, claimed_sender, envelope });
    }
    let root = consensus.transactions_root;
    if ordered_trie_root_encoded(&encoded) != root && !is_root_with_blobs(root, answer, &encoded, method) {
        return Err(Disagreement::Root { what: "transactions", block: header.hash }.into());
    }
    Ok(Some(WithoutReceipts { header, consensus, transactions: hashed }))
}

impl WithoutReceipts {
    pub fn is_empty(&self) -> bool {
        self.transactions.is_empty()
    }

    pub fn hashes(&self) -> impl Iterator<Item = B256> {
        self.transactions.iter().map(|transaction| transaction.hash)
    }

    /// The complete block, if these are its receipts.
    pub fn complete(self, claimed: Vec<Option<RawReceipt>>, method: &'static str) -> Result<Block, RpcError> {
        let block = self.header.hash;
        if claimed.len() != self.transactions.len() {
            let (transactions, receipts) = (self.transactions.len(), claimed.len());
            return Err(Disagreement::ReceiptCount { block, transactions, receipts }.into());
        }
        let (mut transactions, mut receipts, mut bloom) = (Vec::new(), Vec::new(), Bloom::ZERO);
        let mut gas_before = 0;
        for ((index, transaction), claimed) in self.transactions.into_iter().enumerate().zip(claimed) {
            let UnreceiptedTransaction { hash, claimed_sender, envelope } = transaction;
            let receipt = receipt(claimed.ok_or(Unavailable::Incomplete("receipt"))?, block, hash, method)?;
            let gas_after = receipt.cumulative_gas_used;
            let gas_used = gas_after
                .checked_sub(gas_before)
                .ok_or_else(|| MalformedAnswer::new(method, "cumulative gas that decreases"))?;
            gas_before = gas_after;
            let sealed = ReceiptEnvelope::from_typed(envelope.tx_type(), receipt);
            bloom |= *sealed.logs_bloom();
            let place = TransactionPlace { hash, index, claimed_sender, gas_used, base_fee: self.header.base_fee };
            transactions.push(place.transaction(envelope, &sealed));
            receipts.push(sealed);
        }
        if bloom != self.consensus.logs_bloom {
            return Err(Disagreement::Bloom(block).into());
        }
        if calculate_receipt_root(&receipts) != self.consensus.receipts_root {
            return Err(Disagreement::Root { what: "receipts", block }.into());
        }
        Ok(Block { header: self.header, transactions })
    }
}

fn receipt(raw: RawReceipt, block: B256, transaction: B256, method: &'static str) -> Result<Receipt, RpcError> {
    if raw.block_hash != block || raw.transaction_hash != transaction {
        return Err(Disagreement::Place { what: "receipt", block }.into());
    }
    let status = match raw.status.to::<u64>() {
        0 => false,
        1 => true,
        _ => return Err(MalformedAnswer::new(method, "a status that is neither 0 nor 1").into()),
    };
    let mut logs = Vec::with_capacity(raw.logs.len());
    for log in raw.logs {
        let elsewhere = log.block_hash.is_some_and(|hash| hash != block)
            || log.transaction_hash.is_some_and(|hash| hash != transaction);
        if elsewhere {
            return Err(Disagreement::Place { what: "log", block }.into());
        }
        if log.removed {
            return Err(Disagreement::LogRemoved(block).into());
        }
        let data = LogData::new(log.topics, log.data)
            .ok_or_else(|| MalformedAnswer::new(method, "a log with more than four topics"))?;
        logs.push(alloy_primitives::Log { address: log.address, data });
    }
    Ok(Receipt { status: status.into(), cumulative_gas_used: raw.cumulative_gas_used.to(), logs })
}

struct TransactionPlace {
    hash: B256,
    index: usize,
    claimed_sender: Option<Address>,
    gas_used: u64,
    base_fee: Option<u64>,
}

impl TransactionPlace {
    fn transaction(self, envelope: RawEnvelope, receipt: &ReceiptEnvelope) -> Transaction {
        let numbered = receipt.logs().iter().enumerate();
        let logs = numbered.map(|(ordinal, log)| EventLog {
            ordinal,
            contract: Address(log.address.into_array()),
            topics: log.data.topics().to_vec(),
            data: log.data.data.clone(),
        });
        Transaction {
            hash: self.hash,
            index: self.index,
            nonce: envelope.nonce(),
            to: envelope.to().map(|to| Address(to.into_array())),
            value: Quantity::new(envelope.value()),
            input: envelope.input().clone(),
            succeeded: receipt.status(),
            gas_used: self.gas_used,
            gas_price: envelope.effective_gas_price(self.base_fee),
            logs: logs.collect(),
            claimed_sender: self.claimed_sender,
            envelope,
        }
    }
}
