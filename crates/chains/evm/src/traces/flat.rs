//! `trace_block`: one list of all calls of a block, each with its place in the tree of calls.

use std::borrow::Cow;

use alloy_primitives::{B256, U256};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Movement, Step};
use crate::{
    block::Block,
    error::{Disagreement, MalformedAnswer, RpcError, Unavailable},
    wire::{self, WireAddress},
};

pub const METHOD: &str = "trace_block";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FlatTrace<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    action: TraceAction<'a>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
    trace_address: Vec<u32>,
    block_hash: B256,
    transaction_hash: Option<B256>,
    result: Option<CreateResult>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TraceAction<'a> {
    #[serde(borrow)]
    call_type: Option<Cow<'a, str>>,
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

/// The calls of each transaction, in the order of execution.
pub fn steps(answer: &RawValue, block: &Block) -> Result<Vec<Vec<Step>>, RpcError> {
    let hash = block.header.hash;
    let answer: Option<Vec<FlatTrace<'_>>> = wire::read(answer, METHOD)?;
    let answer = answer.ok_or(Unavailable::Incomplete("trace"))?;
    // The method takes only a height: after a reorganisation it returns another block.
    if answer.iter().any(|flat| flat.block_hash != hash) {
        return Err(Unavailable::Incomplete("trace").into());
    }
    let mut left = answer.into_iter().peekable();
    let mut traces = Vec::with_capacity(block.transactions.len());
    for transaction in &block.transactions {
        let mut calls = Vec::new();
        while let Some(flat) = left.next_if(|flat| flat.transaction_hash == Some(transaction.hash)) {
            calls.push(flat);
        }
        if calls.is_empty() {
            return Err(Disagreement::TraceIncomplete(hash).into());
        }
        traces.push(in_order(calls)?);
    }
    // Block rewards follow the transactions and have no transaction hash.
    if left.any(|flat| flat.transaction_hash.is_some()) {
        return Err(Disagreement::TraceIncomplete(hash).into());
    }
    Ok(traces)
}

/// Nodes list a selfdestruct before the calls that its contract made before it; the places tell the real order.
fn in_order(mut calls: Vec<FlatTrace<'_>>) -> Result<Vec<Step>, RpcError> {
    calls.sort_by(|left, right| left.trace_address.cmp(&right.trace_address));
    let mut above: &[u32] = &[];
    for (number, call) in calls.iter().enumerate() {
        let place = call.trace_address.as_slice();
        // In this order the parent of each call is the call before it, or one of the parents of that.
        let is_there = match place.split_last() {
            None => number == 0,
            Some((_, parent)) => number > 0 && above != place && above.starts_with(parent),
        };
        if !is_there {
            return Err(MalformedAnswer::new(METHOD, "a call without its caller, or twice").into());
        }
        above = place;
    }
    calls.into_iter().map(FlatTrace::step).collect()
}

impl FlatTrace<'_> {
    fn step(self) -> Result<Step, RpcError> {
        let (depth, reverted, action) = (self.trace_address.len(), self.error.is_some(), self.action);
        let moves = match (&*self.kind, action.call_type.as_deref()) {
            ("call", Some("call")) => whole(action.from, action.to, action.value),
            ("call", Some("callcode" | "delegatecall" | "staticcall")) => {
                return Ok(Step { depth, moves: None, reverted });
            }
            ("create", _) if reverted => return Ok(Step { depth, moves: None, reverted }),
            ("create", _) => whole(action.from, self.result.and_then(|made| made.address), action.value),
            ("suicide" | "selfdestruct", _) => whole(action.address, action.refund_address, action.balance),
            _ => None,
        };
        let moves = moves.ok_or_else(|| MalformedAnswer::new(METHOD, "a call of an unknown kind"))?;
        Ok(Step { depth, moves: Some(moves), reverted })
    }
}

fn whole(from: Option<WireAddress>, to: Option<WireAddress>, value: Option<U256>) -> Option<Movement> {
    Some(Movement { from: from?, to: to?, value: value? })
}
