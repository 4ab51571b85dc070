//! The referee of no-limit hold'em.
//!
//! This crate defines a hand of poker: cards, the order of play, what may be bet, who wins what. It is pure (no IO, no
//! clock; randomness is an argument), so that the operator, a player's client and an auditor with a file agree.
//!
//! It guarantees, for every hand of 2 to 10 seats:
//! - no chip is made or lost by any event;
//! - the seat to act always has a legal action, and every other action is refused with the rule it breaks;
//! - the same snapshot and events give the same bytes, and so the same state hash, everywhere.
//!
//! The rules know no keys and no sealed cards; the [`log`] joins them with the deck into a verifiable hand.
//!
//! It deliberately does not know: money, wallets, networks, storage, and what time it is.
//!
//! | to learn | read |
//! | --- | --- |
//! | what a card and a chip are | [`Card`], [`CardSet`], [`Chips`] |
//! | what a table may choose | [`TableRules`] |
//! | what a hand begins with | [`Snapshot`], [`CardPlan`] |
//! | what can happen, and what is refused | [`HandEvent`], [`PlayerAction`], [`Hand::apply`], [`HandRefusal`] |
//! | what the seat to act may do | [`Hand::legal`] |
//! | how chips in the middle are divided | [`pots`], [`uncalled`], [`Settlement`] |
//! | which hand wins | [`Evaluator`], [`Strength`] |
//! | how hands are written for others to read | [`phh`] |
//! | how a hand is signed, ordered, proven and checked | [`log`] |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic, clippy::indexing_slicing)]
#![warn(clippy::pedantic)]
#![allow(clippy::missing_panics_doc, reason = "what panics here is a bug of this crate, never input")]

mod card;
mod card_set;
mod chips;
pub mod codec;
mod evaluator;
mod hand;
pub mod log;
pub mod phh;
mod plan;
mod pots;
mod rules;
mod seat;
mod snapshot;

pub use card::{Card, CardError, DECK, Rank, Suit};
pub use card_set::CardSet;
pub use chips::Chips;
pub use evaluator::{Evaluator, HandClass, Strength, strength};
pub use hand::{
    Award, Betting, Hand, HandEvent, HandRefusal, LegalActions, MissingParty, Phase, PhaseName, Player, PlayerAction,
    RaiseRange, SeatStatus, Settlement, Showdown, Street, VoidCause,
};
pub use plan::CardPlan;
pub use pots::{Pot, Stake, pots, uncalled};
pub use rules::{AllIn, BlindPosting, DecisionClock, Rake, ShortBigBlind, TableRules};
pub use seat::{HandTime, Seat};
pub use snapshot::{SeatStack, Snapshot, SnapshotError};

#[cfg(test)]
mod tests;
