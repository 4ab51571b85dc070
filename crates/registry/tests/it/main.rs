//! The registry's stories: real books on disk, decisions from memory, rows as the journal has them.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod acts;
mod audit;
mod memory;
mod operators;
mod overrides;
mod owner;
mod players;
mod registration;
mod rotation;
mod sessions;
mod world;
