//! One position of the final deck and the state of its card.
//!
//! Of the card `(c1, c2)`, blinded for a seat, each party derives `D = sum(a)`, `A = c1 + D`, `B = c2 + sum(b)` when
//! all blindings are there, and `E = B - sum(weighted shares)` when enough shares are: `(D, E)` is the card encrypted
//! to the player alone. None of them is ever taken from a message.

#![allow(clippy::arithmetic_side_effects, reason = "arithmetic of a field and a group; neither can overflow")]

use std::collections::BTreeMap;

use crate::{
    Blinding, Ciphertext, Curve, DeckCard, HandKeys, SecretKey, Share,
    curve::{Point, Scalar},
};

/// Where a card of the final deck goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To a player.
    Seat(u8),
    /// On the board.
    Board,
    /// Nowhere: burned, or never dealt. It is never opened.
    Nowhere,
}

/// A hole card that all blinders have blinded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlindedCard<C: Curve> {
    pub(crate) a: Point<C>,
    pub(crate) b: Point<C>,
    pub(crate) d: Point<C>,
}

/// A hole card encrypted to its player: `(D, E)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealedCard<C: Curve> {
    pub(crate) d: Point<C>,
    pub(crate) e: Point<C>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CardPlace<C: Curve> {
    pub card: Ciphertext<C>,
    pub destination: Destination,
    pub blindings: BTreeMap<u8, Blinding<C>>,
    pub blinded: Option<BlindedCard<C>>,
    pub shares: BTreeMap<u8, Share<C>>,
    pub sealed: Option<SealedCard<C>>,
    pub opened: Option<DeckCard>,
}

impl<C: Curve> CardPlace<C> {
    pub fn new(card: Ciphertext<C>, destination: Destination) -> Self {
        let (blindings, shares) = (BTreeMap::new(), BTreeMap::new());
        Self { card, destination, blindings, blinded: None, shares, sealed: None, opened: None }
    }

    /// Sums up the blindings: `(A, B, D)`.
    pub fn sum_blindings(&self) -> BlindedCard<C> {
        let d = C::sum_of(&mut self.blindings.values().map(|part| part.a));
        let b = C::sum_of(&mut self.blindings.values().map(|part| part.b));
        BlindedCard { a: (d + self.card.c1).affine(), b: (b + self.card.c2).affine(), d: d.affine() }
    }

    /// The point without the layers of a quorum.
    pub fn without_layers(&self, keys: &HandKeys<C>, point: &Point<C>) -> Point<C> {
        let quorum = || self.shares.iter().take(keys.quorum());
        let shufflers: Vec<u8> = quorum().map(|(shuffler, _)| *shuffler).collect();
        let layers: Vec<(Point<C>, Scalar<C>)> =
            quorum().map(|(_, share)| share.point).zip(keys.weights(&shufflers)).collect();
        C::without_multiples(point, &layers)
    }
}

impl<C: Curve> SealedCard<C> {
    /// The card's point, computed with the player's multiple of `D`.
    pub(super) fn without(&self, multiple: &Point<C>) -> Point<C> {
        (C::from(self.e) - multiple).affine()
    }

    /// The card's point, for the player.
    pub(crate) fn for_player(&self, secret: &SecretKey<C>) -> Point<C> {
        (C::from(self.e) - C::times(&self.d, secret.scalar())).affine()
    }
}
