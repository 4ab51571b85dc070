//! Trees that grow: against a model that has all leaves, every pair of small sizes, and random pairs of larger ones.

use std::convert::Infallible;

use crate::merkle::{
    GrowingTree, Hash, Subtree, climb, leaf,
    proofs::{consistency, inclusion, is_consistent},
    root,
};

/// Every pair of sizes up to this one is tried.
const SMALL: usize = 40;

fn leaves(count: usize) -> Vec<Hash> {
    (0..count).map(|index| leaf(format!("head {index}").as_bytes())).collect()
}

/// A subtree as the model has it: the root over a part of all leaves.
fn of_model(leaves: &[Hash]) -> impl Fn(Subtree) -> Result<Hash, Infallible> {
    move |Subtree { level, index }| {
        let (width, index) = (1_usize << level, index as usize);
        Ok(root(&leaves[index * width..(index + 1) * width]))
    }
}

fn proof_between(leaves: &[Hash], from: usize, to: usize) -> Vec<Hash> {
    consistency(from as u64, to as u64, of_model(&leaves[..to])).unwrap().unwrap()
}

fn connects(leaves: &[Hash], from: usize, to: usize, proof: &[Hash]) -> bool {
    is_consistent(from as u64, &root(&leaves[..from]), to as u64, &root(&leaves[..to]), proof)
}

/// Splitmix64: the same cases on every machine.
struct Cases(u64);

impl Cases {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// As RFC 9162 defines them, by recursion over slices.
fn consistency_by_the_rfc(from: usize, leaves: &[Hash], is_whole: bool) -> Vec<Hash> {
    if from == leaves.len() {
        return if is_whole { Vec::new() } else { vec![root(leaves)] };
    }
    let middle = leaves.len().next_power_of_two() / 2;
    let (left, right) = leaves.split_at(middle);
    if from <= middle {
        [consistency_by_the_rfc(from, left, is_whole), vec![root(right)]].concat()
    } else {
        [consistency_by_the_rfc(from - middle, right, false), vec![root(left)]].concat()
    }
}

fn inclusion_by_the_rfc(index: usize, leaves: &[Hash]) -> Vec<Hash> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let middle = leaves.len().next_power_of_two() / 2;
    let (left, right) = leaves.split_at(middle);
    if index < middle {
        [inclusion_by_the_rfc(index, left), vec![root(right)]].concat()
    } else {
        [inclusion_by_the_rfc(index - middle, right), vec![root(left)]].concat()
    }
}

#[test]
fn a_tree_that_grows_has_the_root_and_the_subtrees_of_the_model() {
    let leaves = leaves(300);
    let model = of_model(&leaves);
    let mut tree = GrowingTree::default();
    assert_eq!(tree.root(), root(&[]));
    for (index, one) in leaves.iter().enumerate() {
        tree.push(*one, |subtree, hash| assert_eq!(Ok(hash), model(subtree), "{subtree:?}"));
        let size = index + 1;
        assert_eq!((tree.size(), tree.root()), (size as u64, root(&leaves[..size])), "{size} leaves");
        let peaks = GrowingTree::peaks_of(size as u64).into_iter().map(&model).collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!(GrowingTree::from_peaks(size as u64, peaks.clone()), Some(tree.clone()), "{size} leaves");
        assert_eq!(GrowingTree::from_peaks(size as u64, [&peaks[..], &peaks].concat()), None);
    }
    assert_eq!(
        GrowingTree::peaks_of(11),
        [Subtree { level: 3, index: 0 }, Subtree { level: 1, index: 4 }, Subtree { level: 0, index: 10 }]
    );
}

#[test]
fn every_pair_of_small_trees_is_connected_as_the_rfc_says() {
    let leaves = leaves(SMALL);
    for to in 1..=SMALL {
        for from in 1..=to {
            let proof = proof_between(&leaves, from, to);
            assert_eq!(proof, consistency_by_the_rfc(from, &leaves[..to], true), "{from} to {to}");
            assert!(connects(&leaves, from, to, &proof), "{from} to {to}");
            let path = inclusion(from as u64 - 1, to as u64, of_model(&leaves[..to])).unwrap().unwrap();
            assert_eq!(path, inclusion_by_the_rfc(from - 1, &leaves[..to]), "leaf {} of {to}", from - 1);
            let climbed = climb(leaves[from - 1], from as u64 - 1, to as u64, &path);
            assert_eq!(climbed, Some(root(&leaves[..to])));
        }
        let none = |from| consistency(from, to as u64, of_model(&leaves)).unwrap();
        assert_eq!((none(0), none(to as u64 + 1)), (None, None), "no tree and a longer one have no proof");
        assert_eq!(inclusion(to as u64, to as u64, of_model(&leaves)).unwrap(), None);
    }
}

#[test]
fn random_pairs_of_larger_trees_are_connected_and_each_change_of_a_proof_is_refused() {
    let (leaves, mut cases) = (leaves(3_000), Cases(15));
    for _ in 0..200 {
        let to = 2 + cases.below(leaves.len() - 1);
        let from = 1 + cases.below(to - 1);
        let proof = proof_between(&leaves, from, to);
        assert!(proof.len() <= 24, "{} hashes for {from} to {to}", proof.len());
        let (old, new) = (root(&leaves[..from]), root(&leaves[..to]));
        let connects = |proof: &[Hash]| is_consistent(from as u64, &old, to as u64, &new, proof);
        assert!(connects(&proof), "{from} to {to}");
        let refused = |proof: &[Hash], what: &str| assert!(!connects(proof), "{what}: {from} to {to}");
        for place in 0..proof.len() {
            let mut changed = proof.clone();
            changed[place][cases.below(32)] ^= 1 << cases.below(8);
            refused(&changed, "changed");
            refused(&[&proof[..place], &proof[place + 1..]].concat(), "truncated");
            refused(&[&proof[..place], &[proof[place]], &proof[place..]].concat(), "repeated");
            let other = cases.below(proof.len());
            if proof[other] != proof[place] {
                let mut swapped = proof.clone();
                swapped.swap(place, other);
                refused(&swapped, "swapped");
            }
        }
        refused(&[&proof[..], &[leaves[0]]].concat(), "lengthened");
        let sizes = |from: usize, to: usize| is_consistent(from as u64, &old, to as u64, &new, &proof);
        assert!(!sizes(to, from) && !sizes(0, to), "another order: {from} to {to}");
        assert!(!sizes(from, to * 2 + 1), "another size: {from} to {to}");
    }
}

#[test]
fn a_rewritten_past_has_no_proof() {
    let (honest, mut cases) = (leaves(500), Cases(7));
    for _ in 0..200 {
        let from = 1 + cases.below(499);
        let to = from + cases.below(500 - from) + 1;
        let mut rewritten = honest.clone();
        rewritten[cases.below(from)] = leaf(b"another head");
        let old = root(&honest[..from]);
        let new = root(&rewritten[..to]);
        for proof in [proof_between(&rewritten, from, to), proof_between(&honest, from, to)] {
            assert!(!is_consistent(from as u64, &old, to as u64, &new, &proof), "{from} to {to}");
        }
    }
}
