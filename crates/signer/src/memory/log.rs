//! The log: entries in order, each hashed with the previous one. Pure.
//!
//! The columns of a row repeat parts of its body, for lookups. Opening a memory compares them with the body, so the
//! signer never decides by a column that contradicts its body.

use bankroll_money::Time;
use bankroll_orders::{Address, IntentId, MalformedMessage, MemoryId, Order, StopReason, canonical};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::judge::{LimitUsage, TransactionFields};

/// A hash over all entries up to one.
pub type MemoryHash = [u8; 32];

/// The list of variants only grows at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryEntry {
    /// Starts the history of this wallet's key, which has signed nothing before.
    Wallet(Address),
    /// The order is about to be signed. From here on its intent and its slot belong to each other.
    Promised { order: Order, counted: LimitUsage },
    /// The transaction of a promise; it is handed out only after this entry is on disk.
    Signed {
        /// The number of the promise's entry.
        promise: u64,
        transaction: TransactionFields,
    },
    /// The intent is never signed.
    Revoked(IntentId),
    /// The signer signs nothing from here on.
    Stopped(StopReason),
}

/// The lookup columns of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryColumns {
    pub order_id: Option<String>,
    pub intent: Option<String>,
    pub chain: Option<Vec<u8>>,
    pub wallet: Option<Vec<u8>>,
    pub nonce: Option<Vec<u8>>,
    /// Empty for the native coin.
    pub token: Option<Vec<u8>>,
    pub paid: Option<Vec<u8>>,
    pub fees: Option<Vec<u8>>,
    pub promise: Option<i64>,
}

impl MemoryEntry {
    pub(super) fn encode(&self) -> Vec<u8> {
        canonical::encode(self)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, MalformedMessage> {
        canonical::decode(bytes, "entry of the log")
    }

    pub(super) fn columns(&self) -> EntryColumns {
        match self {
            Self::Promised { order, counted } => EntryColumns {
                order_id: Some(order.id.to_string()),
                intent: Some(order.intent.to_string()),
                chain: Some(order.slot.chain.0.to_be_bytes().to_vec()),
                wallet: Some(order.slot.wallet.0.to_vec()),
                nonce: Some(order.slot.nonce.to_be_bytes().to_vec()),
                token: Some(token_column(order.meaning.token())),
                paid: Some(counted.paid.to_sortable().to_vec()),
                fees: Some(counted.fees.to_sortable().to_vec()),
                promise: None,
            },
            Self::Signed { promise, .. } => {
                EntryColumns { promise: i64::try_from(*promise).ok(), ..EntryColumns::default() }
            }
            Self::Revoked(intent) => EntryColumns { intent: Some(intent.to_string()), ..EntryColumns::default() },
            Self::Wallet(wallet) => EntryColumns { wallet: Some(wallet.0.to_vec()), ..EntryColumns::default() },
            Self::Stopped(_) => EntryColumns::default(),
        }
    }
}

pub fn token_column(token: Option<Address>) -> Vec<u8> {
    token.map_or_else(Vec::new, |token| token.0.to_vec())
}

/// The hash before the first entry.
pub fn genesis(memory: MemoryId) -> MemoryHash {
    Sha256::new().chain_update(b"bankroll signer memory 1\0").chain_update(memory.0).finalize().into()
}

/// The hash after an entry.
pub fn follow(previous: &MemoryHash, seq: u64, at: Time, body: &[u8]) -> MemoryHash {
    Sha256::new()
        .chain_update(b"bankroll signer entry 1\0")
        .chain_update(previous)
        .chain_update(seq.to_be_bytes())
        .chain_update(at.0.to_be_bytes())
        .chain_update(body)
        .finalize()
        .into()
}
