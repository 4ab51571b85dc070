//! The tests of the crate, by topic.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::pedantic,
    reason = "a panic in a test is its report"
)]

mod amounts;
mod assets;
mod names;
