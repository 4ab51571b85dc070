//! Tests of decks: what honest parties do, and what a cheat tries.
//!
//! Every random choice follows from a seed that is printed; `BANKROLL_TEST_SEED` repeats it, and with
//! `BANKROLL_SOAK_SECONDS` the random tests go on for about so long.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::pedantic,
    reason = "a test that panics has said what it has to say"
)]

mod cards;
mod codec;
mod contexts;
mod deals;
mod equality;
mod forgeries;
mod keys;
mod mutations;
mod run;
mod setup;
mod shuffles;
mod threshold;
