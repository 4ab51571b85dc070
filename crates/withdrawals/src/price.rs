//! What a transaction may cost, and what it is to pay more for the same. Pure.

use bankroll_chains_evm::Fees;
use bankroll_ledger::Amount;
use bankroll_orders::{Gas, Price};

/// The most that a unit of gas may cost. Not more than the signer allows: an order that it refuses for its price holds up
/// its wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// In all.
    pub max: u128,
    /// Of it, what may go to whoever makes the block.
    pub priority: u128,
}

/// What a unit of gas should cost now: enough for the base fee to double before the transaction is mined. `None` if even
/// what is asked for now is above the ceiling, so that it is better to wait.
#[must_use]
pub fn market(fees: Fees, ceiling: Ceiling) -> Option<Price> {
    match fees {
        Fees::Market { base_fee, tip } => {
            let priority = tip.min(ceiling.priority);
            let now = base_fee.checked_add(priority).filter(|now| *now <= ceiling.max)?;
            Some(Price::Dynamic { max: now.saturating_add(base_fee).min(ceiling.max), priority })
        }
        Fees::Legacy { gas_price } => (gas_price <= ceiling.max).then_some(Price::Legacy { price: gas_price }),
    }
}

/// The price of a replacement: an eighth more than all before it in each field, or what the market asks, whichever is more.
/// `None` if that is above the ceiling.
#[must_use]
pub fn replacement(before: Price, market: Option<Price>, ceiling: Ceiling) -> Option<Price> {
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
            // The whole can never be less than its part.
            Price::Dynamic { max: max.max(priority), priority: Some(priority).filter(|tip| *tip <= ceiling.priority)? }
        }
        Price::Legacy { .. } => Price::Legacy { price: max },
    };
    (price.max() <= ceiling.max && price.outbids(before)).then_some(price)
}

/// The ceiling of a unit of gas for a job: the chain's, or what the player has set aside divided by the gas, if that is
/// less.
#[must_use]
pub fn ceiling(chain: Ceiling, fee_cap: Option<Amount>, gas: u64) -> Ceiling {
    let of_player = fee_cap.and_then(|cap| cap.units().checked_div(u128::from(gas)));
    Ceiling { max: of_player.map_or(chain.max, |of_player| of_player.min(chain.max)), ..chain }
}

/// The most that anything of these can cost, if one of them is mined.
#[must_use]
pub fn worst(gas: impl Iterator<Item = Gas>) -> Option<Amount> {
    gas.map(Gas::cost).try_fold(Amount::ZERO, |worst, cost| cost.map(|cost| cost.max(worst)))
}
