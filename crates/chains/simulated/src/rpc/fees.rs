//! Fees: the present price, the usual tip, and the history.

use alloy_eips::eip1559::BaseFeeParams;
use serde_json::{Value, json};

use super::{View, error::RpcErrorBody, params::Params, show};
use crate::{block::SimulatedBlock, chain::SimulatedChain};

/// The blocks that determine the usual tip, and its default.
const LOOK_BACK: u64 = 20;
const QUIET_TIP: u128 = 1_000_000_000;

/// The most blocks of one history, as in geth.
const HISTORY_MAX: u64 = 1_024;

impl SimulatedChain {
    pub(super) fn gas_price(&self, view: View) -> Value {
        show::quantity(u128::from(self.base_fee_after(view)).saturating_add(self.usual_tip(view)))
    }

    /// The median tip of the last blocks.
    pub(super) fn usual_tip(&self, view: View) -> u128 {
        let blocks = (view.head.saturating_sub(LOOK_BACK)..=view.head).filter_map(|number| self.block(number));
        let mut tips: Vec<u128> = blocks.flat_map(|block| tips(block).map(|(tip, _)| tip)).collect();
        tips.sort_unstable();
        tips.get(tips.len() / 2).copied().unwrap_or(QUIET_TIP)
    }

    fn base_fee_after(&self, view: View) -> u64 {
        if view.head == self.head().number() {
            return self.coming_base_fee();
        }
        let next = self.block(view.head).and_then(|block| block.header.next_block_base_fee(BaseFeeParams::ethereum()));
        next.unwrap_or(self.config.base_fee)
    }

    pub(super) fn fee_history(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let count = params.number(0)?.clamp(1, HISTORY_MAX);
        let newest = self.state_at(view, params.block(1)?)?;
        let percentiles = percentiles(params.get(2))?;
        let oldest = newest.saturating_add(1).saturating_sub(count);
        let blocks: Vec<&SimulatedBlock> = (oldest..=newest).filter_map(|number| self.block(number)).collect();
        let mut fees: Vec<Value> = blocks.iter().map(|block| show::quantity(block.base_fee())).collect();
        fees.push(show::quantity(self.base_fee_after(View { head: newest, ..View::default() })));
        let mut history = json!({
            "oldestBlock": show::quantity(oldest),
            "baseFeePerGas": fees,
            "gasUsedRatio": blocks.iter().map(|block| used(block)).collect::<Vec<_>>(),
        });
        if !percentiles.is_empty() {
            let rewards = blocks.iter().map(|block| {
                let (mut paid, gas) = (tips(block).collect::<Vec<_>>(), block.header.gas_used);
                paid.sort_unstable();
                percentiles.iter().map(|percentile| show::quantity(reward(&paid, gas, *percentile))).collect::<Value>()
            });
            history["reward"] = rewards.collect();
        }
        Ok(history)
    }
}

/// The tip of each transaction of a block, and the gas it was paid for.
fn tips(block: &SimulatedBlock) -> impl Iterator<Item = (u128, u64)> {
    let base_fee = u128::from(block.base_fee());
    block.transactions.iter().map(move |paid| (paid.gas_price.saturating_sub(base_fee), paid.gas_used))
}

fn percentiles(asked: Option<&Value>) -> Result<Vec<u64>, RpcErrorBody> {
    let bad = || RpcErrorBody::invalid(2, "want rising percentiles from 0 to 100");
    let Some(asked) = asked else { return Ok(Vec::new()) };
    let read = |value: &Value| value.as_f64().filter(|percent| (0.0..=100.0).contains(percent)).map(|p| p as u64);
    let list: Option<Vec<u64>> = asked.as_array().ok_or_else(bad)?.iter().map(read).collect();
    list.filter(|list| list.is_sorted() && list.len() <= 100).ok_or_else(bad)
}

/// The tip at this percentile of the block's gas.
fn reward(paid: &[(u128, u64)], gas: u64, percentile: u64) -> u128 {
    let wanted = u128::from(gas).saturating_mul(u128::from(percentile)).div_ceil(100);
    let mut bought = 0_u128;
    let reached = paid.iter().find(|(_, gas)| {
        bought = bought.saturating_add(u128::from(*gas));
        bought >= wanted
    });
    reached.map_or(0, |(tip, _)| *tip)
}

/// The part of the gas limit that was used, to six decimals, without floating point.
fn used(block: &SimulatedBlock) -> Value {
    let (used, limit) = (u128::from(block.header.gas_used), u128::from(block.header.gas_limit));
    let millionths = used.saturating_mul(1_000_000).checked_div(limit).unwrap_or_default();
    let (whole, rest) = (millionths.checked_div(1_000_000), millionths.checked_rem(1_000_000));
    let text = format!("{}.{:06}", whole.unwrap_or_default(), rest.unwrap_or_default());
    serde_json::from_str(&text).unwrap_or_default()
}
