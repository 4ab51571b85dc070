//! Merkle trees: the shape by hand, every proof of every small size, and proofs that prove nothing.

use sha2::{Digest, Sha256};

use crate::merkle::{Hash, leaf, path, root};

/// The same with places as slices have them.
fn climb(leaf: Hash, index: usize, count: usize, siblings: &[Hash]) -> Option<Hash> {
    crate::merkle::climb(leaf, index as u64, count as u64, siblings)
}

/// Leaf number `index`.
fn at(index: usize) -> Hash {
    leaf(format!("record {index}").as_bytes())
}

fn leaves(count: usize) -> Vec<Hash> {
    (0..count).map(at).collect()
}

/// A node as RFC 6962 has it: SHA-256 over 0x01 and both children.
fn node(left: Hash, right: Hash) -> Hash {
    Sha256::digest([&[1][..], &left, &right].concat()).into()
}

#[test]
fn leaves_and_nodes_are_hashed_under_different_prefixes() {
    let expected: Hash = Sha256::digest(b"\0record 0").into();
    assert_eq!(at(0), expected);
    // A record that looks like a node is still a leaf.
    let forged = [&[1][..], &at(0), &at(1)].concat();
    assert_ne!(leaf(&forged[1..]), root(&leaves(2)));
    assert_ne!(leaf(&forged), root(&leaves(2)));
}

#[test]
fn the_root_of_nothing_is_the_hash_of_nothing() {
    let hex: String = root(&[]).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(path(&[], 0), None);
}

#[test]
fn the_shape_for_one_to_nine_leaves() {
    let two = |first| node(at(first), at(first + 1));
    let four = |first| node(two(first), two(first + 2));
    let eight = node(four(0), four(4));
    assert_eq!(root(&leaves(1)), at(0));
    assert_eq!(root(&leaves(2)), two(0));
    assert_eq!(root(&leaves(3)), node(two(0), at(2)));
    assert_eq!(root(&leaves(4)), four(0));
    assert_eq!(root(&leaves(5)), node(four(0), at(4)));
    assert_eq!(root(&leaves(6)), node(four(0), two(4)));
    assert_eq!(root(&leaves(7)), node(four(0), node(two(4), at(6))));
    assert_eq!(root(&leaves(8)), eight);
    assert_eq!(root(&leaves(9)), node(eight, at(8)));
}

/// The tree as the RFC defines it: split at the largest power of two below the size.
fn by_the_rfc(leaves: &[Hash]) -> Hash {
    match leaves {
        [only] => *only,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node(by_the_rfc(left), by_the_rfc(right))
        }
    }
}

#[test]
fn every_leaf_of_every_small_tree_has_a_proof() {
    for count in 1..=33 {
        let leaves = leaves(count);
        let root = root(&leaves);
        assert_eq!(root, by_the_rfc(&leaves), "{count} leaves");
        for index in 0..count {
            let siblings = path(&leaves, index).unwrap();
            assert_eq!(climb(at(index), index, count, &siblings), Some(root), "leaf {index} of {count}");
        }
        assert_eq!(path(&leaves, count), None);
    }
}

#[test]
fn the_proof_of_the_last_of_five_is_one_hash() {
    let leaves = leaves(5);
    assert_eq!(path(&leaves, 4), Some(vec![root(&leaves[..4])]));
    assert_eq!(path(&leaves, 0), Some(vec![at(1), node(at(2), at(3)), at(4)]));
}

#[test]
fn a_proof_for_another_index_another_leaf_or_another_count_proves_nothing() {
    for count in 1..=17 {
        let leaves = leaves(count);
        let root = root(&leaves);
        for index in 0..count {
            let siblings = path(&leaves, index).unwrap();
            for other in (0..=count + 1).filter(|other| *other != index) {
                assert_ne!(climb(at(index), other, count, &siblings), Some(root), "{index} as {other} of {count}");
                assert_ne!(climb(at(other), index, count, &siblings), Some(root), "{other} for {index} of {count}");
            }
            assert_eq!(climb(at(index), index, index, &siblings), None, "there is no leaf {index} of {index}");
        }
    }
}

#[test]
fn a_changed_missing_or_additional_sibling_proves_nothing() {
    for count in 1..=17 {
        let leaves = leaves(count);
        let root = root(&leaves);
        for index in 0..count {
            let siblings = path(&leaves, index).unwrap();
            let climb = |siblings: &[Hash]| climb(at(index), index, count, siblings);
            for place in 0..siblings.len() {
                let mut changed = siblings.clone();
                changed[place][31] ^= 1;
                assert_ne!(climb(&changed), Some(root));
                let mut shorter = siblings.clone();
                shorter.remove(place);
                assert_eq!(climb(&shorter), None);
            }
            assert_eq!(climb(&[&siblings[..], &[at(0)]].concat()), None);
        }
    }
}
