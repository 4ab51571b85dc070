//! A quirk of anvil: its blocks keep the blobs of transactions, and the root in its headers covers them as well.
//!
//! Such a root is as good as the real one: it covers every byte of every transaction, and blobs in addition. It counts
//! only if the transactions without their blobs are exactly those whose hashes were verified.

use alloy_consensus::{EthereumTxEnvelope, TxEip4844, TxEip4844Variant, proofs::ordered_trie_root_encoded};
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::B256;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire;

#[derive(Deserialize)]
struct BodyWithBlobs {
    transactions: Vec<EthereumTxEnvelope<TxEip4844Variant>>,
}

/// Whether the root covers these transactions together with the blobs in the answer.
pub fn is_root_with_blobs(root: B256, answer: &RawValue, encoded: &[Vec<u8>], method: &'static str) -> bool {
    let has_blobs = encoded.iter().any(|encoded| encoded.first() == Some(&3)) && answer.get().contains("\"blobs\"");
    if !has_blobs {
        return false;
    }
    let Ok(BodyWithBlobs { transactions }) = wire::read::<BodyWithBlobs>(answer, method) else { return false };
    let with_blobs: Vec<Vec<u8>> = transactions.iter().map(Encodable2718::encoded_2718).collect();
    let without =
        |transaction: EthereumTxEnvelope<TxEip4844Variant>| transaction.map_eip4844(TxEip4844::from).encoded_2718();
    ordered_trie_root_encoded(&with_blobs) == root && transactions.into_iter().map(without).eq(encoded.iter().cloned())
}
