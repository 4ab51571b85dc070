//! The tests of the crate, by topic.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::pedantic,
    reason = "a test that panics has said what it has to say"
)]

mod amounts;
mod assets;
mod names;
