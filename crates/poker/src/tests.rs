//! Tests of the rules, by topic. Text in, expected values visible (see `story`).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::pedantic,
    reason = "a test that panics has said what it has to say"
)]

mod betting;
mod blinds;
mod bytes;
mod cards;
mod clock;
mod histories;
mod pots;
mod rake;
mod reopening;
mod showdown;
mod snapshots;
mod story;
mod void;

pub fn seed() -> u64 {
    let seed = std::env::var("BANKROLL_TEST_SEED").map_or(20_261_115, |seed| seed.parse().unwrap());
    println!("seed {seed} (repeat with BANKROLL_TEST_SEED={seed})");
    seed
}
