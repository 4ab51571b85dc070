//! The log: entries in the order in which they happened, each hashed with the one before. Pure.
//!
//! The columns of a row repeat what its body says, for looking things up. They are compared with the body whenever a
//! memory is opened, so that nothing is ever decided by a column that says something else.

use bankroll_money::Time;
use bankroll_orders::{Address, IntentId, MalformedMessage, MemoryId, Order, StopReason, canonical};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::judge::{LimitUsage, TransactionFields};

/// A hash over everything up to an entry.
pub type MemoryHash = [u8; 32];

/// Something that happened. The list only grows at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryEntry {
    /// The history of this wallet's key begins here: it has signed nothing before.
    Wallet(Address),
    /// The order is about to be signed. From here on its intent and its slot have their meaning.
    Promised {
        /// The order.
        order: Order,
        /// What it counts against limits.
        counted: LimitUsage,
    },
    /// The transaction of a promise; it is handed out after this is on disk.
    Signed {
        /// The promise's place in the log.
        promise: u64,
        /// The transaction.
        transaction: TransactionFields,
    },
    /// The intent is never signed.
    Revoked(IntentId),
    /// Nothing is signed any more.
    Stopped(StopReason),
}

/// What a row has for looking it up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    pub order_id: Option<String>,
    pub intent: Option<String>,
    pub chain: Option<Vec<u8>>,
    pub wallet: Option<Vec<u8>>,
    pub nonce: Option<Vec<u8>>,
    /// Empty for the chain's own coin.
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

    pub(super) fn columns(&self) -> Columns {
        match self {
            Self::Promised { order, counted } => Columns {
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
            Self::Signed { promise, .. } => Columns { promise: i64::try_from(*promise).ok(), ..Columns::default() },
            Self::Revoked(intent) => Columns { intent: Some(intent.to_string()), ..Columns::default() },
            Self::Wallet(wallet) => Columns { wallet: Some(wallet.0.to_vec()), ..Columns::default() },
            Self::Stopped(_) => Columns::default(),
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
