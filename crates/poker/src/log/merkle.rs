//! Merkle trees over event ids, after RFC 6962: the root of a log, that an event is in it, and that one log continues
//! another.
//!
//! Leaves and nodes are hashed under different prefixes; a tree of several leaves is split at the largest power of two
//! below their number. Proofs are lists of hashes, and a list that is too long or too short proves nothing.

use sha2::{Digest, Sha256};

use super::{LogHash, hex::Hex};

fn leaf(event: &LogHash) -> LogHash {
    Hex(Sha256::new().chain_update([0]).chain_update(event.0).finalize().into())
}

fn node(left: &LogHash, right: &LogHash) -> LogHash {
    Hex(Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0).finalize().into())
}

/// The two subtrees of a tree; none if it has fewer than two leaves.
fn split(events: &[LogHash]) -> Option<(&[LogHash], &[LogHash])> {
    let below = events.len().checked_sub(1).filter(|below| *below > 0)?;
    events.split_at_checked(1_usize.checked_shl(below.ilog2())?)
}

/// The root over these events; of none, the hash of nothing.
#[must_use]
pub fn root(events: &[LogHash]) -> LogHash {
    match (split(events), events) {
        (Some((left, right)), _) => node(&root(left), &root(right)),
        (None, [event, ..]) => leaf(event),
        (None, []) => Hex(Sha256::digest([]).into()),
    }
}

/// The proof that the event at `index` is in the tree, lowest sibling first; none if there is no such event.
#[must_use]
pub fn inclusion(events: &[LogHash], index: usize) -> Option<Vec<LogHash>> {
    events.get(index)?;
    let Some((left, right)) = split(events) else { return Some(Vec::new()) };
    let (mut proof, sibling) = match index.checked_sub(left.len()) {
        None => (inclusion(left, index)?, root(right)),
        Some(index) => (inclusion(right, index)?, root(left)),
    };
    proof.push(sibling);
    Some(proof)
}

/// Whether the proof shows that this event is at `index` of the `size` events with this root.
#[must_use]
pub fn includes(root: &LogHash, size: u64, index: u64, event: &LogHash, proof: &[LogHash]) -> bool {
    let Some(mut last) = size.checked_sub(1).filter(|last| index <= *last) else { return false };
    let (mut at, mut hash) = (index, leaf(event));
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            hash = node(sibling, &hash);
            // A lone node goes up until it has a sibling on its left.
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            hash = node(&hash, sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && hash == *root
}

/// The proof that the tree of the first `size` events is the beginning of the tree of all; none if there are not that
/// many, or none at all.
#[must_use]
pub fn consistency(events: &[LogHash], size: usize) -> Option<Vec<LogHash>> {
    ((1..=events.len()).contains(&size)).then(|| part(events, size, true))
}

/// `known`: the verifier has the old root, so the proof can leave it out.
fn part(events: &[LogHash], size: usize, known: bool) -> Vec<LogHash> {
    let Some((left, right)) = split(events).filter(|_| size < events.len()) else {
        return if known { Vec::new() } else { vec![root(events)] };
    };
    let (mut proof, sibling) = match size.checked_sub(left.len()).filter(|beyond| *beyond > 0) {
        None => (part(left, size, known), root(right)),
        Some(beyond) => (part(right, beyond, false), root(left)),
    };
    proof.push(sibling);
    proof
}

/// Whether the proof shows that `size` events with the root `old` are the first of `total` events with the root `new`.
#[must_use]
pub fn continues(old: &LogHash, size: u64, new: &LogHash, total: u64, proof: &[LogHash]) -> bool {
    if size == 0 || size > total {
        return false;
    }
    if size == total {
        return proof.is_empty() && old == new;
    }
    let (mut at, mut last) = (size.saturating_sub(1), total.saturating_sub(1));
    while at & 1 == 1 {
        (at, last) = (at >> 1, last >> 1);
    }
    // A complete old tree is a node of the new one, and the proof leaves its root out.
    let mut proof = proof.iter();
    let first = if size.is_power_of_two() { Some(old) } else { proof.next() };
    let Some(first) = first else { return false };
    let (mut one, mut two) = (*first, *first);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            (one, two) = (node(sibling, &one), node(sibling, &two));
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            two = node(&two, sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && one == *old && two == *new
}
