//! The signer's own rules: wallets, chains, assets, ceilings and limits. They come only from its configuration; callers
//! cannot change them.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_money::{Amount, Time};
use bankroll_orders::{Address, ChainId, Price};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningPolicy {
    /// The rolling window, in microseconds, over which limits count.
    pub window: u64,
    pub wallets: BTreeSet<Address>,
    pub chains: BTreeMap<ChainId, ChainRules>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainRules {
    pub manner: GasPricing,
    /// Ceiling for a unit of gas.
    pub max_price: u128,
    /// Ceiling for the part that goes to the block producer.
    pub max_priority: u128,
    /// Ceiling for the gas of one transaction.
    pub max_gas: u64,
    /// The most that a wallet may spend on fees within the window.
    pub fees_per_window: Amount,
    /// Limits of the native coin; without them it cannot be paid.
    pub native: Option<SigningLimits>,
    pub tokens: BTreeMap<Address, SigningLimits>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GasPricing {
    Eip1559,
    Legacy,
}

/// Limits of a wallet for one asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigningLimits {
    pub per_payout: Amount,
    pub per_window: Amount,
}

impl SigningPolicy {
    /// Promises after this time count against limits.
    #[must_use]
    pub fn counts_since(&self, now: Time) -> Time {
        Time(now.0.saturating_sub(self.window))
    }

    /// Payouts never go to the zero address, to our own wallets, or to token contracts.
    #[must_use]
    pub fn forbids_destination(&self, chain: ChainId, to: Address) -> bool {
        let is_token = self.chains.get(&chain).is_some_and(|rules| rules.tokens.contains_key(&to));
        to == Address::ZERO || self.wallets.contains(&to) || is_token
    }
}

impl ChainRules {
    /// The limits of a token; `None` for the native coin.
    #[must_use]
    pub fn limits_of(&self, token: Option<Address>) -> Option<&SigningLimits> {
        token.map_or(self.native.as_ref(), |token| self.tokens.get(&token))
    }
}

impl GasPricing {
    #[must_use]
    pub const fn fits(self, price: Price) -> bool {
        matches!((self, price), (Self::Eip1559, Price::Dynamic { .. }) | (Self::Legacy, Price::Legacy { .. }))
    }
}
