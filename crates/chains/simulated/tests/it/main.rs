//! The simulated chain: commands, transactions and JSON-RPC. The tests of the client compare its hashes and costs with
//! anvil.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop loudly")]

mod balances;
mod commands;
mod forks;
mod golden;
mod histories;
mod market;
mod mempool;
mod rpc;
mod tokens;
mod traces;
mod unlocked;
mod world;
