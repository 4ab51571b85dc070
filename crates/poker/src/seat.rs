//! Who and when: a seat at the table, and an instant on the operator's clock.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// A chair at the table by its number. Seats may be empty, so the numbers in a hand need not follow each other; the
/// next one clockwise is the next larger, and after the largest comes the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seat(pub u8);

/// An instant in milliseconds since 1970 on the operator's clock. The rules read no clock; every event brings its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HandTime(pub u64);

impl HandTime {
    /// This much later; the end of time if there is no such instant.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seat {}", self.0)
    }
}

impl fmt::Display for HandTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}
