//! Blocks as values that can be stored, and the same chain made of them again.
//!
//! Guarantees: a stored block comes out with the hash that it had, or it is refused. The mempool, planned faults and
//! lags are not part of it.

use alloy_eips::eip4895::Withdrawal;
use alloy_primitives::{Address, B256, Bytes, U256};
use serde::{Deserialize, Serialize};

use crate::{
    block::{BlockExtras, SimulatedBlock},
    chain::{BlockTemplate, PRODUCER, SimulatedChain},
    pool::PoolRefusal,
    transaction::SimulatedTransaction,
};

/// Everything that a block is made of, and the hash that must come out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredBlock {
    pub number: u64,
    pub hash: B256,
    /// In seconds since 1970.
    pub time: u64,
    pub base_fee: u64,
    pub salt: B256,
    /// As `eth_sendRawTransaction` takes them, in order.
    pub transactions: Vec<Bytes>,
    /// Who got the tips, if it was not the usual producer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<Address>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawals: Vec<Withdrawal>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub minted: Vec<(Address, U256)>,
}

/// Why stored blocks are not a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant is documented by its own words")]
pub enum ReplayError {
    #[error("there is no block {0} to continue")]
    NoParent(u64),
    #[error("block {found} cannot follow block {after}")]
    Gap { after: u64, found: u64 },
    #[error("a transaction of block {number} cannot be read: {why}")]
    Unreadable { number: u64, why: PoolRefusal },
    #[error("a transaction of block {0} cannot be executed")]
    NotExecutable(u64),
    #[error("block {number} has the hash {computed}, and is stored as {stored}")]
    OtherHash { number: u64, stored: B256, computed: B256 },
}

impl SimulatedBlock {
    pub fn stored(&self) -> StoredBlock {
        StoredBlock {
            number: self.number(),
            hash: self.hash,
            time: self.time(),
            base_fee: self.base_fee(),
            salt: self.header.mix_hash,
            transactions: self.transactions.iter().map(|included| included.transaction.raw()).collect(),
            producer: Some(self.producer()).filter(|producer| *producer != PRODUCER),
            withdrawals: self.extras.withdrawals.clone(),
            minted: self.extras.minted.clone(),
        }
    }

    /// What an equal block is made of, besides its transactions.
    pub(crate) fn template(&self) -> BlockTemplate {
        BlockTemplate {
            time: self.time(),
            base_fee: self.base_fee(),
            salt: self.header.mix_hash,
            producer: self.producer(),
            extras: self.extras.clone(),
        }
    }
}

impl SimulatedChain {
    /// Continues the chain after a block with stored ones. Blocks that they replace stay available by hash.
    ///
    /// # Errors
    /// If a block does not come out as it was stored. The chain has changed then, and must not be used.
    pub fn replay(&mut self, after: u64, blocks: &[StoredBlock]) -> Result<(), ReplayError> {
        if after > self.head().number() {
            return Err(ReplayError::NoParent(after));
        }
        self.unwind(after);
        blocks.iter().try_for_each(|block| self.replay_block(block))
    }

    fn replay_block(&mut self, stored: &StoredBlock) -> Result<(), ReplayError> {
        let (after, number) = (self.head().number(), stored.number);
        if after.checked_add(1) != Some(number) {
            return Err(ReplayError::Gap { after, found: number });
        }
        let read = |raw: &Bytes| SimulatedTransaction::decode(raw);
        let transactions: Result<Vec<_>, _> = stored.transactions.iter().map(read).collect();
        let transactions = transactions.map_err(|why| ReplayError::Unreadable { number, why })?;
        let StoredBlock { time, base_fee, salt, .. } = *stored;
        let extras = BlockExtras { withdrawals: stored.withdrawals.clone(), minted: stored.minted.clone() };
        let producer = stored.producer.unwrap_or(PRODUCER);
        self.count_block();
        self.count_withdrawals(&extras);
        if !self.append(transactions, BlockTemplate { time, base_fee, salt, producer, extras }).is_empty() {
            return Err(ReplayError::NotExecutable(number));
        }
        let computed = self.head().hash;
        if computed != stored.hash {
            return Err(ReplayError::OtherHash { number, stored: stored.hash, computed });
        }
        Ok(())
    }
}
