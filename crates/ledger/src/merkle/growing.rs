//! A tree that grows by one leaf at a time, of which only the roots of its perfect subtrees are kept.

use super::{Hash, node, root};

/// The leaves from `index * 2^level` on, `2^level` of them. Once it is full it never changes, however the tree grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subtree {
    pub level: u32,
    pub index: u64,
}

/// A tree of `size` leaves as the roots of the perfect subtrees that it consists of, largest first: one for each bit of
/// `size` that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrowingTree {
    size: u64,
    peaks: Vec<Hash>,
}

impl GrowingTree {
    /// The perfect subtrees that a tree of this size consists of, largest first.
    #[must_use]
    pub fn peaks_of(size: u64) -> Vec<Subtree> {
        let levels = (0..u64::BITS).rev().filter(|level| bit(size, *level));
        // Before the subtree of a level are all larger ones: the higher bits of the size.
        levels.map(|level| Subtree { level, index: shifted(size, level) & !1 }).collect()
    }

    /// The tree from the roots of [`GrowingTree::peaks_of`]; `None` if their number is another.
    #[must_use]
    pub fn from_peaks(size: u64, peaks: Vec<Hash>) -> Option<Self> {
        (peaks.len() == size.count_ones() as usize).then_some(Self { size, peaks })
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf, and reports each subtree above it that is full now.
    pub fn push(&mut self, leaf: Hash, mut completed: impl FnMut(Subtree, Hash)) {
        let (mut hash, mut level) = (leaf, 0);
        while bit(self.size, level) {
            let Some(left) = self.peaks.pop() else { break };
            hash = node(&left, &hash);
            level = level.saturating_add(1);
            completed(Subtree { level, index: shifted(self.size, level) }, hash);
        }
        self.peaks.push(hash);
        self.size = self.size.saturating_add(1);
    }

    #[must_use]
    pub fn root(&self) -> Hash {
        let joined = self.peaks.iter().rev().copied().reduce(|right, left| node(&left, &right));
        joined.unwrap_or_else(|| root(&[]))
    }
}

fn bit(size: u64, level: u32) -> bool {
    shifted(size, level) & 1 == 1
}

fn shifted(size: u64, level: u32) -> u64 {
    size.checked_shr(level).unwrap_or(0)
}
