//! A dealt share on its way to its receiver, so that dealing can take place in a public log.
//!
//! Hashed `ElGamal`: a fresh point, and the share plus a hash of what only dealer and receiver can compute. It hides
//! the share and proves nothing; whether the share is right, the receiver sees from the dealer's commitments.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use ark_ec::AffineRepr;
use rand_core::{CryptoRng, RngCore};
use zeroize::Zeroizing;

use super::{Dealing, DealtShare};
use crate::{
    Context, Curve, DeckDecodeError, HandId, ProofKind, PublicKey, SecretKey,
    codec::{ByteReader, bytes_of, put_point, put_scalar},
    curve::{Point, Scalar},
    transcript::Transcript,
};

/// A dealt share that only its receiver can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedShare<C: Curve> {
    ephemeral: Point<C>,
    masked: Scalar<C>,
}

impl<C: Curve> Dealing<C> {
    /// The value for a shuffler, encrypted to the key that it registered.
    pub fn seal_for(
        &self,
        hand: &HandId,
        dealer: &str,
        shuffler: u8,
        receiver: &PublicKey<C>,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> SealedShare<C> {
        let mut transcript = opened(hand, dealer, shuffler, receiver);
        let witness = std::slice::from_ref(self.secret.scalar());
        let nonce: Zeroizing<Scalar<C>> = Zeroizing::new(transcript.nonces::<C>(witness, rng).nonzero());
        let ephemeral = C::times(&Point::<C>::generator(), &nonce).affine();
        let agreed = C::times(receiver.point(), &nonce).affine();
        let mask = mask::<C>(&mut transcript, &ephemeral, &agreed);
        SealedShare { ephemeral, masked: self.share_for(shuffler).0 + *mask }
    }
}

impl<C: Curve> SealedShare<C> {
    /// The share, for the owner of the receiver's key. Of any other sealed bytes, some number that fits no commitment.
    #[must_use]
    pub fn open(&self, hand: &HandId, dealer: &str, shuffler: u8, secret: &SecretKey<C>) -> DealtShare<C> {
        let mut transcript = opened(hand, dealer, shuffler, secret.public());
        let agreed = C::times(&self.ephemeral, secret.scalar()).affine();
        DealtShare(self.masked - *mask::<C>(&mut transcript, &self.ephemeral, &agreed))
    }

    #[must_use]
    pub fn encoded_bytes() -> usize {
        bytes_of::<C>(1, 1)
    }

    /// The point, then the scalar.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::encoded_bytes());
        put_point::<C>(&mut bytes, &self.ephemeral);
        put_scalar::<C>(&mut bytes, &self.masked);
        bytes
    }

    /// Reads a sealed share.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of a sealed share.
    pub fn decode(bytes: &[u8]) -> Result<Self, DeckDecodeError> {
        let mut reader = ByteReader::exactly(bytes, Self::encoded_bytes())?;
        Ok(Self { ephemeral: reader.point::<C>()?, masked: reader.scalar::<C>()? })
    }
}

fn opened<C: Curve>(hand: &HandId, dealer: &str, shuffler: u8, receiver: &PublicKey<C>) -> Transcript {
    let context = Context { position: Some(shuffler), ..hand.context(dealer, ProofKind::Dealing) };
    let mut transcript = Transcript::new::<C>(b"sealed share", &context);
    transcript.point::<C>(b"receiver", receiver.point());
    transcript
}

fn mask<C: Curve>(transcript: &mut Transcript, ephemeral: &Point<C>, agreed: &Point<C>) -> Zeroizing<Scalar<C>> {
    transcript.point::<C>(b"ephemeral", ephemeral);
    transcript.point::<C>(b"agreed", agreed);
    Zeroizing::new(transcript.challenge(b"mask"))
}
