//! The ledger under load, under attack and under faults, on real files.
//!
//! | module | what it shows |
//! | --- | --- |
//! | `random_streams` | every answer is the one of an independent model, with restarts in between |
//! | `past` | statements, balances at a time and searches agree with the answers, whatever happens to the index |
//! | `races` | money that many request at once is spent once; a full queue refuses |
//! | `crash` | nothing acknowledged is lost and nothing is half done, however process, disk or power fails |
//! | `damage` | a damaged file or an edited row is refused, repaired or harmless, never believed |
//! | `sim` | the whole system from a seed keeps every promise, and planted bugs are found |
//! | `postgres` | the same when the server, the connection, a standby or another writer fails |
//!
//! Every random choice follows from a seed that is printed; `BANKROLL_TEST_SEED` repeats it, and with
//! `BANKROLL_SOAK_SECONDS` the random tests continue with new seeds for about that long.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crash;
mod damage;
mod edges;
mod past;
mod postgres;
mod races;
mod random_streams;
mod run;
mod sim;
mod world;
