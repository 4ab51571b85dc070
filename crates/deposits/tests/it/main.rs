//! The flow's stories: a simulated chain in process, real books on disk, and everything that can come between them.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod anvil;
mod attention;
mod conditions;
mod crashes;
mod crediting;
mod findings;
mod forgeries;
mod lies;
mod outgoing;
mod providers;
mod providers_random;
mod random;
mod reorgs;
mod reviews;
mod transfers;
mod unsent;
mod world;
