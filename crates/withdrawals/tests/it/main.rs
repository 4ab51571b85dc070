//! The flow's stories: a simulated chain and the real signer in process, real books on disk, and everything that can come
//! between them.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod askers;
mod attention;
mod crashes;
mod faults;
mod fees;
mod findings;
mod freezes;
mod front_door;
mod intents;
mod random;
mod refunds;
mod reorgs;
mod world;
