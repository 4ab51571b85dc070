//! The simulated chain as its users meet it: commands, transactions, and bytes of JSON-RPC. Its hashes and costs are refereed
//! by anvil in the tests of the client.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop loudly")]

mod commands;
mod histories;
mod market;
mod mempool;
mod rpc;
mod world;
