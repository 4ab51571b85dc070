//! The signer under stories, under random streams, under the axe, and beside an independent decoder.
//!
//! | module | what it shows |
//! | --- | --- |
//! | `rules` | each rule, with visible values |
//! | `heads` | a memory that is not all that was answered from is noticed, and stops everything |
//! | `streams` | every answer is the one an independent model gives, with restarts and ends in between |
//!
//! Every random choice follows from a seed that is printed; `BANKROLL_TEST_SEED` repeats it, and with
//! `BANKROLL_SOAK_SECONDS` the random tests go on with new seeds for about so long.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod heads;
mod rules;
mod streams;
mod world;
