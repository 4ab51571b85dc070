//! What a place costs, and how much mass it is. Pure, in whole numbers.

use std::fmt;

use bankroll_ledger::Amount;

use crate::SpawnError;

/// A server's configuration as spawns need it. The caller takes it from the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnTerms {
    /// What enters the world.
    pub price: Amount,
    /// The fees on top, paid where money that is not allocated yet becomes a buy-in.
    pub developer_fee: Amount,
    pub world_fee: Amount,
    /// Mass for one whole coin.
    pub mass_per_coin: u128,
    /// The decimals of the asset.
    pub decimals: u8,
    /// Whether spawns are taken: neither spawns nor the whole server are paused.
    pub accepts: bool,
    /// Whether money that is not allocated may become a buy-in: neither deposits nor the whole server are paused.
    pub allocates: bool,
    /// The version of the configuration; stored with each spawn.
    pub version: u64,
}

/// An amount of mass, exactly: so many units of 10^-decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mass {
    pub units: u128,
    pub decimals: u8,
}

impl SpawnTerms {
    /// The mass of the price.
    ///
    /// # Errors
    /// If it exceeds 128 bits.
    pub fn mass(&self) -> Result<Mass, SpawnError> {
        let units = self.price.units().checked_mul(self.mass_per_coin).ok_or(SpawnError::TooLarge)?;
        Ok(Mass { units, decimals: self.decimals })
    }

    /// What one buy-in takes out of the money that is not allocated. `None` if it exceeds 128 bits.
    #[must_use]
    pub fn required(&self) -> Option<Amount> {
        self.price.checked_add(self.developer_fee)?.checked_add(self.world_fee)
    }
}

impl fmt::Display for Mass {
    /// As a decimal number, without zeros at the end: `0.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = usize::from(self.decimals);
        let digits = format!("{:0>width$}", self.units, width = decimals.saturating_add(1));
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(decimals));
        match fraction.trim_end_matches('0') {
            "" => f.write_str(whole),
            fraction => write!(f, "{whole}.{fraction}"),
        }
    }
}
