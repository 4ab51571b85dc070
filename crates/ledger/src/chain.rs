//! The hash chain over batches, and receipts: proof that a record is in the journal, checkable without it.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    Seq, Time,
    merkle::{self, Hash},
};

/// The head of a ledger without batches.
pub const GENESIS: Hash = [0; 32];

/// The header of one commit of the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Its number, from 1, without gaps.
    pub number: u64,
    /// The position of its first record.
    pub first: Seq,
    /// How many records it has; at least one.
    pub count: u32,
    /// When the writer decided it. Never earlier than the batch before.
    pub at: Time,
    pub root: Hash,
    /// The head of the chain before it.
    pub previous: Hash,
}

impl Batch {
    /// The head of the chain after this batch: it commits to the whole journal up to here.
    #[must_use]
    pub fn head(&self) -> Hash {
        Sha256::new()
            .chain_update(b"bankroll batch 1\0")
            .chain_update(self.number.to_be_bytes())
            .chain_update(self.first.0.to_be_bytes())
            .chain_update(self.count.to_be_bytes())
            .chain_update(self.at.0.to_be_bytes())
            .chain_update(self.root)
            .chain_update(self.previous)
            .finalize()
            .into()
    }
}

/// Proof that a record is in the journal: its bytes, its path to the root of its batch, and that batch.
///
/// A reader with the published head of that batch can verify it without the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The record's position in the journal.
    pub seq: Seq,
    pub record: Vec<u8>,
    /// The siblings on the path to the root.
    pub siblings: Vec<Hash>,
    pub batch: Batch,
}

impl Receipt {
    /// The receipt of a record, from all records of its batch. `None` if the batch does not have it.
    #[must_use]
    pub fn new(batch: Batch, records: &[Vec<u8>], seq: Seq) -> Option<Self> {
        let index = usize::try_from(seq.0.checked_sub(batch.first.0)?).ok()?;
        let leaves: Vec<Hash> = records.iter().map(|record| merkle::leaf(record)).collect();
        let siblings = merkle::path(&leaves, index)?;
        Some(Self { seq, record: records.get(index)?.clone(), siblings, batch })
    }

    /// Whether the receipt proves its record at its position under this head.
    #[must_use]
    pub fn proves_under(&self, head: &Hash) -> bool {
        let Some(index) = self.seq.0.checked_sub(self.batch.first.0) else { return false };
        let count = u64::from(self.batch.count);
        let root = merkle::climb(merkle::leaf(&self.record), index, count, &self.siblings);
        root == Some(self.batch.root) && self.batch.head() == *head
    }
}
