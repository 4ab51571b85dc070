//! Blocks, transactions and receipts as the protocol writes them.

use alloy_primitives::{B256, U256};
use serde_json::{Value, json};

use crate::{
    block::{IncludedTransaction, SimulatedBlock},
    transaction::SimulatedTransaction,
};

pub fn quantity(number: impl TryInto<U256>) -> Value {
    let number: U256 = number.try_into().unwrap_or_else(|_| unreachable!("every unsigned number fits into 256 bits"));
    format!("{number:#x}").into()
}

/// A block, with its transactions whole or as hashes.
pub fn block(block: &SimulatedBlock, whole: bool) -> Value {
    let transactions: Vec<Value> = (0..block.transactions.len())
        .zip(&block.transactions)
        .map(|(index, included)| if whole { in_block(block, index) } else { json!(included.transaction.hash) })
        .collect();
    let mut shown = json!(block.header);
    shown["hash"] = json!(block.hash);
    shown["size"] = quantity(block.body_bytes().saturating_add(600));
    shown["uncles"] = json!([]);
    shown["withdrawals"] = json!(block.extras.withdrawals);
    shown["transactions"] = transactions.into();
    shown
}

/// A block as `newHeads` reports it.
pub fn header(block: &SimulatedBlock) -> Value {
    let mut shown = json!(block.header);
    shown["hash"] = json!(block.hash);
    shown
}

/// A transaction that waits.
pub fn waiting(transaction: &SimulatedTransaction) -> Value {
    let mut shown = json!(transaction.envelope);
    shown["from"] = json!(transaction.sender);
    for field in ["blockHash", "blockNumber", "transactionIndex"] {
        shown[field] = Value::Null;
    }
    if shown["gasPrice"].is_null() {
        shown["gasPrice"] = shown["maxFeePerGas"].clone();
    }
    shown
}

pub fn in_block(block: &SimulatedBlock, index: usize) -> Value {
    let Some(included) = block.transactions.get(index) else { return Value::Null };
    let mut shown = waiting(&included.transaction);
    shown["blockHash"] = json!(block.hash);
    shown["blockNumber"] = quantity(block.number());
    shown["transactionIndex"] = quantity(index);
    shown["gasPrice"] = quantity(included.gas_price);
    shown
}

/// All receipts of a block.
pub fn receipts(block: &SimulatedBlock) -> Value {
    (0..block.transactions.len()).map(|index| receipt(block, index)).collect()
}

/// The receipt of a block's transaction.
pub fn receipt(block: &SimulatedBlock, index: usize) -> Value {
    let Some(included) = block.transactions.get(index) else { return Value::Null };
    let transaction = &included.transaction;
    json!({
        "type": quantity(u8::from(transaction.envelope.tx_type())),
        "status": quantity(u8::from(included.receipt.status())),
        "cumulativeGasUsed": quantity(included.receipt.cumulative_gas_used()),
        "logsBloom": included.receipt.logs_bloom(),
        "logs": logs(block, index, included),
        "transactionHash": transaction.hash,
        "transactionIndex": quantity(index),
        "blockHash": block.hash,
        "blockNumber": quantity(block.number()),
        "gasUsed": quantity(included.gas_used),
        "effectiveGasPrice": quantity(included.gas_price),
        "from": transaction.sender,
        "to": transaction.to(),
        "contractAddress": null,
    })
}

/// The logs of a block's transaction, numbered through the block.
pub fn logs(block: &SimulatedBlock, index: usize, included: &IncludedTransaction) -> Vec<Value> {
    let before: usize = block.transactions.iter().take(index).map(|earlier| earlier.receipt.logs().len()).sum();
    let place = ItemPlace { block, index, transaction: included.transaction.hash };
    let numbered = included.receipt.logs().iter().zip(before..);
    numbered.map(|(log, number)| place.log(log, number)).collect()
}

struct ItemPlace<'a> {
    block: &'a SimulatedBlock,
    index: usize,
    transaction: B256,
}

impl ItemPlace<'_> {
    fn log(&self, log: &alloy_primitives::Log, number: usize) -> Value {
        json!({
            "address": log.address,
            "topics": log.data.topics(),
            "data": log.data.data,
            "blockNumber": quantity(self.block.number()),
            "blockHash": self.block.hash,
            "blockTimestamp": quantity(self.block.time()),
            "transactionHash": self.transaction,
            "transactionIndex": quantity(self.index),
            "logIndex": quantity(number),
            "removed": false,
        })
    }
}
