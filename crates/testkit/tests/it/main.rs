//! The ledger under load, under attack and under the axe, on real files.
//!
//! | module | what it shows |
//! | --- | --- |
//! | `random_streams` | every answer is the one an independent model gives, with restarts in between |
//! | `past` | statements, balances at a time and searches say what was answered then, whatever happens to the index |
//! | `races` | money that many want at once is spent once; a queue that is full says so |
//! | `crash` | nothing acknowledged is lost and nothing is half done, however the process, the disk or the power ends |
//! | `sim` | the whole world from a seed keeps every promise, and planted bugs are found |
//! | `postgres` | the same when the server, the way to it, a standby or another writer is what fails |
//!
//! Every random choice follows from a seed that is printed; `BANKROLL_TEST_SEED` repeats it, and with
//! `BANKROLL_SOAK_SECONDS` the random tests go on with new seeds for about so long.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crash;
mod edges;
mod past;
mod postgres;
mod races;
mod random_streams;
mod run;
mod sim;
mod world;
