//! Merkle trees (RFC 6962 shape: leaves and nodes are hashed under different prefixes, an unpaired last node moves up
//! unchanged): over the records of a batch, and over the heads of all batches.
//!
//! The tree over heads only ever grows ([`GrowingTree`]), and proofs about it read a few of its subtrees ([`proofs`]).

mod growing;
pub mod proofs;

use sha2::{Digest, Sha256};

pub use growing::{GrowingTree, Subtree};

pub type Hash = [u8; 32];

#[must_use]
pub fn leaf(record: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(record).finalize().into()
}

/// The root over the leaves; without leaves, the hash of the empty string.
#[must_use]
pub fn root(leaves: &[Hash]) -> Hash {
    let mut level = leaves.to_vec();
    while level.len() > 1 {
        level = parents(&level);
    }
    level.first().copied().unwrap_or_else(|| Sha256::digest([]).into())
}

/// The siblings on the path from a leaf to the root, lowest first. `None` if there is no such leaf.
#[must_use]
pub fn path(leaves: &[Hash], index: usize) -> Option<Vec<Hash>> {
    leaves.get(index)?;
    let (mut level, mut at, mut siblings) = (leaves.to_vec(), index, Vec::new());
    while level.len() > 1 {
        siblings.extend(level.get(at ^ 1));
        level = parents(&level);
        at /= 2;
    }
    Some(siblings)
}

/// The root that follows from a leaf at `index` of `count` and these siblings; `None` if their number is wrong.
#[must_use]
pub fn climb(leaf: Hash, index: u64, count: u64, siblings: &[Hash]) -> Option<Hash> {
    if index >= count {
        return None;
    }
    let (mut hash, mut at, mut width, mut siblings) = (leaf, index, count, siblings.iter());
    while width > 1 {
        if (at ^ 1) < width {
            let sibling = siblings.next()?;
            hash = if at.is_multiple_of(2) { node(&hash, sibling) } else { node(sibling, &hash) };
        }
        (at, width) = (at / 2, width.div_ceil(2));
    }
    siblings.next().is_none().then_some(hash)
}

fn parents(level: &[Hash]) -> Vec<Hash> {
    let (pairs, lone) = level.as_chunks::<2>();
    pairs.iter().map(|[left, right]| node(left, right)).chain(lone.first().copied()).collect()
}

fn node(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}
