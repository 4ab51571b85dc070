//! Encrypted cards.
//!
//! A card is an `ElGamal` ciphertext `(r G, M + r pk)` under the shufflers' aggregate key. A deck is some of them in
//! order. The only deck whose cards are open, `(0, M)`, is the first one, which each party computes with
//! [`Parameters::first_deck`](crate::Parameters::first_deck); no deck that is read from bytes contains the identity.

use ark_ec::AffineRepr;
use sha2::{Digest as _, Sha256};

use crate::{
    ContextDigest, Curve, DeckDecodeError,
    codec::{ByteReader, bytes_of, put_point},
    curve::Point,
};

/// One encrypted card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ciphertext<C: Curve> {
    /// `r G`.
    pub(crate) c1: Point<C>,
    /// `M + r pk`.
    pub(crate) c2: Point<C>,
}

/// Encrypted cards in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deck<C: Curve> {
    cards: Vec<Ciphertext<C>>,
}

impl<C: Curve> Deck<C> {
    pub(crate) const fn of(cards: Vec<Ciphertext<C>>) -> Self {
        Self { cards }
    }

    #[must_use]
    pub fn cards(&self) -> &[Ciphertext<C>] {
        &self.cards
    }

    /// The hash by which later proofs and messages name this deck.
    #[must_use]
    pub fn hash(&self) -> ContextDigest {
        let domain = Sha256::new().chain_update(b"bankroll deck v1 deck ").chain_update(C::NAME);
        domain.chain_update([0]).chain_update(self.encode()).finalize().into()
    }

    /// Both points of each card, one card after the other.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::encoded_bytes(self.cards.len()));
        self.put(&mut bytes);
        bytes
    }

    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        for card in &self.cards {
            put_point::<C>(bytes, &card.c1);
            put_point::<C>(bytes, &card.c2);
        }
    }

    /// How many bytes a deck of so many cards takes.
    #[must_use]
    pub fn encoded_bytes(size: usize) -> usize {
        bytes_of::<C>(size.saturating_mul(2), 0)
    }

    /// Reads a deck of so many cards.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of such a deck.
    pub fn decode(bytes: &[u8], size: usize) -> Result<Self, DeckDecodeError> {
        Self::read(&mut ByteReader::exactly(bytes, Self::encoded_bytes(size))?, size)
    }

    pub(crate) fn read(reader: &mut ByteReader<'_>, size: usize) -> Result<Self, DeckDecodeError> {
        let card = |_| Ok(Ciphertext { c1: reader.point::<C>()?, c2: reader.point::<C>()? });
        Ok(Self::of((0..size).map(card).collect::<Result<_, _>>()?))
    }

    /// Whether a card is open in it, as all are in the first deck and none may be in any other.
    pub(crate) fn has_identity(&self) -> bool {
        self.cards.iter().any(|card| card.c1.is_zero() || card.c2.is_zero())
    }
}
