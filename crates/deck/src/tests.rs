//! Stories about decks: what an honest table does, and what a cheat tries.
//!
//! Every random choice follows from a seed that is printed; `BANKROLL_TEST_SEED` repeats it, and with
//! `BANKROLL_SOAK_SECONDS` the random tests go on for about so long.

mod cards;
mod codec;
mod contexts;
mod deals;
mod equality;
mod forgeries;
mod keys;
mod mutations;
mod run;
mod shuffles;
mod table;
mod threshold;
