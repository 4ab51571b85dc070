//! The tests of the crate, by topic. Most are stories: text in, expected values visible (see `story`).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::pedantic,
    reason = "a panic in a test is its report"
)]

mod access;
mod debts;
mod early;
mod facts;
mod holds;
mod keys;
mod legs;
mod merkle;
mod names;
mod order;
mod reach;
mod receipts;
mod records;
mod rejections;
mod replay;
mod reversals;
mod rooted;
mod story;
mod trees;
