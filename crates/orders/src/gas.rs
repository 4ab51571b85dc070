//! What an order may cost in gas, and what it is to pay more for the same.

use bankroll_money::Amount;
use serde::{Deserialize, Serialize};

/// How much gas a transaction may burn, at which price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gas {
    /// The most gas it may use.
    pub limit: u64,
    /// What a unit of gas may cost.
    pub price: Price,
}

/// What a unit of gas may cost, in the chain's base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Price {
    /// EIP-1559: at most `max` in all, of which at most `priority` to whoever makes the block.
    Dynamic {
        /// The most that is paid.
        max: u128,
        /// The most that is paid on top of the base fee.
        priority: u128,
    },
    /// Before EIP-1559: exactly this.
    Legacy {
        /// What is paid.
        price: u128,
    },
}

impl Gas {
    /// The most that the transaction can cost beside what it pays; `None` if that leaves 128 bits.
    #[must_use]
    pub fn cost(self) -> Option<Amount> {
        u128::from(self.limit).checked_mul(self.price.max()).map(Amount::new)
    }
}

impl Price {
    /// The most that a unit can cost.
    #[must_use]
    pub const fn max(self) -> u128 {
        match self {
            Self::Dynamic { max, .. } => max,
            Self::Legacy { price } => price,
        }
    }

    /// The most of it that whoever makes the block can get.
    #[must_use]
    pub const fn priority(self) -> u128 {
        match self {
            Self::Dynamic { priority, .. } => priority,
            Self::Legacy { price } => price,
        }
    }

    /// Whether nodes would take a transaction at this price in the place of one at the other: both fields raised by at
    /// least an eighth (12.5 %), and in the same manner of paying.
    #[must_use]
    pub fn outbids(self, other: Self) -> bool {
        let same_manner = matches!(
            (self, other),
            (Self::Dynamic { .. }, Self::Dynamic { .. }) | (Self::Legacy { .. }, Self::Legacy { .. })
        );
        same_manner && raised(other.max(), self.max()) && raised(other.priority(), self.priority())
    }
}

/// By an eighth at least, and by one unit at least: an eighth of nothing would be no raise.
fn raised(from: u128, to: u128) -> bool {
    let eighth = from.div_ceil(8).max(1);
    from.checked_add(eighth).is_some_and(|least| to >= least)
}
