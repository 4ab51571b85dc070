//! The store's stories, on real files.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod admission;
mod ahead;
mod edited;
mod facts;
mod files;
mod inbox;
mod index;
mod interrupts;
mod keys;
mod money;
mod moving;
mod opening;
mod reading;
mod rows;
mod searching;
mod statements;
mod world;
