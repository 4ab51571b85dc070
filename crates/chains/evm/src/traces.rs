//! Transfers of coins by contracts, from traces.
//!
//! No header covers traces: confirm them by balances or a second node before crediting.
//!
//! Guarantees: only real transfers are returned. A call counts if neither it nor any call above it was reverted, and
//! only if its kind moves coins: CALLCODE and DELEGATECALL name a value that does not move. An answer that lacks a
//! transaction, or contains an error, is an error and never "no transfers".
//!
//! `trace_block` is tried first, because its list is flat. geth has only `callTracer`, which nests as deep as the
//! calls; nesting deeper than 128 is an error.

use alloy_primitives::{B256, U256};
use bankroll_orders::Address;
use serde::Deserialize;
use serde_json::json;

use crate::{
    block::Block,
    error::{Disagreement, MalformedAnswer, RpcError, Unavailable},
    node::RpcNode,
    quantity::Quantity,
    quirks,
    wire::WireAddress,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalTransfer {
    pub transaction: B256,
    /// The index of the call at each level. With the transaction it identifies this transfer permanently.
    pub path: Vec<usize>,
    pub from: Address,
    pub to: Address,
    pub value: Quantity,
}

/// One call, from either kind of trace.
struct Step {
    path: Vec<usize>,
    moves: Option<(WireAddress, WireAddress, U256)>,
    reverted: bool,
}

impl RpcNode {
    /// Transfers by contracts in this block, in order, without the transactions' own transfers.
    pub fn internal_transfers(&self, block: &Block) -> Result<Vec<InternalTransfer>, RpcError> {
        if block.transactions.is_empty() {
            return Ok(Vec::new());
        }
        let traces = match self.trace_flat(block) {
            Err(error) if quirks::has_no_method(&error) => self.trace_nested(block)?,
            traces => traces?,
        };
        let mut transfers = Vec::new();
        for (transaction, steps) in block.transactions.iter().zip(traces) {
            let reverted: Vec<&[usize]> =
                steps.iter().filter(|step| step.reverted).map(|step| &step.path[..]).collect();
            // The verified status wins: a failed transaction moves nothing.
            let counts =
                |step: &&Step| transaction.succeeded && !reverted.iter().any(|above| step.path.starts_with(above));
            for step in steps.iter().filter(|step| !step.path.is_empty()).filter(counts) {
                if let Some((from, to, value)) = step.moves.filter(|(_, _, value)| !value.is_zero()) {
                    let (from, to) = (Address(from.into_array()), Address(to.into_array()));
                    let (path, value) = (step.path.clone(), Quantity::new(value));
                    transfers.push(InternalTransfer { transaction: transaction.hash, path, from, to, value });
                }
            }
        }
        Ok(transfers)
    }

    fn trace_flat(&self, block: &Block) -> Result<Vec<Vec<Step>>, RpcError> {
        let method = "trace_block";
        let hash = block.header.hash;
        let answer: Option<Vec<FlatTrace>> =
            self.request_as(method, &json!([format!("{:#x}", block.header.number)]))?;
        let answer = answer.ok_or(Unavailable::Incomplete("trace"))?;
        // The method takes only a height: after a reorganisation it returns another block.
        if answer.iter().any(|flat| flat.block_hash != hash) {
            return Err(Unavailable::Incomplete("trace").into());
        }
        let mut left = answer.into_iter().peekable();
        let mut traces = Vec::with_capacity(block.transactions.len());
        for transaction in &block.transactions {
            let mut steps = Vec::new();
            while let Some(flat) = left.next_if(|flat| flat.transaction_hash == Some(transaction.hash)) {
                steps.push(flat.step()?);
            }
            traces.push(steps);
        }
        // Block rewards follow the transactions and have no transaction hash.
        let whole = traces.iter().all(|steps| steps.first().is_some_and(|step| step.path.is_empty()));
        if !whole || left.any(|flat| flat.transaction_hash.is_some()) {
            return Err(Disagreement::TraceIncomplete(hash).into());
        }
        Ok(traces)
    }

    fn trace_nested(&self, block: &Block) -> Result<Vec<Vec<Step>>, RpcError> {
        let method = "debug_traceBlockByHash";
        let hash = block.header.hash;
        let answer: Vec<TraceEntry> = self.request_as(method, &json!([hash, { "tracer": "callTracer" }]))?;
        let expected = block.transactions.iter().map(|transaction| Some(transaction.hash));
        // Older nodes do not name the transaction of a trace; then only the count can be checked.
        let named = |traced: &TraceEntry, hash: Option<B256>| traced.tx_hash.is_none() || traced.tx_hash == hash;
        let fits =
            answer.len() == block.transactions.len() && answer.iter().zip(expected).all(|(t, hash)| named(t, hash));
        if !fits {
            return Err(Disagreement::TraceIncomplete(hash).into());
        }
        let mut traces = Vec::with_capacity(answer.len());
        for traced in answer {
            let root = traced.result.ok_or(Unavailable::Incomplete("trace"))?;
            let mut steps = Vec::new();
            root.collect(Vec::new(), &mut steps)?;
            traces.push(steps);
        }
        Ok(traces)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FlatTrace {
    #[serde(rename = "type")]
    kind: String,
    action: TraceAction,
    error: Option<String>,
    trace_address: Vec<usize>,
    block_hash: B256,
    transaction_hash: Option<B256>,
    result: Option<CreateResult>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TraceAction {
    call_type: Option<String>,
    from: Option<WireAddress>,
    to: Option<WireAddress>,
    value: Option<U256>,
    address: Option<WireAddress>,
    refund_address: Option<WireAddress>,
    balance: Option<U256>,
}

#[derive(Deserialize)]
struct CreateResult {
    address: Option<WireAddress>,
}

impl FlatTrace {
    fn step(self) -> Result<Step, RpcError> {
        let (reverted, path, action) = (self.error.is_some(), self.trace_address, self.action);
        let moves = match (self.kind.as_str(), action.call_type.as_deref()) {
            ("call", Some("call")) => whole(action.from, action.to, action.value),
            ("call", Some("callcode" | "delegatecall" | "staticcall")) => {
                return Ok(Step { path, moves: None, reverted });
            }
            ("create", _) if reverted => return Ok(Step { path, moves: None, reverted }),
            ("create", _) => whole(action.from, self.result.and_then(|made| made.address), action.value),
            ("suicide" | "selfdestruct", _) => whole(action.address, action.refund_address, action.balance),
            _ => None,
        };
        let moves = moves.ok_or_else(|| MalformedAnswer::new("trace_block", "a call of an unknown kind"))?;
        Ok(Step { path, moves: Some(moves), reverted })
    }
}

fn whole(
    from: Option<WireAddress>,
    to: Option<WireAddress>,
    value: Option<U256>,
) -> Option<(WireAddress, WireAddress, U256)> {
    Some((from?, to?, value?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TraceEntry {
    tx_hash: Option<B256>,
    result: Option<NestedCall>,
}

#[derive(Deserialize)]
struct NestedCall {
    #[serde(rename = "type")]
    kind: String,
    from: WireAddress,
    to: Option<WireAddress>,
    value: Option<U256>,
    error: Option<String>,
    #[serde(default)]
    calls: Vec<NestedCall>,
}

impl NestedCall {
    fn collect(self, path: Vec<usize>, steps: &mut Vec<Step>) -> Result<(), RpcError> {
        let reverted = self.error.is_some();
        let moves = match self.kind.as_str() {
            "CALL" | "CREATE" | "CREATE2" | "SELFDESTRUCT" => {
                self.to.map(|to| (self.from, to, self.value.unwrap_or_default()))
            }
            "CALLCODE" | "DELEGATECALL" | "STATICCALL" => None,
            _ => return Err(MalformedAnswer::new("debug_traceBlockByHash", "a call of an unknown kind").into()),
        };
        steps.push(Step { path: path.clone(), moves, reverted });
        for (number, call) in self.calls.into_iter().enumerate() {
            call.collect([&path[..], &[number]].concat(), steps)?;
        }
        Ok(())
    }
}
