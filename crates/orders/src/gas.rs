//! What an order may cost in gas, and when a price replaces another.

use bankroll_money::Amount;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gas {
    pub limit: u64,
    pub price: Price,
}

/// The price of a unit of gas, in the chain's base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Price {
    /// EIP-1559: at most `max` in all, of which at most `priority` to the block producer.
    Dynamic {
        max: u128,
        /// At most this on top of the base fee.
        priority: u128,
    },
    /// Before EIP-1559: exactly this.
    Legacy { price: u128 },
}

impl Gas {
    /// The highest possible fee; `None` if it exceeds 128 bits.
    #[must_use]
    pub fn cost(self) -> Option<Amount> {
        u128::from(self.limit).checked_mul(self.price.max()).map(Amount::new)
    }
}

impl Price {
    #[must_use]
    pub const fn max(self) -> u128 {
        match self {
            Self::Dynamic { max, .. } => max,
            Self::Legacy { price } => price,
        }
    }

    /// The part of it that the block producer can get.
    #[must_use]
    pub const fn priority(self) -> u128 {
        match self {
            Self::Dynamic { priority, .. } => priority,
            Self::Legacy { price } => price,
        }
    }

    /// Whether nodes accept this price as a replacement of the other: the same kind of price, with both fields raised
    /// by at least an eighth (12.5 %).
    #[must_use]
    pub fn outbids(self, other: Self) -> bool {
        let same_kind = matches!(
            (self, other),
            (Self::Dynamic { .. }, Self::Dynamic { .. }) | (Self::Legacy { .. }, Self::Legacy { .. })
        );
        same_kind && raised(other.max(), self.max()) && raised(other.priority(), self.priority())
    }
}

/// By at least an eighth, and by at least one unit: an eighth of zero would not be a raise.
fn raised(from: u128, to: u128) -> bool {
    let eighth = from.div_ceil(8).max(1);
    from.checked_add(eighth).is_some_and(|least| to >= least)
}
