//! The groups a deck can live in.
//!
//! Everything else in this crate is written for any [`Curve`]; the three below are the tested ones, all of cofactor
//! one. Its name goes into every hash and every challenge, so that nothing made for one curve means anything on
//! another.
//!
//! It does not make the arithmetic take constant time: a shuffler should not share a core with an adversary.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a group; it cannot overflow")]

use ark_ec::{CurveGroup, PrimeGroup, short_weierstrass::Projective};
use ark_ff::PrimeField;
use ark_serialize::CanonicalSerialize;
use rand_core::CryptoRngCore;

use crate::{
    Context, Deck, DeckDecodeError, Equality, EqualityClaim, EqualityProof, FalseClaim, Parameters, Possession,
    PublicKey, ShuffleError, ShuffleMessage, ShuffleStep, Shuffling, UnprovenShuffle, codec, equality, keys, shuffle,
};

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
///
/// The hidden methods are what takes a compiler long. A generic function is compiled again in each crate that calls it;
/// a method of one concrete curve is compiled here, and other crates only link to it. So the public functions of this
/// crate are generic, and thin: each calls the method below, which calls the code in the module of that function.
pub trait Curve: CurveGroup {
    /// What the curve is called in hashes, challenges and files.
    const NAME: &'static str;

    /// The point whose first coordinate is this number modulo the field, if there is one; there are two of them, and
    /// `larger` picks the one whose second coordinate is the larger number.
    ///
    /// The point may lie outside the prime-order group if there is such an outside: the caller clears the cofactor.
    fn lift(coordinate: &[u8; 64], larger: bool) -> Option<Point<Self>>;

    #[doc(hidden)]
    fn times(point: &Point<Self>, scalar: &Scalar<Self>) -> Self;
    #[doc(hidden)]
    fn affine(self) -> Point<Self>;
    #[doc(hidden)]
    fn sum_of(points: &mut dyn Iterator<Item = Point<Self>>) -> Self;
    #[doc(hidden)]
    fn without_multiples(point: &Point<Self>, multiples: &[(Point<Self>, Scalar<Self>)]) -> Point<Self>;
    #[doc(hidden)]
    fn put_point(bytes: &mut Vec<u8>, point: &Point<Self>);
    #[doc(hidden)]
    fn read_point(bytes: &[u8], offset: usize) -> Result<Point<Self>, DeckDecodeError>;
    #[doc(hidden)]
    fn put_scalar(bytes: &mut Vec<u8>, scalar: &Scalar<Self>);
    #[doc(hidden)]
    fn read_scalar(bytes: &[u8], offset: usize) -> Result<Scalar<Self>, DeckDecodeError>;
    #[doc(hidden)]
    fn parameters(size: u8) -> Parameters<Self>;
    #[doc(hidden)]
    fn verify_possession(proof: &Possession<Self>, context: &Context, key: &PublicKey<Self>) -> bool;
    #[doc(hidden)]
    fn prove_equality(
        statement: &Equality<Self>,
        context: &Context,
        witness: &Scalar<Self>,
        rng: &mut dyn CryptoRngCore,
    ) -> EqualityProof<Self>;
    #[doc(hidden)]
    fn verify_claims(claims: &[EqualityClaim<Self>]) -> Result<(), FalseClaim>;
    #[doc(hidden)]
    fn shuffle(shuffling: &Shuffling<Self>, rng: &mut dyn CryptoRngCore) -> Option<UnprovenShuffle<Self>>;
    #[doc(hidden)]
    fn prove_shuffle(
        shuffle: &UnprovenShuffle<Self>,
        parameters: &Parameters<Self>,
        rng: &mut dyn CryptoRngCore,
    ) -> ShuffleMessage<Self>;
    #[doc(hidden)]
    fn verify_shuffles(
        parameters: &Parameters<Self>,
        key: &PublicKey<Self>,
        input: &Deck<Self>,
        steps: &[ShuffleStep<'_, Self>],
    ) -> Result<(), ShuffleError>;
}

macro_rules! short_weierstrass {
    ($curve:ty, $name:literal, $affine:ty, $field:ty) => {
        impl Curve for $curve {
            const NAME: &'static str = $name;

            fn lift(coordinate: &[u8; 64], larger: bool) -> Option<Point<Self>> {
                <$affine>::get_point_from_x_unchecked(<$field>::from_le_bytes_mod_order(coordinate), larger)
            }

            fn times(point: &Point<Self>, scalar: &Scalar<Self>) -> Self {
                *point * scalar
            }

            fn affine(self) -> Point<Self> {
                self.into_affine()
            }

            fn sum_of(points: &mut dyn Iterator<Item = Point<Self>>) -> Self {
                points.sum()
            }

            fn without_multiples(point: &Point<Self>, multiples: &[(Point<Self>, Scalar<Self>)]) -> Point<Self> {
                let multiples: Self = multiples.iter().map(|(point, scalar)| *point * scalar).sum();
                (Self::from(*point) - multiples).into_affine()
            }

            fn put_point(bytes: &mut Vec<u8>, point: &Point<Self>) {
                point.serialize_compressed(bytes).expect("a vector takes all bytes");
            }

            fn read_point(bytes: &[u8], offset: usize) -> Result<Point<Self>, DeckDecodeError> {
                codec::read_point::<Self>(bytes, offset)
            }

            fn put_scalar(bytes: &mut Vec<u8>, scalar: &Scalar<Self>) {
                scalar.serialize_compressed(bytes).expect("a vector takes all bytes");
            }

            fn read_scalar(bytes: &[u8], offset: usize) -> Result<Scalar<Self>, DeckDecodeError> {
                codec::read_scalar::<Self>(bytes, offset)
            }

            fn parameters(size: u8) -> Parameters<Self> {
                Parameters::hashed(size)
            }

            fn verify_possession(proof: &Possession<Self>, context: &Context, key: &PublicKey<Self>) -> bool {
                keys::possession::verify(proof, context, key)
            }

            fn prove_equality(
                statement: &Equality<Self>,
                context: &Context,
                witness: &Scalar<Self>,
                rng: &mut dyn CryptoRngCore,
            ) -> EqualityProof<Self> {
                equality::prove(statement, context, witness, rng)
            }

            fn verify_claims(claims: &[EqualityClaim<Self>]) -> Result<(), FalseClaim> {
                equality::batch::verify(claims)
            }

            fn shuffle(shuffling: &Shuffling<Self>, rng: &mut dyn CryptoRngCore) -> Option<UnprovenShuffle<Self>> {
                shuffle::chain::shuffle_unproven(shuffling, rng)
            }

            fn prove_shuffle(
                shuffle: &UnprovenShuffle<Self>,
                parameters: &Parameters<Self>,
                rng: &mut dyn CryptoRngCore,
            ) -> ShuffleMessage<Self> {
                shuffle::chain::prove_shuffle(shuffle, parameters, rng)
            }

            fn verify_shuffles(
                parameters: &Parameters<Self>,
                key: &PublicKey<Self>,
                input: &Deck<Self>,
                steps: &[ShuffleStep<'_, Self>],
            ) -> Result<(), ShuffleError> {
                shuffle::verify::verify(parameters, key, input, steps)
            }
        }
    };
}

short_weierstrass!(Secp256k1, "secp256k1", ark_secp256k1::Affine, ark_secp256k1::Fq);
short_weierstrass!(Bn254, "bn254", ark_bn254::G1Affine, ark_bn254::Fq);
short_weierstrass!(Grumpkin, "grumpkin", ark_grumpkin::Affine, ark_grumpkin::Fq);
