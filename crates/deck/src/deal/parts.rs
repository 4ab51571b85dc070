//! What shufflers and players contribute to a card: points, each with its equality proof.
//!
//! They say nothing about where they belong; the [`Deal`](crate::Deal) knows, and the proofs are bound to it.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use ark_ec::AffineRepr;
use rand_core::{CryptoRng, RngCore};
use zeroize::Zeroizing;

use crate::{
    Context, Curve, DeckDecodeError, Equality, EqualityProof, PublicKey, SecretKey,
    codec::{ByteReader, bytes_of, put_point},
    curve::{Point, Scalar},
    transcript::Transcript,
};

/// A shuffler's blinding of a hole card: the same secret multiple of the generator and of the seat's blinding key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blinding<C: Curve> {
    pub(crate) a: Point<C>,
    pub(crate) b: Point<C>,
    pub(crate) proof: EqualityProof<C>,
}

/// The multiple of a point by the secret of a known key: a layer off a card, or a card opened by its player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share<C: Curve> {
    pub(crate) point: Point<C>,
    pub(crate) proof: EqualityProof<C>,
}

impl<C: Curve> Blinding<C> {
    /// Blinds with a multiple that is new each time, even if the generator repeats itself: the shuffler's key and the
    /// card go into it.
    pub(crate) fn make(
        context: &Context,
        blinding_key: &Point<C>,
        secret: &SecretKey<C>,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Self {
        let mut transcript = Transcript::new::<C>(b"blinding", context);
        transcript.point::<C>(b"blinding key", blinding_key);
        let mut nonces = transcript.nonces::<C>(std::slice::from_ref(secret.scalar()), rng);
        Self::with(context, blinding_key, &Zeroizing::new(nonces.nonzero()), rng)
    }

    pub(crate) fn with(
        context: &Context,
        blinding_key: &Point<C>,
        delta: &Scalar<C>,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Self {
        let [a, b] = [Point::<C>::generator(), *blinding_key].map(|base| C::times(&base, delta).affine());
        Self { a, b, proof: statement::<C>(*blinding_key, a, b).prove(context, delta, rng) }
    }

    pub(crate) fn statement(&self, blinding_key: &Point<C>) -> Equality<C> {
        statement(*blinding_key, self.a, self.b)
    }

    /// The point that may not be used again.
    #[must_use]
    pub const fn point(&self) -> &Point<C> {
        &self.a
    }

    /// Both points, then the proof.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::encoded_bytes());
        put_point::<C>(&mut bytes, &self.a);
        put_point::<C>(&mut bytes, &self.b);
        self.proof.put(&mut bytes);
        bytes
    }

    #[must_use]
    pub fn encoded_bytes() -> usize {
        bytes_of::<C>(4, 1)
    }

    /// Reads a blinding.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of a blinding.
    pub fn decode(bytes: &[u8]) -> Result<Self, DeckDecodeError> {
        let mut reader = ByteReader::exactly(bytes, Self::encoded_bytes())?;
        let (a, b) = (reader.point::<C>()?, reader.point::<C>()?);
        Ok(Self { a, b, proof: EqualityProof::read(&mut reader)? })
    }
}

impl<C: Curve> Share<C> {
    /// The multiple of this base. Only for bases that the owner of the secret derived itself.
    pub(crate) fn make(
        context: &Context,
        base: &Point<C>,
        secret: &SecretKey<C>,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Self {
        let point = C::times(base, secret.scalar()).affine();
        Self {
            point,
            proof: statement::<C>(*base, *secret.public().point(), point).prove(context, secret.scalar(), rng),
        }
    }

    pub(crate) fn statement(&self, key: &PublicKey<C>, base: &Point<C>) -> Equality<C> {
        statement(*base, *key.point(), self.point)
    }

    /// The point, then the proof.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::encoded_bytes());
        put_point::<C>(&mut bytes, &self.point);
        self.proof.put(&mut bytes);
        bytes
    }

    #[must_use]
    pub fn encoded_bytes() -> usize {
        bytes_of::<C>(3, 1)
    }

    /// Reads a share.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of a share.
    pub fn decode(bytes: &[u8]) -> Result<Self, DeckDecodeError> {
        let mut reader = ByteReader::exactly(bytes, Self::encoded_bytes())?;
        Ok(Self { point: reader.point::<C>()?, proof: EqualityProof::read(&mut reader)? })
    }
}

/// The only kind of claim about a card: one secret behind a multiple of the generator and a multiple of another point.
fn statement<C: Curve>(base2: Point<C>, image1: Point<C>, image2: Point<C>) -> Equality<C> {
    Equality { base1: Point::<C>::generator(), base2, image1, image2 }
}
