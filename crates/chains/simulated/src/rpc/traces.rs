//! Traces: the calls of a block's transactions, as `trace_block` and as geth's `callTracer` return them. No header
//! covers them.

use serde_json::{Value, json};

use super::{View, error::RpcErrorBody, params::Params, show};
use crate::{
    block::{IncludedTransaction, SimulatedBlock},
    chain::SimulatedChain,
    execute::CallFrame,
};

impl SimulatedChain {
    pub(super) fn trace_block(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let Some(block) = self.shown(view, params.block(0)?) else { return Ok(Value::Null) };
        let calls =
            block.transactions.iter().enumerate().flat_map(|(index, included)| {
                included.frames.iter().map(move |frame| call(block, index, included, frame))
            });
        Ok(calls.collect())
    }

    pub(super) fn debug_trace_block(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        if params.get(1).is_none_or(|options| options["tracer"] != "callTracer") {
            return Err(RpcErrorBody::invalid(1, "only the tracer callTracer is there"));
        }
        let block = self.shown(view, params.block(0)?).ok_or_else(|| RpcErrorBody::server("block not found"))?;
        let traced = |included: &IncludedTransaction| {
            let (root, inner) = included.frames.split_first()?;
            let mut shown = nested(root);
            shown["gasUsed"] = show::quantity(included.gas_used);
            if !inner.is_empty() {
                shown["calls"] = inner.iter().map(nested).collect();
            }
            Some(json!({ "txHash": included.transaction.hash, "result": shown }))
        };
        Ok(block.transactions.iter().map(traced).collect())
    }
}

fn call(block: &SimulatedBlock, index: usize, included: &IncludedTransaction, frame: &CallFrame) -> Value {
    let children = included
        .frames
        .iter()
        .filter(|other| other.path.split_last().is_some_and(|(_, parent)| parent == frame.path.as_slice()));
    let mut shown = json!({
        "type": "call",
        "action": {
            "callType": "call",
            "from": frame.from,
            "to": frame.to,
            "value": show::quantity(frame.value),
            "gas": show::quantity(included.gas_used),
            "input": frame.input,
        },
        "result": { "gasUsed": show::quantity(included.gas_used), "output": "0x" },
        "subtraces": children.count(),
        "traceAddress": frame.path,
        "blockHash": block.hash,
        "blockNumber": block.number(),
        "transactionHash": included.transaction.hash,
        "transactionPosition": index,
    });
    if frame.reverted {
        shown["error"] = "Reverted".into();
        shown["result"] = Value::Null;
    }
    shown
}

fn nested(frame: &CallFrame) -> Value {
    let mut shown = json!({
        "type": "CALL",
        "from": frame.from,
        "to": frame.to,
        "value": show::quantity(frame.value),
        "gas": "0x0",
        "gasUsed": "0x0",
        "input": frame.input,
    });
    if frame.reverted {
        shown["error"] = "execution reverted".into();
    }
    shown
}
