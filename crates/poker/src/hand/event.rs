//! What can happen in a hand.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Card, Chips, Seat};

/// An event of a hand. The log decides who may report it, and how it is proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandEvent {
    /// Every seat has its two cards; the betting can begin.
    HoleCardsDealt,
    /// The seat to act decided.
    Acted { seat: Seat, action: PlayerAction },
    /// The seat's deadline is over: it checks if that is free, else folds; at the showdown it mucks.
    TimedOut { seat: Seat },
    /// The cards of the next street.
    BoardOpened {
        /// Three for the flop, one for the turn and the river.
        cards: Vec<Card>,
    },
    /// A seat proved its cards. In a showdown any seat may do so before its turn.
    Shown {
        seat: Seat,
        /// Both cards, in the order of the card plan.
        cards: [Card; 2],
    },
    /// The seat whose turn it is to show gives up instead.
    Mucked { seat: Seat },
    /// The operator was away: the awaited seat or shufflers get their full time again.
    ClockRestarted,
    /// The hand is void; every seat has its stack from before the hand.
    Voided { cause: VoidCause },
}

/// A betting decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlayerAction {
    /// Give up the hand.
    Fold,
    /// Pass, owing nothing.
    Check,
    /// Put in what is owed, or all there is if that is less.
    Call,
    /// Bet or raise so that this much lies before the seat on this street. All-in is a raise to the whole stack.
    RaiseTo(Chips),
}

/// Why a hand is void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoidCause {
    /// Cards could not be opened in time because these participants sent no contribution.
    Missing {
        /// Who, at least one.
        who: Vec<MissingParty>,
    },
    /// The host ended the game.
    HostEnded,
}

/// A participant without whom no card can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingParty {
    /// A shuffler, by its index in the order of shuffling.
    Shuffler(u16),
    Seat(Seat),
}

impl MissingParty {
    /// Participants in words, for messages.
    #[must_use]
    pub fn list(parties: &[Self]) -> String {
        match parties {
            [] => "no participant".to_owned(),
            some => some.iter().map(Self::to_string).collect::<Vec<_>>().join(", "),
        }
    }
}

impl fmt::Display for MissingParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Counted from one in messages, as seats are.
            Self::Shuffler(index) => write!(f, "shuffler {}", u32::from(*index).saturating_add(1)),
            Self::Seat(seat) => fmt::Display::fmt(seat, f),
        }
    }
}
