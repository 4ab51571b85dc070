//! The flow's stories, with a real ledger on disk, and deliveries over real sockets.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod answers;
mod crashes;
mod delivering;
mod endpoints;
mod giving_up;
mod random;
mod receiver;
mod referee;
mod requests;
mod rights;
mod targets;
mod workers;
mod world;
