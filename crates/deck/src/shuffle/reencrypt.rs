//! Shuffling a deck: new card `i` is old card `order[i]` with `randomness[i] (G, key)` added to it.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use ark_ec::{AffineRepr, scalar_mul::BatchMulPreprocessing};
use ark_ff::{PrimeField, UniformRand};
use rand_core::{CryptoRng, RngCore};
use zeroize::Zeroizing;

use crate::{
    Ciphertext, Curve, Deck, PublicKey,
    curve::{Point, Scalar},
    shuffle::Permutation,
};

/// The tables of multiples get the window that pays for so many numbers; with the real 52 it would be too narrow.
const TABLE_FOR: usize = 256;

/// What only the shuffler knows. Both halves are wiped.
pub(crate) struct Witness<C: Curve> {
    pub order: Permutation,
    pub randomness: Zeroizing<Vec<Scalar<C>>>,
}

impl<C: Curve> Witness<C> {
    pub fn random(size: usize, rng: &mut (impl CryptoRng + RngCore)) -> Self {
        let order = Permutation::random(u8::try_from(size).unwrap_or(u8::MAX), rng);
        let randomness = Zeroizing::new((0..size).map(|_| Scalar::<C>::rand(rng)).collect());
        Self { order, randomness }
    }

    /// All of it as scalars.
    pub fn scalars(&self) -> Zeroizing<Vec<Scalar<C>>> {
        let order = self.order.places().iter().map(|place| Scalar::<C>::from(*place));
        Zeroizing::new(order.chain(self.randomness.iter().copied()).collect())
    }
}

/// The deck in the witness's order, encrypted anew.
pub(crate) fn shuffle<C: Curve>(key: &PublicKey<C>, deck: &Deck<C>, witness: &Witness<C>) -> Deck<C> {
    let multiples = |base: &Point<C>| {
        let bits = Scalar::<C>::MODULUS_BIT_SIZE as usize;
        let table = BatchMulPreprocessing::<C>::with_num_scalars_and_scalar_size((*base).into(), TABLE_FOR, bits);
        table.batch_mul(&witness.randomness)
    };
    let (first, second) = (multiples(&Point::<C>::generator()), multiples(key.point()));
    let old = witness.order.places().iter().filter_map(|place| deck.cards().get(usize::from(*place)));
    let sums: Vec<C> = old.zip(first.iter().zip(&second)).flat_map(|(old, (a, b))| [old.c1 + a, old.c2 + b]).collect();
    let points = C::normalize_batch(&sums);
    Deck::of(points.as_chunks().0.iter().map(|[c1, c2]| Ciphertext { c1: *c1, c2: *c2 }).collect())
}
