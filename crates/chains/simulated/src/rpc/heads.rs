//! New heads, for who follows a node instead of asking it again and again.

use alloy_primitives::B256;
use serde_json::Value;

use super::show;
use crate::chain::SimulatedChain;

/// The most heads that one call returns: the newest ones.
const HEADS_MAX: u64 = 128;

impl SimulatedChain {
    /// The head that a node shows; `None` if it is down.
    pub fn shown_head(&self, node: usize) -> Option<B256> {
        let seen = self.seen_by(node);
        let number = seen.head().number().saturating_sub(self.nodes.lag(node));
        seen.block(number).map(|block| block.hash).filter(|_| !self.nodes.is_down(node))
    }

    /// The headers that a node shows now and did not show when this block was its head, oldest first, with the hash of
    /// the newest one. After a reorganisation these are the blocks of the new branch. Planned faults do not affect it.
    pub fn new_heads(&self, node: usize, after: B256) -> Vec<Value> {
        let seen = self.seen_by(node);
        let Some(head) = self.shown_head(node).and_then(|hash| seen.block_with(hash)) else { return Vec::new() };
        let mut at = after;
        // A head that this chain never had is answered by the newest head alone.
        let common = loop {
            if let Some(block) = seen.block_with(at) {
                break block.number();
            }
            match seen.orphan(at).or_else(|| self.orphan(at)).or_else(|| self.block_with(at)) {
                Some(orphan) => at = orphan.parent(),
                None => break head.number().saturating_sub(1),
            }
        };
        let first = common.saturating_add(1).max(head.number().saturating_add(1).saturating_sub(HEADS_MAX));
        (first..=head.number()).filter_map(|number| seen.block(number)).map(show::header).collect()
    }
}
