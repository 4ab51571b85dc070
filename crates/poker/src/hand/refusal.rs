//! Refusals: values, not errors; the first broken rule is reported.

use serde::{Deserialize, Serialize};

use super::PhaseName;
use crate::{Card, Chips, HandTime, Seat};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum HandRefusal {
    /// Chips have been paid out or given back.
    #[error("the hand is over ({phase:?})")]
    HandIsOver { phase: PhaseName },
    /// This kind of event does not belong to the phase.
    #[error("this cannot happen while the hand is in {phase:?}")]
    WrongPhase { phase: PhaseName },
    /// The seat takes no part.
    #[error("{seat} takes no part in this hand")]
    NotInHand { seat: Seat },
    /// It is another's turn.
    #[error("it is the turn of {to_act}, not of {seat}")]
    NotYourTurn {
        seat: Seat,
        /// Whose turn it is.
        to_act: Seat,
    },
    /// The deadline is not over.
    #[error("the deadline is {deadline}, and it is {at}")]
    TooEarly { deadline: HandTime, at: HandTime },

    // Betting.
    /// A check, though something is owed.
    #[error("{owed} chips are owed: call, raise or fold")]
    CannotCheck { owed: Chips },
    /// A call, though nothing is owed.
    #[error("nothing is owed: check or bet")]
    NothingToCall,
    /// A fold, though nothing is owed and the rules do not allow it.
    #[error("nothing is owed: no reason to fold")]
    NothingToFoldTo,
    /// The whole stack does not exceed the bet.
    #[error("the stack reaches {reach}, which is no more than the bet of {bet}: call or fold")]
    StackTooShort {
        /// The most that can lie before the seat.
        reach: Chips,
        bet: Chips,
    },
    /// The seat has acted, and what was raised since is less than a full raise.
    #[error("the bet went from {faced} to {bet} since the seat acted, less than a full raise of {raise}: call or fold")]
    RaiseNotReopened {
        /// The bet when it acted.
        faced: Chips,
        bet: Chips,
        raise: Chips,
    },
    /// No other seat could put in more than the bet.
    #[error("no other seat can call more than {bet}")]
    NobodyToCall { bet: Chips },
    /// Less than a full raise, and not all-in.
    #[error("a raise to {to} is too small: it must be to {least} or more")]
    RaiseTooSmall { to: Chips, least: Chips },
    /// More than the stack.
    #[error("a raise to {to} is more than the {most} the seat has")]
    RaiseTooLarge { to: Chips, most: Chips },

    // Cards.
    /// Not as many cards as the street has.
    #[error("the street has {wanted} cards, not {given}")]
    BoardCount { wanted: usize, given: usize },
    /// The card is open already, or came twice.
    #[error("{card} occurs twice")]
    CardTwice { card: Card },
    /// The seat folded, or has shown or mucked.
    #[error("{seat} has nothing to show")]
    NothingToShow { seat: Seat },
    /// All hands are opened after an all-in.
    #[error("{seat} must show: all hands are opened after an all-in")]
    MustShow { seat: Seat },
    /// A void for missing participants that names none.
    #[error("the void names no missing participant")]
    NobodyNamed,
}

impl HandRefusal {
    /// The stable code that callers see.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::HandIsOver { .. } => "hand_is_over",
            Self::WrongPhase { .. } => "wrong_phase",
            Self::NotInHand { .. } => "not_in_hand",
            Self::NotYourTurn { .. } => "not_your_turn",
            Self::TooEarly { .. } => "too_early",
            Self::CannotCheck { .. } => "cannot_check",
            Self::NothingToCall => "nothing_to_call",
            Self::NothingToFoldTo => "nothing_to_fold_to",
            Self::StackTooShort { .. } => "stack_too_short",
            Self::RaiseNotReopened { .. } => "raise_not_reopened",
            Self::NobodyToCall { .. } => "nobody_to_call",
            Self::RaiseTooSmall { .. } => "raise_too_small",
            Self::RaiseTooLarge { .. } => "raise_too_large",
            Self::BoardCount { .. } => "board_count",
            Self::CardTwice { .. } => "card_twice",
            Self::NothingToShow { .. } => "nothing_to_show",
            Self::MustShow { .. } => "must_show",
            Self::NobodyNamed => "nobody_named",
        }
    }
}
