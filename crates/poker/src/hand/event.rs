//! What can happen in a hand.

use serde::{Deserialize, Serialize};

use crate::{Card, Chips, Seat};

/// Something that happened. Who may say so, and how it is proven, is the log's affair.
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
    /// A seat proved its cards. In a showdown anybody may do so before his turn.
    Shown {
        seat: Seat,
        /// Both cards, in the order of the card plan.
        cards: [Card; 2],
    },
    /// The seat whose turn it is to show gives up instead.
    Mucked { seat: Seat },
    /// The operator was away: whoever is awaited has his full time again.
    ClockRestarted,
    /// The hand is void; everybody has what he had before it.
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
    /// Cards could not be opened in time because these did not do their part.
    Missing {
        /// Who, at least one.
        who: Vec<MissingParty>,
    },
    /// The host ended the game.
    HostEnded,
}

/// Somebody without whom no card can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingParty {
    /// A shuffler, by his place in the order of shuffling.
    Shuffler(u16),
    Seat(Seat),
}
