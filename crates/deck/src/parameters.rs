//! What all hands on a curve have in common: the points of the cards, the first deck, the bases of commitments.
//!
//! All of it is hashed to the group, so it needs no setup and no party has a trapdoor. Building it takes a few
//! milliseconds; one copy serves a whole program.
//!
//! It knows cards as numbers from 0; which number is the ace of spades is for the rules to say.

use std::collections::BTreeMap;

use ark_ec::AffineRepr;

use crate::{
    Ciphertext, Curve, Deck,
    codec::put_point,
    curve::Point,
    hash_to_group::{PointPurpose, point},
};

/// Cards in a full deck.
pub const DECK_SIZE: usize = FULL as usize;
const FULL: u8 = 52;

/// A card's number, from 0.
pub type DeckCard = u8;

/// No deck can have so many cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a deck has 2 to {DECK_SIZE} cards, not {size}")]
pub struct SizeError {
    pub size: usize,
}

/// The fixed points of a curve, for decks of one size.
#[derive(Clone, Debug)]
pub struct Parameters<C: Curve> {
    cards: Vec<Point<C>>,
    numbers: BTreeMap<Vec<u8>, DeckCard>,
    /// The base of the blinding, then one for each card.
    pub(crate) bases: Vec<Point<C>>,
}

impl<C: Curve> Parameters<C> {
    /// For decks of 52.
    #[must_use]
    pub fn standard() -> Self {
        Self::of(FULL)
    }

    /// For decks of another size, from 2 to 52.
    ///
    /// # Errors
    /// If there is no deck of that size. One card cannot be shuffled.
    pub fn with_size(size: usize) -> Result<Self, SizeError> {
        let small = u8::try_from(size).ok().filter(|small| (2..=FULL).contains(small));
        small.map(Self::of).ok_or(SizeError { size })
    }

    fn of(size: u8) -> Self {
        C::parameters(size)
    }

    pub(crate) fn hashed(size: u8) -> Self {
        let cards: Vec<_> = (0..size).map(|card| point::<C>(PointPurpose::Card, card.into())).collect();
        let numbers = cards.iter().map(key::<C>).zip(0..).collect();
        let bases = (0..=size).map(|base| point::<C>(PointPurpose::CommitmentBase, base.into())).collect();
        Self { cards, numbers, bases }
    }

    /// How many cards a deck has.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.cards.len()
    }

    /// The point that stands for a card.
    #[must_use]
    pub fn point(&self, card: DeckCard) -> Option<&Point<C>> {
        self.cards.get(usize::from(card))
    }

    /// The card that a point stands for.
    #[must_use]
    pub fn card(&self, point: &Point<C>) -> Option<DeckCard> {
        self.numbers.get(&key::<C>(point)).copied()
    }

    /// The deck that the first shuffler starts from: all cards in order, encrypted with no randomness at all, so that
    /// no party needs to trust another about its contents.
    #[must_use]
    pub fn first_deck(&self) -> Deck<C> {
        let open = |card: &Point<C>| Ciphertext { c1: Point::<C>::zero(), c2: *card };
        Deck::of(self.cards.iter().map(open).collect())
    }
}

fn key<C: Curve>(point: &Point<C>) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_point::<C>(&mut bytes, point);
    bytes
}
