//! Branches: a node that does not follow the common chain, but one of its own.
//!
//! A branch is a whole chain, so every command works on it. It starts as a copy, which costs as much memory as the
//! chain has; tests have short ones.
//!
//! Guarantees: the common chain never changes by what happens on a branch, except that [`SimulatedChain::rejoin`]
//! leaves the branch's blocks available by hash, so that the chain can adopt them. Blocks of different branches have
//! different hashes.

use alloy_primitives::B256;

use crate::{
    chain::SimulatedChain,
    dice::derived,
    pool::PoolRefusal,
    reorg::{Fate, Reorg},
    transaction::SimulatedTransaction,
};

impl SimulatedChain {
    /// Puts a node on a branch of its own: without the newest blocks, and with as many empty ones as `reorg` says
    /// instead. From then on it makes blocks only by [`Self::branch`]. A branch that it had is left before.
    pub fn split_off(&mut self, node: usize, reorg: Reorg) {
        self.rejoin(node);
        // A branch has no nodes and no branches: this chain answers for them.
        let (nodes, branches) = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.branches));
        let mut branch = self.clone();
        (self.nodes, self.branches) = (nodes, branches);
        self.branched = self.branched.saturating_add(1);
        branch.made = number_of(derived(self.config.seed, b"branch", self.branched));
        branch.reorg(reorg);
        self.branches.insert(node, branch);
    }

    /// As [`Self::split_off`], without new blocks; the transactions of the blocks that are gone wait again, except
    /// these.
    pub fn split_off_without(&mut self, node: usize, depth: u64, dropped: &[B256]) {
        self.split_off(node, Reorg { depth, length: 0, fate: Fate::Returned });
        if let Some(branch) = self.branches.get_mut(&node) {
            dropped.iter().for_each(|hash| branch.pool.forget(*hash));
        }
    }

    /// The chain of a node that has its own.
    pub fn branch(&mut self, node: usize) -> Option<&mut Self> {
        self.branches.get_mut(&node)
    }

    /// Brings a node back to the common chain. The blocks of its branch stay available by hash, as orphans, and
    /// [`Self::adopt`] makes the branch the common chain.
    pub fn rejoin(&mut self, node: usize) {
        let Some(branch) = self.branches.remove(&node) else { return };
        let own: Vec<_> = branch.blocks.into_iter().filter(|block| self.block_with(block.hash).is_none()).collect();
        own.into_iter().for_each(|block| self.keep_orphan(block));
    }

    /// The chain as this node has it.
    pub(crate) fn seen_by(&self, node: usize) -> &Self {
        self.branches.get(&node).unwrap_or(self)
    }

    /// Offers a transaction to the mempool of a node; those of other nodes get it from there, if they can use it.
    pub(crate) fn send_to(&mut self, node: usize, raw: &[u8]) -> Result<B256, PoolRefusal> {
        let Some(branch) = self.branches.get_mut(&node) else {
            let sent = self.send(raw)?;
            self.branches.values_mut().for_each(|branch| drop(branch.send(raw)));
            return Ok(sent);
        };
        let sent = branch.send(raw)?;
        let _ = self.send(raw);
        let others = self.branches.iter_mut().filter(|(other, _)| **other != node);
        others.for_each(|(_, branch)| drop(branch.send(raw)));
        Ok(sent)
    }

    /// Removes a transaction from every mempool.
    pub(crate) fn forget_everywhere(&mut self, transaction: &SimulatedTransaction) {
        self.pool.forget(transaction.hash);
        self.branches.values_mut().for_each(|branch| branch.pool.forget(transaction.hash));
    }
}

fn number_of(hash: B256) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    // Far from the numbers that the common chain counts in, and far from the last one.
    u64::from_be_bytes(first) >> 1
}
