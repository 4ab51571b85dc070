//! Quantities on chains have 256 bits; the ledger counts 128.

use std::fmt;

use alloy_primitives::U256;
use bankroll_money::Amount;

/// A quantity of wei or of a token's base units, exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(U256);

/// A quantity of 2^128 or more: valid on its chain, but the ledger cannot book it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is above the largest amount of the ledger (2^128 - 1)")]
pub struct AmountOverflow(pub U256);

impl Quantity {
    pub const fn new(units: U256) -> Self {
        Self(units)
    }

    pub const fn units(self) -> U256 {
        self.0
    }

    pub fn is_zero(self) -> bool {
        self.0.is_zero()
    }

    pub fn amount(self) -> Result<Amount, AmountOverflow> {
        u128::try_from(self.0).map(Amount::new).map_err(|_| AmountOverflow(self.0))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl From<Amount> for Quantity {
    fn from(amount: Amount) -> Self {
        Self(U256::from(amount.units()))
    }
}
