//! Sets of cards, one bit a card.

use std::fmt;

use crate::Card;

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CardSet(u64);

impl CardSet {
    pub const EMPTY: Self = Self(0);

    /// The set of these cards, if they are distinct.
    ///
    /// # Errors
    /// The first card that comes a second time.
    pub fn of_distinct(cards: impl IntoIterator<Item = Card>) -> Result<Self, Card> {
        let mut set = Self::EMPTY;
        for card in cards {
            if !set.insert(card) {
                return Err(card);
            }
        }
        Ok(set)
    }

    /// Adds a card; false if it was there.
    pub fn insert(&mut self, card: Card) -> bool {
        let is_new = !self.contains(card);
        self.0 |= bit(card);
        is_new
    }

    #[must_use]
    pub fn contains(self, card: Card) -> bool {
        self.0 & bit(card) != 0
    }

    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Card> {
        Card::all().filter(move |card| self.contains(*card))
    }
}

fn bit(card: Card) -> u64 {
    // An index is below 52, so the shift keeps the bit.
    1_u64.wrapping_shl(u32::from(card.index()))
}

impl Extend<Card> for CardSet {
    fn extend<T: IntoIterator<Item = Card>>(&mut self, cards: T) {
        for card in cards {
            self.insert(card);
        }
    }
}

impl FromIterator<Card> for CardSet {
    fn from_iter<T: IntoIterator<Item = Card>>(cards: T) -> Self {
        let mut set = Self::EMPTY;
        set.extend(cards);
        set
    }
}

impl fmt::Debug for CardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
