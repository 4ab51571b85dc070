//! The seed of every random choice in a test run.

use std::time::{SystemTime, UNIX_EPOCH};

/// The tests read their seed from this variable.
pub const VARIABLE: &str = "BANKROLL_TEST_SEED";

/// The given seed, or one from the clock, reduced to nine digits so that it is easy to retype.
#[expect(clippy::disallowed_methods, reason = "only the choice of a seed depends on it, and the seed is printed")]
pub fn given_or_new(given: Option<u64>) -> u64 {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    given.unwrap_or_else(|| now().as_micros() as u64 % 1_000_000_000)
}
