//! The groups a deck can live in.
//!
//! Everything else in this crate is written for any [`Curve`]; the three below are the tested ones, all of cofactor
//! one. Its name goes into every hash and every challenge, so that nothing made for one curve means anything on
//! another.
//!
//! It does not make the arithmetic take constant time: a shuffler should not share a core with an adversary.

use ark_ec::{CurveGroup, PrimeGroup, short_weierstrass::Projective};
use ark_ff::PrimeField;

/// secp256k1: the default, of about 128 bits of strength.
pub type Secp256k1 = ark_secp256k1::Projective;
/// The first group of bn254: the fastest, and known to Ethereum, but of only about 100 bits of strength.
pub type Bn254 = Projective<ark_bn254::g1::Config>;
/// Grumpkin, whose arithmetic is native to circuits over bn254.
pub type Grumpkin = ark_grumpkin::Projective;

/// A point in its canonical form.
pub type Point<C> = <C as CurveGroup>::Affine;
/// A number modulo the order of the group.
pub type Scalar<C> = <C as PrimeGroup>::ScalarField;

/// A group of prime order in which decks are made.
pub trait Curve: CurveGroup {
    /// What the curve is called in hashes, challenges and files.
    const NAME: &'static str;

    /// The point whose first coordinate is this number modulo the field, if there is one; there are two of them, and
    /// `larger` picks the one whose second coordinate is the larger number.
    ///
    /// The point may lie outside the prime-order group if there is such an outside: the caller clears the cofactor.
    fn lift(coordinate: &[u8; 64], larger: bool) -> Option<Point<Self>>;
}

macro_rules! short_weierstrass {
    ($curve:ty, $name:literal, $affine:ty, $field:ty) => {
        impl Curve for $curve {
            const NAME: &'static str = $name;

            fn lift(coordinate: &[u8; 64], larger: bool) -> Option<Point<Self>> {
                <$affine>::get_point_from_x_unchecked(<$field>::from_le_bytes_mod_order(coordinate), larger)
            }
        }
    };
}

short_weierstrass!(Secp256k1, "secp256k1", ark_secp256k1::Affine, ark_secp256k1::Fq);
short_weierstrass!(Bn254, "bn254", ark_bn254::G1Affine, ark_bn254::Fq);
short_weierstrass!(Grumpkin, "grumpkin", ark_grumpkin::Affine, ark_grumpkin::Fq);
