//! The flow's stories, with a real ledger on disk.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod crashes;
mod deposits;
mod random;
mod stories;
mod world;
