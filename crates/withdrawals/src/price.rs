//! The price of a transaction, and of its replacement. Pure.

use bankroll_chains_evm::Fees;
use bankroll_ledger::Amount;
use bankroll_orders::{Gas, Price};

/// The most that a unit of gas may cost. Not more than the signer allows: an order that it refuses for its price holds up
/// its wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeeCeiling {
    pub max: u128,
    /// The part of it that may go to the producer of the block.
    pub priority: u128,
}

/// The price of a unit of gas now: enough for the base fee to double before the transaction is mined. `None` if even the
/// present price is above the ceiling, so that it is better to wait.
#[must_use]
pub fn market(fees: Fees, ceiling: FeeCeiling) -> Option<Price> {
    match fees {
        Fees::Market { base_fee, tip } => {
            let priority = tip.min(ceiling.priority);
            let now = base_fee.checked_add(priority).filter(|now| *now <= ceiling.max)?;
            Some(Price::Dynamic { max: now.saturating_add(base_fee).min(ceiling.max), priority })
        }
        Fees::Legacy { gas_price } => (gas_price <= ceiling.max).then_some(Price::Legacy { price: gas_price }),
    }
}

/// The price of a replacement: in each field an eighth more than all orders before it, or the market's if that is more.
/// `None` if that is above the ceiling.
#[must_use]
pub fn replacement(before: Price, market: Option<Price>, ceiling: FeeCeiling) -> Option<Price> {
    let market = market.filter(|market| std::mem::discriminant(market) == std::mem::discriminant(&before));
    let field = |of: fn(Price) -> u128| -> Option<u128> {
        let from = of(before);
        let least = from.checked_add(from.div_ceil(8).max(1))?;
        Some(market.map_or(least, |market| of(market).max(least)))
    };
    let max = field(Price::max)?;
    let price = match before {
        Price::Dynamic { .. } => {
            let priority = field(Price::priority)?;
            // The whole is never less than its part.
            Price::Dynamic { max: max.max(priority), priority: Some(priority).filter(|tip| *tip <= ceiling.priority)? }
        }
        Price::Legacy { .. } => Price::Legacy { price: max },
    };
    (price.max() <= ceiling.max && price.outbids(before)).then_some(price)
}

/// The ceiling of a unit of gas for a job: the chain's, or the player's fee cap divided by the gas, if that is less.
#[must_use]
pub fn ceiling(chain: FeeCeiling, fee_cap: Option<Amount>, gas: u64) -> FeeCeiling {
    let of_player = fee_cap.and_then(|cap| cap.units().checked_div(u128::from(gas)));
    FeeCeiling { max: of_player.map_or(chain.max, |of_player| of_player.min(chain.max)), ..chain }
}

/// The cost of the most expensive of these, of which one is mined.
#[must_use]
pub fn worst(gas: impl Iterator<Item = Gas>) -> Option<Amount> {
    gas.map(Gas::cost).try_fold(Amount::ZERO, |worst, cost| cost.map(|cost| cost.max(worst)))
}
