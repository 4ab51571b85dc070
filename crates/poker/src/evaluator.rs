//! The evaluator: which of two seven-card hands is better.
//!
//! A hand is seven additions, one test for a flush and two lookups in tables small enough for the second cache. The
//! tables are built in memory when the first hand is evaluated (see `tables`), from the definition of the game
//! (see `describe`).
//!
//! It guarantees an order equal to the game's on every one of the 133,784,560 hands of seven cards; a test goes through
//! all of them. It does not know betting, and it does not check that the cards are distinct: the referee does.

mod describe;
mod strength;
mod tables;

pub use strength::{HandClass, Strength};

use std::sync::LazyLock;

use crate::Card;
use tables::{Tables, WEIGHTS};

static EVALUATOR: LazyLock<Evaluator> = LazyLock::new(|| Evaluator(Tables::build()));

/// The tables, ready for use.
pub struct Evaluator(Tables);

/// The weight of a card's rank in the lower half; in the upper half one more card of its suit, four bits a suit.
const KEYS: [u64; 64] = keys();

impl Evaluator {
    /// The one evaluator of the program. Fetch it once before a loop.
    #[must_use]
    pub fn get() -> &'static Self {
        &EVALUATOR
    }

    /// The strength of the best five of seven distinct cards.
    #[must_use]
    #[inline]
    pub fn strength(&self, cards: &[Card; 7]) -> Strength {
        let sum = cards.iter().fold(0_u64, |sum, card| sum.wrapping_add(key(*card)));
        let suits = sum >> 32;
        // Three more reach the highest of the four bits exactly when there are five or more of a suit.
        let flush = suits.wrapping_add(0x3333) & 0x8888;
        if flush != 0 {
            return Strength(self.0.suited(suited_mask(*cards, flush.trailing_zeros() / 4)));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let ranks = sum as u32;
        Strength(self.0.unsuited(ranks))
    }
}

/// The strength of the best five of seven distinct cards.
#[must_use]
pub fn strength(cards: &[Card; 7]) -> Strength {
    Evaluator::get().strength(cards)
}

fn suited_mask(cards: [Card; 7], suit: u32) -> u16 {
    let suited = cards.iter().filter(|card| u32::from(card.suit().index()) == suit);
    suited.fold(0, |mask, card| mask | 1_u16.wrapping_shl(card.rank().index().into()))
}

#[inline]
#[expect(clippy::indexing_slicing, reason = "64 entries, six bits")]
fn key(card: Card) -> u64 {
    KEYS[usize::from(card.index() & 63)]
}

#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "worked out while compiling")]
const fn keys() -> [u64; 64] {
    let mut keys = [0; 64];
    let mut index = 0;
    while index < 52 {
        keys[index] = WEIGHTS[index % 13] as u64 | 1 << (32 + 4 * (index / 13));
        index += 1;
    }
    keys
}

#[cfg(test)]
#[path = "tests/evaluator.rs"]
mod tests;
