//! Transfers of coins by contracts, from traces.
//!
//! No header covers traces: confirm them by balances or a second node before crediting.
//!
//! Guarantees: only real transfers are returned. A call counts if neither it nor any call above it was reverted, and
//! only if its kind moves coins: CALLCODE and DELEGATECALL name a value that does not move. An answer that lacks a
//! transaction, contains an error or a call of an unknown kind is an error, and never "no transfers".
//!
//! A transfer is identified by its transaction and its ordinal among the calls of that transaction that really move
//! coins, in the order of execution. Nodes number calls in different ways and list them in different orders; which
//! coins move, and in which order, is the same for all.
//!
//! Bounds: time and memory grow with the size of an answer, not with the depth of its calls. Nothing here recurses:
//! contracts call each other 1,024 levels deep for little gas.

mod flat;
mod nested;

use std::sync::atomic::Ordering;

use alloy_primitives::{B256, U256};
use bankroll_orders::Address;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};

use crate::{
    block::{Block, Transaction},
    error::{Disagreement, RpcError, RpcRefusal},
    node::RpcNode,
    quantity::Quantity,
    quirks,
    wire::WireAddress,
};

/// Coins that a contract moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalTransfer {
    pub transaction: B256,
    /// Its index among the transfers of its transaction, in the order of execution, without the transaction's own.
    /// With the transaction it identifies this transfer permanently, whichever tracer reported it.
    pub ordinal: u32,
    pub from: Address,
    pub to: Address,
    pub value: Quantity,
}

/// How a node reports the calls inside transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tracer {
    /// `trace_block` if the node has it, else the call tracer. Which one is found out once.
    #[default]
    Automatic,
    /// `trace_block`: a flat list, by the block's number.
    TraceBlock,
    /// `debug_traceBlockByHash` with geth's `callTracer`.
    CallTracer,
    /// Traces are never requested; transfers by contracts must be found by balances.
    None,
}

/// A method that returns traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceMethod {
    Flat,
    Nested,
}

/// One call, from either kind of trace. Calls are in the order of execution.
struct Step {
    /// 0 for the transaction itself.
    depth: usize,
    moves: Option<Movement>,
    reverted: bool,
}

struct Movement {
    from: WireAddress,
    to: WireAddress,
    value: U256,
}

impl RpcNode {
    /// Transfers by contracts in this block, in order, without the transactions' own transfers. A node without a
    /// tracer refuses: see [`RpcError::is_no_method`].
    pub fn internal_transfers(&self, block: &Block) -> Result<Vec<InternalTransfer>, RpcError> {
        if block.transactions.is_empty() {
            return Ok(Vec::new());
        }
        self.with_trace_method(|method| {
            let answer = self.request(method.name(), &method.parameters(block))?;
            method.transfers(&answer, block).inspect_err(|error| self.distrust(error))
        })
    }

    /// Runs a request with the method of this node, and finds out which one that is.
    pub(crate) fn with_trace_method<T>(&self, run: impl Fn(TraceMethod) -> Result<T, RpcError>) -> Result<T, RpcError> {
        match self.tracer {
            Tracer::TraceBlock => run(TraceMethod::Flat),
            Tracer::CallTracer => run(TraceMethod::Nested),
            Tracer::None => {
                let message = "traces of this node are not requested".to_owned();
                Err(RpcRefusal { code: quirks::NO_METHOD, message }.into())
            }
            Tracer::Automatic => {
                if !self.abilities.no_trace_block.load(Ordering::Relaxed) {
                    match run(TraceMethod::Flat) {
                        Err(error) if quirks::has_no_method(&error) => {}
                        traces => return traces,
                    }
                }
                let traces = run(TraceMethod::Nested);
                // Behind a load balancer the next answer may come from a node that has the other method.
                let is_nested = !traces.as_ref().is_err_and(quirks::has_no_method);
                self.abilities.no_trace_block.store(is_nested, Ordering::Relaxed);
                traces
            }
        }
    }
}

impl TraceMethod {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Flat => flat::METHOD,
            Self::Nested => nested::METHOD,
        }
    }

    pub(crate) fn parameters(self, block: &Block) -> Value {
        match self {
            // It takes no hash; the answer names the block.
            Self::Flat => json!([format!("{:#x}", block.header.number)]),
            Self::Nested => json!([block.header.hash, { "tracer": "callTracer" }]),
        }
    }

    pub(crate) fn transfers(self, answer: &RawValue, block: &Block) -> Result<Vec<InternalTransfer>, RpcError> {
        let traces = match self {
            Self::Flat => flat::steps(answer, block)?,
            Self::Nested => nested::steps(answer, block)?,
        };
        let mut transfers = Vec::new();
        for (transaction, steps) in block.transactions.iter().zip(traces) {
            transfers.extend(effective(transaction, steps, block.header.hash)?);
        }
        Ok(transfers)
    }
}

/// The transfers of one transaction that really happened.
fn effective(transaction: &Transaction, steps: Vec<Step>, block: B256) -> Result<Vec<InternalTransfer>, RpcError> {
    let root_reverted = steps.first().ok_or(Disagreement::TraceIncomplete(block))?.reverted;
    // The verified status wins: a failed transaction moves nothing.
    if !transaction.succeeded {
        return Ok(Vec::new());
    }
    if root_reverted {
        return Err(Disagreement::TraceStatus(transaction.hash).into());
    }
    let (mut transfers, mut reverted_at) = (Vec::new(), None);
    for step in steps.into_iter().skip(1) {
        if reverted_at.is_some_and(|above| step.depth > above) {
            continue;
        }
        reverted_at = step.reverted.then_some(step.depth);
        let Some(Movement { from, to, value }) = step.moves.filter(|moves| !moves.value.is_zero()) else { continue };
        if step.reverted {
            continue;
        }
        let ordinal = u32::try_from(transfers.len()).map_err(|_| Disagreement::TraceIncomplete(block))?;
        let (from, to) = (Address(from.into_array()), Address(to.into_array()));
        let value = Quantity::new(value);
        transfers.push(InternalTransfer { transaction: transaction.hash, ordinal, from, to, value });
    }
    Ok(transfers)
}
