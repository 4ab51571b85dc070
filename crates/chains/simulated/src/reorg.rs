//! Reorganisations: the newest blocks are replaced, and their transactions meet one of four fates.
//!
//! Guarantees: the blocks below stay; those that were replaced can be asked for by hash, and be adopted again, whereupon
//! they have the hashes they had. Does not know finality: a reorganisation may go below every mark, as real ones have.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256};

use crate::{
    chain::{BlockTemplate, SimulatedChain},
    transaction::SimulatedTransaction,
};

/// What becomes of the transactions of blocks that are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// They stand at the same heights, in the same order, in other blocks.
    Kept,
    /// They are gone, from the mempool too: nobody will include them unless they are sent again.
    Dropped,
    /// They wait in the mempool again.
    Returned,
    /// They stand in the new blocks, in another order and at other heights.
    Reordered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorg {
    /// How many blocks are replaced, counted from the head; the first block never is.
    pub depth: u64,
    /// How many blocks come in their place.
    pub length: u64,
    /// What becomes of their transactions.
    pub fate: Fate,
}

/// There is no such block, or it hangs on nothing that is on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no block {0} is known that leads back to the chain")]
pub struct UnknownBranch(pub B256);

impl SimulatedChain {
    /// Replaces the newest blocks. Gives the height of the last block that stayed.
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
        let mut lists = lists.into_iter();
        let mut times = removed.iter().map(|block| block.time());
        let mut left = Vec::new();
        for _ in 0..reorg.length {
            let time = times.next().unwrap_or_else(|| self.next_time());
            let template = self.template(time);
            // What did not fit into one block is tried in the next, as a mempool would.
            let candidates = left.into_iter().chain(lists.next().unwrap_or_default()).collect();
            left = self.append(candidates, template);
        }
        left.extend(lists.flatten());
        left.into_iter().for_each(|old| self.pool.put_back(old));
        self.pool.drop_used(&self.state);
        fork
    }

    /// Goes over to a branch that was left before, down to the same hashes.
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
            let (time, base_fee, salt) = (block.time(), block.base_fee(), block.header.mix_hash);
            let left = self.append(block.bare_transactions().collect(), BlockTemplate { time, base_fee, salt });
            assert!(
                left.is_empty() && self.head().hash == block.hash,
                "bug: a block came out differently the second time"
            );
        }
        removed.iter().flat_map(|block| block.bare_transactions()).for_each(|old| self.pool.put_back(old));
        self.pool.drop_used(&self.state);
        Ok(fork)
    }

    /// Another order, in which each sender's transactions still follow each other, spread over so many blocks.
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
            // Never back to an earlier block: a sender's later transaction cannot stand before his earlier one.
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
