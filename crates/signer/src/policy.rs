//! The signer's own rules: wallets, chains, assets, ceilings and limits. They come from its configuration and from
//! nowhere else; whoever asks cannot change them.

use std::collections::{BTreeMap, BTreeSet};

use bankroll_money::{Amount, Time};
use bankroll_orders::{Address, ChainId, Price};

/// All that the signer may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningPolicy {
    /// The time, in microseconds, over which limits count. It rolls: there is no midnight.
    pub window: u64,
    /// Whose keys it has.
    pub wallets: BTreeSet<Address>,
    /// Where it may sign.
    pub chains: BTreeMap<ChainId, ChainRules>,
}

/// What it may do on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainRules {
    /// How gas is paid for there.
    pub manner: GasPricing,
    /// The most that a unit of gas may cost.
    pub max_price: u128,
    /// The most of it that may go to whoever makes the block.
    pub max_priority: u128,
    /// The most gas of one transaction.
    pub max_gas: u64,
    /// The most that a wallet may burn as fees in the window.
    pub fees_per_window: Amount,
    /// What it may pay of the chain's coin; nothing, if there is nothing.
    pub native: Option<SigningLimits>,
    /// What it may pay of which tokens.
    pub tokens: BTreeMap<Address, SigningLimits>,
}

/// How gas is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GasPricing {
    /// With a base fee and a priority fee.
    Eip1559,
    /// With one price.
    Legacy,
}

/// What a wallet may pay of one asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigningLimits {
    /// In one payout.
    pub per_payout: Amount,
    /// In the window.
    pub per_window: Amount,
}

impl SigningPolicy {
    /// What was promised after this still counts against limits.
    #[must_use]
    pub fn counts_since(&self, now: Time) -> Time {
        Time(now.0.saturating_sub(self.window))
    }

    /// Nobody is paid there: nobody's address, our own wallets (whose moves are no payouts), contracts of tokens.
    #[must_use]
    pub fn forbids_destination(&self, chain: ChainId, to: Address) -> bool {
        let is_token = self.chains.get(&chain).is_some_and(|rules| rules.tokens.contains_key(&to));
        to == Address::ZERO || self.wallets.contains(&to) || is_token
    }
}

impl ChainRules {
    /// What may be paid of an asset; `None` is the chain's own coin.
    #[must_use]
    pub fn limits_of(&self, token: Option<Address>) -> Option<&SigningLimits> {
        token.map_or(self.native.as_ref(), |token| self.tokens.get(&token))
    }
}

impl GasPricing {
    /// Whether a price is one of this manner.
    #[must_use]
    pub const fn fits(self, price: Price) -> bool {
        matches!((self, price), (Self::Eip1559, Price::Dynamic { .. }) | (Self::Legacy, Price::Legacy { .. }))
    }
}

pub use self::{GasPricing as Manner, SigningLimits as Limits}; // TEMPORARY aliases
