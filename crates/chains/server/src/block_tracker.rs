//! Which blocks changed since the last look, whatever changed them: mining, a reorganisation, a command.

use bankroll_chains_simulated::{B256, SimulatedBlock, SimulatedChain};

/// The hashes of the chain as it was at the last look.
#[derive(Clone, Debug)]
pub struct BlockTracker {
    hashes: Vec<B256>,
}

/// The newest blocks were replaced, or blocks were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockChange {
    /// The last block that stayed. All above it are new.
    pub after: u64,
    /// How many blocks above it are gone.
    pub removed: u64,
}

impl BlockTracker {
    /// The chain as it is now.
    pub fn new(chain: &SimulatedChain) -> Self {
        let blocks = (0..=chain.head().number()).filter_map(|number| chain.block(number));
        Self { hashes: blocks.map(|block| block.hash).collect() }
    }

    /// What changed since the last look; `None` if nothing did. Costs as much as blocks have changed.
    pub fn look(&mut self, chain: &SimulatedChain) -> Option<BlockChange> {
        if self.hashes.last() == Some(&chain.head().hash) {
            return None;
        }
        let known = self.hashes.len();
        while let (Some(hash), Some(height)) = (self.hashes.last(), self.hashes.len().checked_sub(1)) {
            if chain.block(height as u64).is_some_and(|block| block.hash == *hash) {
                break;
            }
            self.hashes.pop();
        }
        let (after, removed) = ((self.hashes.len() as u64).saturating_sub(1), (known - self.hashes.len()) as u64);
        let change = BlockChange { after, removed };
        self.hashes.extend(change.blocks(chain).map(|block| block.hash));
        Some(change)
    }
}

impl BlockChange {
    /// The new blocks.
    pub fn blocks(self, chain: &SimulatedChain) -> impl Iterator<Item = &SimulatedBlock> {
        (self.after.saturating_add(1)..=chain.head().number()).filter_map(|number| chain.block(number))
    }
}

#[cfg(test)]
mod tests {
    use bankroll_chains_simulated::{Fate, Reorg, SimulatedConfig};

    use super::*;

    #[test]
    fn every_change_of_the_blocks_is_seen_once() {
        let mut chain = SimulatedChain::new(SimulatedConfig::new(1));
        let mut tracker = BlockTracker::new(&chain);
        assert_eq!(tracker.look(&chain), None);
        let mut check = |chain: &SimulatedChain, after: u64, removed: u64, new: &[u64]| {
            let change = tracker.look(chain).expect("a change");
            assert_eq!(change, BlockChange { after, removed });
            assert_eq!(change.blocks(chain).map(SimulatedBlock::number).collect::<Vec<_>>(), new);
            assert_eq!(tracker.look(chain), None);
        };
        for time in 1..=3 {
            chain.mine(time);
        }
        check(&chain, 0, 0, &[1, 2, 3]);
        let left = chain.head().hash;
        chain.reorg(Reorg { depth: 2, length: 3, fate: Fate::Dropped });
        check(&chain, 1, 2, &[2, 3, 4]);
        chain.adopt(left).expect("a known branch");
        check(&chain, 1, 3, &[2, 3]);
        chain.reorg(Reorg { depth: 1, length: 0, fate: Fate::Dropped });
        check(&chain, 2, 1, &[]);
    }
}
