//! Cards: rank, suit, the text "As", and the index that the sealed deck uses.
//!
//! The index is `suit * 13 + rank` with suits in the order clubs, diamonds, hearts, spades and ranks from two to ace,
//! so 0 is the two of clubs and 51 the ace of spades. It is part of the log's format and never changes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One of 52 cards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Card(u8);

/// How many cards a deck has.
pub const DECK: u8 = 52;

const RANKS: &str = "23456789TJQKA";
const SUITS: &str = "cdhs";

/// From two to ace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(u8);

/// Clubs, diamonds, hearts or spades; no suit beats another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Suit(u8);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// 52 or more.
    #[error("a card's index is below 52, not {index}")]
    IndexTooLarge { index: u8 },
    /// Not a rank of `23456789TJQKA` and a suit of `cdhs`.
    #[error("a card is a rank of {RANKS} and a suit of {SUITS}, not {text:?}")]
    Malformed { text: String },
}

impl Rank {
    /// Two is 0, ace is 12.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The letter or digit.
    #[must_use]
    pub fn letter(self) -> char {
        RANKS.chars().nth(usize::from(self.0)).unwrap_or('?')
    }
}

impl Suit {
    /// Clubs 0, diamonds 1, hearts 2, spades 3.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    #[must_use]
    pub fn letter(self) -> char {
        SUITS.chars().nth(usize::from(self.0)).unwrap_or('?')
    }
}

impl Card {
    /// The card of this index.
    ///
    /// # Errors
    /// If there is none.
    pub const fn from_index(index: u8) -> Result<Self, CardError> {
        if index < DECK { Ok(Self(index)) } else { Err(CardError::IndexTooLarge { index }) }
    }

    /// `suit * 13 + rank`.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }

    #[must_use]
    pub const fn rank(self) -> Rank {
        Rank(self.0 % 13)
    }

    #[must_use]
    pub const fn suit(self) -> Suit {
        Suit(self.0 / 13)
    }

    /// The whole deck by index.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..DECK).map(Self)
    }

    /// Cards written together, such as `AsKd`.
    ///
    /// # Errors
    /// If any two characters are not a card.
    pub fn parse_many(text: &str) -> Result<Vec<Self>, CardError> {
        let letters: Vec<char> = text.chars().collect();
        letters.chunks(2).map(|pair| pair.iter().collect::<String>().parse()).collect()
    }
}

impl Serialize for Card {
    /// `As` where people read it, the index elsewhere.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Card {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
        } else {
            u8::deserialize(deserializer).and_then(|index| Self::from_index(index).map_err(de::Error::custom))
        }
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.rank().letter(), self.suit().letter())
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Card {
    type Err = CardError;

    fn from_str(text: &str) -> Result<Self, CardError> {
        let malformed = || CardError::Malformed { text: text.to_owned() };
        let mut letters = text.chars();
        let (Some(rank), Some(suit), None) = (letters.next(), letters.next(), letters.next()) else {
            return Err(malformed());
        };
        let of = |letters: &str, letter| letters.chars().zip(0_u8..).find(|(l, _)| *l == letter).map(|(_, at)| at);
        let (rank, suit) = (of(RANKS, rank).ok_or_else(malformed)?, of(SUITS, suit).ok_or_else(malformed)?);
        // At most 3 * 13 + 12.
        Ok(Self(suit.saturating_mul(13).saturating_add(rank)))
    }
}
