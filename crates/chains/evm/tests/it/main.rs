//! The client against real counterparts: the simulated chain in process, anvil in its own, and sockets with invalid
//! answers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop loudly")]

mod anvil;
mod anvil_blocks;
mod differential;
mod heads;
mod hostile;
mod lies;
mod providers;
mod ranges;
mod reading;
mod real_blocks;
mod reorgs;
mod sending;
mod socket;
mod world;
