//! Proofs about trees that are too large to be read: each asks for a few perfect subtrees, and checking needs none.
//!
//! The algorithms are those of RFC 9162, section 2.1: a proof is at most two hashes for each level of the tree.

use std::ops::Range;

use super::{Hash, Subtree, node};

/// The siblings on the path from a leaf to the root of the first `size` leaves, lowest first, as [`super::climb`] takes
/// them. `None` if there is no such leaf.
///
/// # Errors
/// If a subtree cannot be read.
pub fn inclusion<E>(
    index: u64,
    size: u64,
    mut subtree: impl FnMut(Subtree) -> Result<Hash, E>,
) -> Result<Option<Vec<Hash>>, E> {
    if index >= size {
        return Ok(None);
    }
    let (mut range, mut siblings) = (0..size, Vec::new());
    while let Some(middle) = split(&range) {
        let (own, other) = if index < middle {
            (range.start..middle, middle..range.end)
        } else {
            (middle..range.end, range.start..middle)
        };
        siblings.push(range_root(&other, &mut subtree)?);
        range = own;
    }
    siblings.reverse();
    Ok(Some(siblings))
}

/// Proof that the tree of the first `from` leaves is the beginning of that of the first `to`. `None` unless
/// `1 <= from <= to`.
///
/// # Errors
/// If a subtree cannot be read.
pub fn consistency<E>(
    from: u64,
    to: u64,
    mut subtree: impl FnMut(Subtree) -> Result<Hash, E>,
) -> Result<Option<Vec<Hash>>, E> {
    if from == 0 || from > to {
        return Ok(None);
    }
    let (mut range, mut hashes) = (0..to, Vec::new());
    while range.end != from {
        let Some(middle) = split(&range) else { break };
        let (own, other) = if from <= middle {
            (range.start..middle, middle..range.end)
        } else {
            (middle..range.end, range.start..middle)
        };
        hashes.push(range_root(&other, &mut subtree)?);
        range = own;
    }
    // The reader has the root of the first tree already.
    if range.start != 0 {
        hashes.push(range_root(&range, &mut subtree)?);
    }
    hashes.reverse();
    Ok(Some(hashes))
}

/// Whether a proof of [`consistency`] connects the two roots.
#[must_use]
pub fn is_consistent(from: u64, from_root: &Hash, to: u64, to_root: &Hash, proof: &[Hash]) -> bool {
    if from == to {
        return from > 0 && proof.is_empty() && from_root == to_root;
    }
    let (Some(mut first), Some(mut second)) = (from.checked_sub(1), to.checked_sub(1)) else { return false };
    let mut rest = proof.iter();
    let start = if from.is_power_of_two() { Some(from_root) } else { rest.next() };
    let (Some(start), true) = (start, from < to) else { return false };
    while first & 1 == 1 {
        (first, second) = (first / 2, second / 2);
    }
    let (mut old, mut new) = (*start, *start);
    for hash in rest {
        if second == 0 {
            return false;
        }
        if first & 1 == 1 || first == second {
            (old, new) = (node(hash, &old), node(hash, &new));
            while first & 1 == 0 && first != 0 {
                (first, second) = (first / 2, second / 2);
            }
        } else {
            new = node(&new, hash);
        }
        (first, second) = (first / 2, second / 2);
    }
    second == 0 && old == *from_root && new == *to_root
}

/// The root over a range of leaves that the tree of its end has as a subtree.
fn range_root<E>(range: &Range<u64>, subtree: &mut impl FnMut(Subtree) -> Result<Hash, E>) -> Result<Hash, E> {
    let width = range.end.saturating_sub(range.start);
    if let Some(middle) = split(range).filter(|_| !width.is_power_of_two()) {
        let left = range_root(&(range.start..middle), subtree)?;
        Ok(node(&left, &range_root(&(middle..range.end), subtree)?))
    } else {
        let level = width.trailing_zeros();
        subtree(Subtree { level, index: range.start.checked_shr(level).unwrap_or(0) })
    }
}

/// Where a range of more than one leaf is divided: behind the largest power of two below its width.
fn split(range: &Range<u64>) -> Option<u64> {
    let width = range.end.checked_sub(range.start).filter(|width| *width > 1)?;
    let left = 1_u64.checked_shl(width.saturating_sub(1).ilog2())?;
    range.start.checked_add(left)
}
