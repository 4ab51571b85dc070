//! Reorganisations: the newest blocks are replaced; their transactions have one of four fates.
//!
//! Guarantees: the blocks below stay; replaced blocks stay available by hash and can be adopted again with the same
//! hashes. Does not know finality: a reorganisation may go below `finalized`, as real ones have.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256};

use crate::{
    block::{BlockExtras, SimulatedBlock},
    chain::SimulatedChain,
    transaction::SimulatedTransaction,
};

/// The fate of the transactions of replaced blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// Included at the same heights and in the same order, in other blocks.
    Kept,
    /// Dropped, also from the mempool, until they are sent again.
    Dropped,
    /// Returned to the mempool.
    Returned,
    /// Included in the new blocks, in another order and at other heights.
    Reordered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorg {
    /// The number of replaced blocks, from the head; the genesis is never replaced.
    pub depth: u64,
    /// The number of new blocks.
    pub length: u64,
    pub fate: Fate,
}

/// There is no such block, or it does not lead back to the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no block {0} is known that leads back to the chain")]
pub struct UnknownBranch(pub B256);

impl SimulatedChain {
    /// Replaces the newest blocks. Returns the height of the last block that stayed.
    pub fn reorg(&mut self, reorg: Reorg) -> u64 {
        let fork = self.head().number().saturating_sub(reorg.depth);
        let removed = self.unwind(fork);
        let lists: Vec<Vec<SimulatedTransaction>> = match reorg.fate {
            Fate::Kept => removed.iter().map(|block| block.bare_transactions().collect()).collect(),
            Fate::Dropped => Vec::new(),
            Fate::Returned => {
                removed.iter().flat_map(|block| block.bare_transactions()).for_each(|old| self.pool.put_back(old));
                Vec::new()
            }
            Fate::Reordered => {
                let all = removed.iter().flat_map(|block| block.bare_transactions()).collect();
                self.reorder(all, reorg.length)
            }
        };
        let mut extras = self.extras_after(&removed, reorg.fate).into_iter();
        let mut lists = lists.into_iter();
        let mut times = removed.iter().map(|block| block.time());
        let mut left = Vec::new();
        for _ in 0..reorg.length {
            let time = times.next().unwrap_or_else(|| self.next_time());
            let mut template = self.template(time);
            template.extras.append(extras.next().unwrap_or_default());
            // Transactions that did not fit are tried in the next block.
            let candidates = left.into_iter().chain(lists.next().unwrap_or_default()).collect();
            left = self.append(candidates, template);
        }
        extras.for_each(|extras| self.next_extras.append(extras));
        left.extend(lists.flatten());
        left.into_iter().for_each(|old| self.pool.put_back(old));
        self.pool.drop_used(&self.state);
        fork
    }

    /// What the new blocks do besides their transactions: withdrawals and mints share the fate of transactions. Where
    /// those go elsewhere, these come in the next block.
    fn extras_after(&mut self, removed: &[SimulatedBlock], fate: Fate) -> Vec<BlockExtras> {
        let extras = removed.iter().map(|block| block.extras.clone());
        match fate {
            Fate::Kept => extras.collect(),
            Fate::Dropped => Vec::new(),
            Fate::Returned | Fate::Reordered => {
                extras.for_each(|extras| self.next_extras.append(extras));
                Vec::new()
            }
        }
    }

    /// Switches back to an orphaned branch, with the same hashes.
    pub fn adopt(&mut self, hash: B256) -> Result<u64, UnknownBranch> {
        let mut branch = Vec::new();
        let mut at = hash;
        while self.block_with(at).is_none() {
            let block = self.orphan(at).ok_or(UnknownBranch(hash))?.clone();
            at = block.parent();
            branch.push(block);
        }
        let fork = self.block_with(at).map(|block| block.number()).ok_or(UnknownBranch(hash))?;
        let removed = self.unwind(fork);
        for block in branch.into_iter().rev() {
            let left = self.append(block.bare_transactions().collect(), block.template());
            assert!(
                left.is_empty() && self.head().hash == block.hash,
                "bug: a block came out differently the second time"
            );
        }
        removed.iter().flat_map(|block| block.bare_transactions()).for_each(|old| self.pool.put_back(old));
        self.pool.drop_used(&self.state);
        Ok(fork)
    }

    /// Reorders transactions over the given number of blocks, keeping each sender's order.
    fn reorder(&mut self, mut all: Vec<SimulatedTransaction>, blocks: u64) -> Vec<Vec<SimulatedTransaction>> {
        let mut by_sender = BTreeMap::<Address, Vec<SimulatedTransaction>>::new();
        let mut senders: Vec<Address> = all.iter().map(|transaction| transaction.sender).collect();
        all.reverse();
        for transaction in all {
            by_sender.entry(transaction.sender).or_default().push(transaction);
        }
        self.dice.shuffle(&mut senders);
        let count = usize::try_from(blocks).unwrap_or(usize::MAX).clamp(1, 1_000_000);
        let mut lists = vec![Vec::new(); count];
        let mut block = 0;
        let per_block = senders.len().div_ceil(count);
        for sender in senders {
            // Never back to an earlier block: a sender's later transaction cannot come before an earlier one.
            while lists.get(block).is_some_and(|list: &Vec<_>| list.len() >= per_block) {
                block = block.saturating_add(1);
            }
            let next = by_sender.get_mut(&sender).and_then(Vec::pop);
            if let Some(list) = lists.get_mut(block) {
                list.extend(next);
            }
        }
        lists
    }
}
