//! Amounts, assets, names and times: the values that every part of Bankroll shares.
//!
//! The ledger, the signer, orders and chains all speak of them; the signer imports nothing else of the ledger's. Pure, and
//! small enough to read before the signer.
//!
//! It guarantees:
//! - arithmetic on an [`Amount`] is exact and checked; there is no operator for it and no rounding but the named one;
//! - a [`Name`] has one spelling, so that two spellings of one wallet cannot become two accounts;
//! - a value has one text, and a text that is not exactly that is refused.
//!
//! It deliberately does not know: accounts, chains' addresses, clocks.

#![deny(missing_docs)]
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
