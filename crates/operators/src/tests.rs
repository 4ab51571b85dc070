//! Tests: a world of people with real keys who send signed requests.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test that fails may panic")]

mod interleavings;
mod log;
mod proposals;
mod rights;
mod world;
