//! Where a hand stands, with what only that phase knows.

use serde::{Deserialize, Serialize};

use super::{Settlement, VoidCause};
use crate::{Chips, HandTime, Seat};

/// A round of betting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Street {
    /// Hole cards only.
    Preflop,
    /// Three board cards.
    Flop,
    /// Four.
    Turn,
    /// Five.
    River,
}

impl Street {
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::Preflop => Some(Self::Flop),
            Self::Flop => Some(Self::Turn),
            Self::Turn => Some(Self::River),
            Self::River => None,
        }
    }

    /// How many board cards it opens.
    #[must_use]
    pub const fn cards(self) -> usize {
        match self {
            Self::Preflop => 0,
            Self::Flop => 3,
            Self::Turn | Self::River => 1,
        }
    }
}

/// Where a hand stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Phase {
    /// Blinds are posted; the hole cards are being dealt.
    Dealing {
        /// When the shufflers are late.
        deadline: HandTime,
    },
    /// A seat is to act.
    Betting(Betting),
    /// The cards of a street are being opened.
    Opening {
        street: Street,
        /// When the shufflers are late.
        deadline: HandTime,
    },
    /// Hands are being shown.
    Showdown(Showdown),
    /// Chips have been paid out.
    Settled(Settlement),
    /// Every seat has its stack from before the hand.
    Void(VoidCause),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Betting {
    pub street: Street,
    /// Whose turn it is.
    pub to_act: Seat,
    /// What a seat must have before it to stay in.
    pub bet: Chips,
    /// The last full raise; the next one must be as large.
    pub raise: Chips,
    /// Who bet or raised last on this street. Posting a blind is neither.
    pub aggressor: Option<Seat>,
    /// When the seat is late.
    pub deadline: HandTime,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Showdown {
    /// The seats that have yet to show or muck, in order; never empty.
    pub to_show: Vec<Seat>,
    /// Whether mucking is refused, because all hands are opened after an all-in.
    pub must_show: bool,
    /// The street to open afterwards, if hands are opened before the board is complete.
    pub then: Option<Street>,
    /// When the first of them is late.
    pub deadline: HandTime,
}

/// The name of a phase, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseName {
    Dealing,
    Betting,
    Opening,
    Showdown,
    Settled,
    Void,
}

impl Phase {
    #[must_use]
    pub fn name(&self) -> PhaseName {
        match self {
            Self::Dealing { .. } => PhaseName::Dealing,
            Self::Betting(_) => PhaseName::Betting,
            Self::Opening { .. } => PhaseName::Opening,
            Self::Showdown(_) => PhaseName::Showdown,
            Self::Settled(_) => PhaseName::Settled,
            Self::Void(_) => PhaseName::Void,
        }
    }

    /// Whether nothing more can happen.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Settled(_) | Self::Void(_))
    }

    /// The deadline of the awaited seat or shufflers.
    #[must_use]
    pub fn deadline(&self) -> Option<HandTime> {
        match self {
            Self::Dealing { deadline } | Self::Opening { deadline, .. } => Some(*deadline),
            Self::Betting(betting) => Some(betting.deadline),
            Self::Showdown(showdown) => Some(showdown.deadline),
            Self::Settled(_) | Self::Void(_) => None,
        }
    }
}
