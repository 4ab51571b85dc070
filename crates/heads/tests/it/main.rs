//! Publishing, proofs and receipts, with a real ledger on disk.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod crashes;
mod edits;
mod publishing;
mod receipts;
mod world;
