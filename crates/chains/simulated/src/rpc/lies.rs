//! Lies in answers that no header covers: the words of a node about balances, nonces, fees, finality and traces.

use alloy_primitives::{Address, U256};
use serde_json::Value;

use super::{
    View,
    params::{self, Params},
    show,
    traces::{TracedTransaction, invented},
};
use crate::{chain::SimulatedChain, contracts, lie::NodeLie};

impl SimulatedChain {
    /// The answer, or what a lying node makes of it.
    pub(super) fn lie(&mut self, node: usize, method: &str, params: &Params<'_>, truth: Value) -> Value {
        let about = params.address(0).ok();
        let is_of = |of: &Option<Address>, about: Option<Address>| of.is_none() || *of == about;
        let replaced = self.nodes.take_lie(node, |lie| {
            let mut answer = truth.clone();
            match (method, lie) {
                ("eth_getBalance", NodeLie::Balance { of, by }) if is_of(of, about) => distort(&mut answer, *by)?,
                ("eth_getTransactionCount", NodeLie::TransactionCount { of, by }) if is_of(of, about) => {
                    distort(&mut answer, *by)?;
                }
                ("eth_call", NodeLie::TokenBalance { of, by }) => {
                    let holder = contracts::holder_asked(params.get(0)?)?;
                    if !is_of(of, Some(holder)) {
                        return None;
                    }
                    let amount = U256::from_str_radix(answer.as_str()?.strip_prefix("0x")?, 16).ok()?;
                    answer = serde_json::json!(contracts::word(by.of(amount)));
                }
                ("eth_estimateGas", NodeLie::GasEstimate { by }) => distort(&mut answer, *by)?,
                ("eth_gasPrice" | "eth_maxPriorityFeePerGas", NodeLie::GasPrice { by }) => {
                    distort(&mut answer, *by)?;
                }
                ("eth_feeHistory", NodeLie::FeeHistory { by }) => {
                    let fees = answer["baseFeePerGas"].as_array_mut()?.iter_mut();
                    fees.map(|fee| distort(fee, *by)).collect::<Option<()>>()?;
                    let rewards = answer.get_mut("reward").and_then(Value::as_array_mut);
                    let rewards = rewards.into_iter().flatten().filter_map(Value::as_array_mut).flatten();
                    rewards.map(|reward| distort(reward, *by)).collect::<Option<()>>()?;
                }
                _ => return None,
            }
            (answer != truth).then_some(answer)
        });
        replaced.unwrap_or(truth)
    }

    /// Where a lying node sees the marks, if this request names one.
    pub(super) fn lie_about_finality(&mut self, node: usize, view: View, params: &Params<'_>) -> View {
        let names = |mark: &str| (0..3).any(|place| params.get(place).and_then(Value::as_str) == Some(mark));
        let lies = |lie: &NodeLie| match *lie {
            NodeLie::Safe { ahead } if names("safe") => Some(View { safe_ahead: ahead, ..view }),
            NodeLie::Finalized { ahead } if names("finalized") => Some(View { finalized_ahead: ahead, ..view }),
            _ => None,
        };
        self.nodes.take_lie(node, lies).unwrap_or(view)
    }

    pub(super) fn lie_in_traces(&mut self, node: usize, traces: &mut Vec<TracedTransaction>) {
        self.nodes.take_lie(node, |lie| {
            match lie {
                NodeLie::TransferInvented { to, value } => {
                    let of_success =
                        |traced: &&mut TracedTransaction| traced.frames.first().is_some_and(|root| !root.reverted);
                    let traced = traces.iter_mut().rev().find(of_success)?;
                    let from = traced.frames.first()?.to;
                    let place = traced.frames.iter().filter(|frame| frame.path.len() == 1).count();
                    traced.frames.push(invented(from, *to, *value, place));
                }
                NodeLie::TransferOmitted { to } => omit(traces, *to)?,
                NodeLie::TraceError => traces.last_mut()?.failed = true,
                NodeLie::TraceMissing => drop(traces.pop()?),
                _ => return None,
            }
            Some(())
        });
    }
}

/// Removes the last transfer by a contract with everything below it, and closes the gap.
fn omit(traces: &mut [TracedTransaction], to: Option<Address>) -> Option<()> {
    traces.iter_mut().rev().find_map(|traced| {
        let frames = &mut traced.frames;
        let fits = |frame: &crate::CallFrame| {
            let moves = frame.kind.moves_coins() && !frame.value.is_zero();
            moves && !frame.path.is_empty() && to.is_none_or(|to| frame.to == to)
        };
        let gone = frames.iter().rfind(|frame| fits(frame))?.path.clone();
        frames.retain(|frame| !frame.path.starts_with(&gone));
        let (last, above) = gone.split_last()?;
        for frame in frames.iter_mut().filter(|frame| frame.path.starts_with(above)) {
            if let Some(place) = frame.path.get_mut(above.len()).filter(|place| **place > *last) {
                *place = place.saturating_sub(1);
            }
        }
        Some(())
    })
}

fn distort(quantity: &mut Value, by: crate::Distortion) -> Option<()> {
    let truth = params::quantity(quantity.as_str()?)?;
    *quantity = show::quantity(by.of(truth));
    Some(())
}
