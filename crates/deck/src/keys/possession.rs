//! Schnorr: the owner of a key has its secret.
//!
//! Without it, the last shuffler to register could publish a key that cancels all others in the sum, and read the
//! deck alone.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use ark_ec::AffineRepr;
use rand_core::{CryptoRng, RngCore};
use zeroize::Zeroizing;

use crate::{
    Context, Curve, DeckDecodeError, PublicKey, SecretKey,
    codec::{ByteReader, bytes_of, put_point, put_scalar},
    curve::{Point, Scalar},
    transcript::Transcript,
};

/// A proof of possession: a point and a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Possession<C: Curve> {
    pub(crate) commitment: Point<C>,
    pub(crate) response: Scalar<C>,
}

impl<C: Curve> SecretKey<C> {
    /// Proves possession of this key.
    pub fn prove_possession(&self, context: &Context, rng: &mut (impl CryptoRng + RngCore)) -> Possession<C> {
        let mut transcript = opened(context, self.public());
        let witness = std::slice::from_ref(self.scalar());
        let nonce = Zeroizing::new(transcript.nonces::<C>(witness, rng).nonzero::<Scalar<C>>());
        let commitment = C::times(&Point::<C>::generator(), &nonce).affine();
        let challenge = draw::<C>(&mut transcript, &commitment);
        Possession { commitment, response: *nonce + challenge * self.scalar() }
    }
}

impl<C: Curve> Possession<C> {
    /// Checks the proof for this key in this context.
    #[must_use]
    pub fn verify(&self, context: &Context, key: &PublicKey<C>) -> bool {
        C::verify_possession(self, context, key)
    }

    #[must_use]
    pub fn encoded_bytes() -> usize {
        bytes_of::<C>(1, 1)
    }

    /// The point, then the scalar.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::encoded_bytes());
        put_point::<C>(&mut bytes, &self.commitment);
        put_scalar::<C>(&mut bytes, &self.response);
        bytes
    }

    /// Reads a proof.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of a proof.
    pub fn decode(bytes: &[u8]) -> Result<Self, DeckDecodeError> {
        let mut reader = ByteReader::exactly(bytes, Self::encoded_bytes())?;
        Ok(Self { commitment: reader.point::<C>()?, response: reader.scalar::<C>()? })
    }
}

pub(crate) fn verify<C: Curve>(proof: &Possession<C>, context: &Context, key: &PublicKey<C>) -> bool {
    if key.0.is_zero() || proof.commitment.is_zero() {
        return false;
    }
    let challenge = draw::<C>(&mut opened(context, key), &proof.commitment);
    Point::<C>::generator() * proof.response == key.0 * challenge + proof.commitment
}

fn opened<C: Curve>(context: &Context, key: &PublicKey<C>) -> Transcript {
    let mut transcript = Transcript::new::<C>(b"possession", context);
    transcript.point::<C>(b"key", &key.0);
    transcript
}

fn draw<C: Curve>(transcript: &mut Transcript, commitment: &Point<C>) -> Scalar<C> {
    transcript.point::<C>(b"commitment", commitment);
    transcript.challenge(b"challenge")
}
