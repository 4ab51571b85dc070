//! How strong a hand is: one number, so that comparing two hands is comparing two integers.

use serde::{Deserialize, Serialize};

/// The nine kinds of hands, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandClass {
    /// Nothing.
    HighCard,
    /// Two of a rank.
    Pair,
    /// Two of a rank, twice.
    TwoPair,
    /// Three of a rank.
    Trips,
    /// Five ranks in a row; the ace may stand below the two.
    Straight,
    /// Five of a suit.
    Flush,
    /// Three of a rank and two of another.
    FullHouse,
    /// Four of a rank.
    Quads,
    /// Five of a suit in a row.
    StraightFlush,
}

impl HandClass {
    /// Every class, weakest first.
    pub const ALL: [Self; 9] = [
        Self::HighCard,
        Self::Pair,
        Self::TwoPair,
        Self::Trips,
        Self::Straight,
        Self::Flush,
        Self::FullHouse,
        Self::Quads,
        Self::StraightFlush,
    ];

    /// How many different strengths are of this class; 7,462 in all.
    #[must_use]
    pub const fn strengths(self) -> u16 {
        match self {
            Self::HighCard | Self::Flush => 1277,
            Self::Pair => 2860,
            Self::TwoPair | Self::Trips => 858,
            Self::Straight | Self::StraightFlush => 10,
            Self::FullHouse | Self::Quads => 156,
        }
    }
}

/// The strength of a hand's best five cards: 0 for seven-five-four-three-two, 7,461 for a royal flush. Equal strengths
/// share the pot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Strength(pub(super) u16);

impl Strength {
    pub const COUNT: u16 = 7462;

    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }

    #[must_use]
    pub fn class(self) -> HandClass {
        let mut below = 0_u16;
        for class in HandClass::ALL {
            below = below.saturating_add(class.strengths());
            if self.0 < below {
                return class;
            }
        }
        HandClass::StraightFlush
    }
}
