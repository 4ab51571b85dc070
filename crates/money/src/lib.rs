//! Amounts, assets, names and times: the values that every part of Bankroll shares.
//!
//! The ledger, the signer, orders and chains all use them; the signer depends on nothing else of the ledger. Pure, and
//! small enough to read before the signer.
//!
//! It guarantees:
//! - arithmetic on an [`Amount`] is exact and checked, without operators; only [`Amount::basis_points`] rounds;
//! - a [`Name`] has one spelling, so that two spellings of one wallet cannot become two accounts;
//! - a value has exactly one text form, and every other text is refused.
//!
//! It deliberately does not know: accounts, chains' addresses, clocks.

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic, clippy::indexing_slicing)]
#![warn(clippy::pedantic)]

mod amount;
mod asset;
mod name;
mod time;

pub use amount::{Amount, AmountError, Total};
pub use asset::{Asset, AssetId, Unit};
pub use name::{Name, NameError};
pub use time::Time;

#[cfg(test)]
mod tests;
