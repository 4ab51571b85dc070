//! Chaum-Pedersen: the same secret multiple was taken of two points.
//!
//! `Equality { base1, base2, image1, image2 }` says: there is a `w`, known to the prover, with `image1 = w base1` and
//! `image2 = w base2`. All that a shuffler or a player contributes to a card is one of these. The challenge binds the
//! context and the whole statement before the prover's commitments; hashing the commitments alone would let the prover
//! choose the statement afterwards.
//!
//! It does not know where the points come from: the verifier must derive the bases itself.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

pub(crate) mod batch;

pub use batch::{EqualityClaim, FalseClaim, verify_claims};

use ark_ec::AffineRepr;
use rand_core::{CryptoRng, CryptoRngCore, RngCore};
use zeroize::Zeroizing;

use crate::{
    Context, Curve, DeckDecodeError,
    codec::{ByteReader, bytes_of, put_point, put_scalar},
    curve::{Point, Scalar},
    transcript::Transcript,
};

/// Two bases and their images under one secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equality<C: Curve> {
    pub base1: Point<C>,
    pub base2: Point<C>,
    /// The multiple of the first base.
    pub image1: Point<C>,
    /// The same multiple of the second.
    pub image2: Point<C>,
}

/// A proof of an [`Equality`]: two points and a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualityProof<C: Curve> {
    pub(crate) t1: Point<C>,
    pub(crate) t2: Point<C>,
    pub(crate) response: Scalar<C>,
}

impl<C: Curve> Equality<C> {
    /// Proves the equality with its witness. A false statement gets a proof that no verifier accepts.
    pub fn prove(
        &self,
        context: &Context,
        witness: &Scalar<C>,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> EqualityProof<C> {
        C::prove_equality(self, context, witness, rng)
    }

    #[must_use]
    pub fn verify(&self, context: &Context, proof: &EqualityProof<C>) -> bool {
        verify_claims(&[EqualityClaim { context: context.clone(), statement: *self, proof: *proof }]).is_ok()
    }

    /// Everything known before the prover commits.
    pub(crate) fn transcript(&self, context: &Context) -> Transcript {
        let mut transcript = Transcript::new::<C>(b"equality", context);
        transcript.point::<C>(b"base 1", &self.base1);
        transcript.point::<C>(b"base 2", &self.base2);
        transcript.point::<C>(b"image 1", &self.image1);
        transcript.point::<C>(b"image 2", &self.image2);
        transcript
    }

    /// Whether a point is the identity, with which any statement could be proven.
    fn has_identity(&self, proof: &EqualityProof<C>) -> bool {
        let points = [self.base1, self.base2, self.image1, self.image2, proof.t1, proof.t2];
        points.iter().any(AffineRepr::is_zero)
    }
}

pub(crate) fn prove<C: Curve>(
    statement: &Equality<C>,
    context: &Context,
    witness: &Scalar<C>,
    mut rng: &mut dyn CryptoRngCore,
) -> EqualityProof<C> {
    let mut transcript = statement.transcript(context);
    let nonces = &mut transcript.nonces::<C>(std::slice::from_ref(witness), &mut rng);
    let nonce = Zeroizing::new(nonces.nonzero::<Scalar<C>>());
    let [t1, t2] = [statement.base1, statement.base2].map(|base| C::times(&base, &nonce).affine());
    let challenge = draw::<C>(&mut transcript, &t1, &t2);
    EqualityProof { t1, t2, response: *nonce + challenge * witness }
}

pub(crate) fn draw<C: Curve>(transcript: &mut Transcript, t1: &Point<C>, t2: &Point<C>) -> Scalar<C> {
    transcript.point::<C>(b"commitment 1", t1);
    transcript.point::<C>(b"commitment 2", t2);
    transcript.challenge(b"challenge")
}

impl<C: Curve> EqualityProof<C> {
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        put_point::<C>(bytes, &self.t1);
        put_point::<C>(bytes, &self.t2);
        put_scalar::<C>(bytes, &self.response);
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>) -> Result<Self, DeckDecodeError> {
        Ok(Self { t1: reader.point::<C>()?, t2: reader.point::<C>()?, response: reader.scalar::<C>()? })
    }

    #[must_use]
    pub fn encoded_bytes() -> usize {
        bytes_of::<C>(2, 1)
    }

    /// Two points, then the scalar.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::encoded_bytes());
        self.put(&mut bytes);
        bytes
    }

    /// Reads a proof.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of a proof.
    pub fn decode(bytes: &[u8]) -> Result<Self, DeckDecodeError> {
        Self::read(&mut ByteReader::exactly(bytes, Self::encoded_bytes())?)
    }
}
