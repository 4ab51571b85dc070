//! The store's stories, on real files.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod money;
mod world;
