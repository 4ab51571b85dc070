//! The authors of messages in a log.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Seat;

/// The author of a message. A player who also shuffles is two actors, with a count of messages for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// Runs the table: starts hands, calls time, settles.
    Operator,
    /// A shuffler, by its index in the order of shuffling.
    Shuffler(u8),
    Seat(Seat),
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str("the operator"),
            // Counted from one in messages, as seats are.
            Self::Shuffler(index) => write!(f, "shuffler {}", u16::from(*index).saturating_add(1)),
            Self::Seat(seat) => fmt::Display::fmt(seat, f),
        }
    }
}
