//! The signer: single rules, random streams, crashes, and an independent decoder.
//!
//! | module | what it shows |
//! | --- | --- |
//! | `rules` | each rule, with visible values |
//! | `heads` | a memory that lost entries stops the signer |
//! | `streams` | every answer equals that of an independent model, with restarts and crashes |
//! | `memory` | what a memory refuses to open, byte by byte |
//! | `crash` | the real process, killed at each write and sync, with a full disk, with syncs that fail |
//! | `socket` | which users are served; hostile frames have no effect |
//! | `program` | the commands |
//! | `keystore` | key files |
//! | `seed` | seeds, and the wallets derived from them |
//! | `referee` | ethers, an independent library, reads what was signed and opens the key files |
//!
//! Every random choice follows from a seed that is printed; `BANKROLL_TEST_SEED` repeats it, and with
//! `BANKROLL_SOAK_SECONDS` the random tests go on with new seeds for about so long.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod crash;
mod heads;
mod keystore;
mod memory;
mod process;
mod program;
mod referee;
mod rules;
mod seed;
mod socket;
mod streams;
mod world;
