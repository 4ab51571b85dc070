//! Time as the ledger stores it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Microseconds since 1970 UTC. The writer stamps batches with it; within a ledger it never runs backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
