//! Where challenges come from.
//!
//! A merlin transcript, opened with the protocol's version, the curve, the argument and the whole [`Context`]; after
//! that, the caller absorbs the whole statement and each message of the prover before it draws what depends on them.
//! Points go in as their canonical compressed bytes, every entry has a label and a length, challenges are 64 bytes
//! reduced modulo the order.
//!
//! Nonces come from here too: from the transcript so far, the witness, and fresh randomness together, so that neither a
//! poor generator nor a repeated one gives two different statements the same nonce.

use ark_ff::PrimeField;
use ark_serialize::CanonicalSerialize;
use merlin::TranscriptRng;
use rand_core::{CryptoRng, RngCore};
use zeroize::Zeroizing;

use crate::{
    Context, ContextDigest, Curve,
    codec::{put_point, put_scalar},
    curve::{Point, Scalar},
};

#[derive(Clone)]
pub(crate) struct Transcript(merlin::Transcript);

impl Transcript {
    /// A transcript of this argument on the curve, about what the context says.
    pub fn new<C: Curve>(argument: &'static [u8], context: &Context) -> Self {
        Self::on(C::NAME, argument, context)
    }

    pub fn on(curve: &str, argument: &'static [u8], context: &Context) -> Self {
        let mut transcript = Self::bare(argument);
        let Context { version, hand, actor, kind, position, seat, deck } = context;
        transcript.bytes(b"version", &version.to_le_bytes());
        transcript.bytes(b"curve", curve.as_bytes());
        transcript.bytes(b"deployment", hand.deployment.as_bytes());
        transcript.bytes(b"game", hand.game.as_bytes());
        transcript.bytes(b"hand", hand.hand.as_bytes());
        transcript.bytes(b"actor", actor.as_bytes());
        transcript.bytes(b"kind", kind.name().as_bytes());
        // What is absent is empty, and nothing present ever is.
        transcript.bytes(b"position", position.as_ref().map_or(&[], std::slice::from_ref));
        transcript.bytes(b"seat", seat.as_ref().map_or(&[], std::slice::from_ref));
        transcript.bytes(b"final deck", deck.as_ref().map_or(&[], |deck| deck.as_slice()));
        transcript
    }

    /// A transcript that is about other transcripts, and takes its context from them.
    pub fn bare(argument: &'static [u8]) -> Self {
        let mut transcript = Self(merlin::Transcript::new(b"bankroll deck v1"));
        transcript.bytes(b"argument", argument);
        transcript
    }

    pub fn bytes(&mut self, label: &'static [u8], bytes: &[u8]) {
        self.0.append_message(label, bytes);
    }

    pub fn point<C: Curve>(&mut self, label: &'static [u8], point: &Point<C>) {
        let mut bytes = Vec::with_capacity(point.compressed_size());
        put_point::<C>(&mut bytes, point);
        self.bytes(label, &bytes);
    }

    pub fn scalars<C: Curve>(&mut self, label: &'static [u8], scalars: &[Scalar<C>]) {
        let mut bytes = Vec::new();
        for scalar in scalars {
            put_scalar::<C>(&mut bytes, scalar);
        }
        self.bytes(label, &bytes);
    }

    pub fn challenge<F: PrimeField>(&mut self, label: &'static [u8]) -> F {
        let mut wide = [0; 64];
        self.0.challenge_bytes(label, &mut wide);
        F::from_le_bytes_mod_order(&wide)
    }

    /// A short challenge, for what only has to be unpredictable when the proofs are already fixed.
    pub fn weight<F: PrimeField>(&mut self, label: &'static [u8]) -> F {
        let mut bytes = [0; 16];
        self.0.challenge_bytes(label, &mut bytes);
        F::from(u128::from_le_bytes(bytes))
    }

    /// All that was absorbed so far, in short.
    pub fn digest(&mut self) -> ContextDigest {
        let mut digest = ContextDigest::default();
        self.0.challenge_bytes(b"digest", &mut digest);
        digest
    }

    /// A source of nonces for the owner of this witness.
    pub fn nonces<C: Curve>(&self, witness: &[Scalar<C>], rng: &mut (impl CryptoRng + RngCore)) -> Nonces {
        // As long as it can become, so that no copy of the secret stays behind in a smaller buffer.
        let mut bytes =
            Zeroizing::new(Vec::with_capacity(witness.iter().map(CanonicalSerialize::compressed_size).sum()));
        for scalar in witness {
            put_scalar::<C>(&mut bytes, scalar);
        }
        Nonces(self.0.build_rng().rekey_with_witness_bytes(b"witness", &bytes).finalize(rng))
    }
}

/// Scalars that depend on the transcript, the witness and fresh randomness.
pub(crate) struct Nonces(TranscriptRng);

impl Nonces {
    pub fn scalar<F: PrimeField>(&mut self) -> F {
        F::rand(&mut self.0)
    }

    pub fn nonzero<F: PrimeField>(&mut self) -> F {
        loop {
            let scalar = F::rand(&mut self.0);
            if !scalar.is_zero() {
                return scalar;
            }
        }
    }

    pub fn scalars<F: PrimeField>(&mut self, count: usize) -> Zeroizing<Vec<F>> {
        Zeroizing::new((0..count).map(|_| self.scalar()).collect())
    }
}
