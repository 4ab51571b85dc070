//! Traces: the calls of a block's transactions, as `trace_block` and as geth's `callTracer` return them. No header
//! covers them.
//!
//! Both forms are written from the same frames. They differ as real nodes do: `trace_block` leaves out calls of
//! precompiled contracts that move nothing, so the paths of other calls differ, too. The nested form is written as
//! text, because a thousand calls deep is more than recursion should follow.

use alloy_primitives::{Address, B256};
use serde_json::{Value, json};

use super::{Answered, View, error::RpcErrorBody, params::Params, show};
use crate::{
    chain::SimulatedChain,
    fault::NodeFault,
    machine::{CallFrame, Failure, FrameKind},
};

/// The calls of one transaction, as a node reports them.
pub(super) struct TracedTransaction {
    pub hash: B256,
    pub index: usize,
    pub gas_used: u64,
    pub frames: Vec<CallFrame>,
    /// There is an error in its place.
    pub failed: bool,
}

impl SimulatedChain {
    pub(super) fn trace(
        &mut self,
        node: usize,
        view: View,
        method: &str,
        params: &Params<'_>,
    ) -> Result<Answered, RpcErrorBody> {
        let is_flat = method == "trace_block";
        if !is_flat && params.get(1).is_none_or(|options| options["tracer"] != "callTracer") {
            return Err(RpcErrorBody::invalid(1, "only the tracer callTracer is there"));
        }
        let (at, seen) = (params.block(0)?, self.seen_by(node));
        let block = match seen.shown(view, at) {
            Some(block) => block,
            None if is_flat => return Ok(Value::Null.into()),
            None => return Err(RpcErrorBody::server("block not found")),
        };
        let traced = |(index, included): (usize, &crate::IncludedTransaction)| TracedTransaction {
            hash: included.transaction.hash,
            index,
            gas_used: included.gas_used,
            frames: included.frames.clone(),
            failed: false,
        };
        let mut traces: Vec<TracedTransaction> = block.transactions.iter().enumerate().map(traced).collect();
        let (number, hash) = (block.number(), block.hash);
        self.spoil_traces(node, &mut traces);
        self.lie_in_traces(node, &mut traces);
        if is_flat {
            let place = BlockPlace { number, hash };
            return Ok(Value::Array(traces.iter().flat_map(|traced| flat(place, traced)).collect()).into());
        }
        let texts: Vec<String> = traces.iter().map(nested_entry).collect();
        Ok(Answered::Text(format!("[{}]", texts.join(","))))
    }

    fn spoil_traces(&mut self, node: usize, traces: &mut Vec<TracedTransaction>) {
        if traces.is_empty() {
            return;
        }
        if self.nodes.take_fault(node, NodeFault::TraceOmitted) {
            traces.pop();
        } else if self.nodes.take_fault(node, NodeFault::TraceFailed)
            && let Some(last) = traces.last_mut()
        {
            last.failed = true;
        }
    }
}

#[derive(Clone, Copy)]
struct BlockPlace {
    number: u64,
    hash: B256,
}

/// A call that `trace_block` leaves out: of a precompiled contract, moving nothing.
fn is_left_out(frame: &CallFrame) -> bool {
    let (above, last) = frame.to.as_slice().split_at(19);
    let precompiled = above.iter().all(|byte| *byte == 0) && matches!(last, [1..=0x11]);
    precompiled && !frame.path.is_empty() && frame.value.is_zero()
}

/// An open call of the flat form.
struct OpenCall {
    path: Vec<usize>,
    children: usize,
    shown: usize,
}

fn flat(place: BlockPlace, traced: &TracedTransaction) -> Vec<Value> {
    let (mut shown, mut open) = (Vec::<Value>::new(), Vec::<OpenCall>::new());
    for frame in &traced.frames {
        if is_left_out(frame) {
            continue;
        }
        open.truncate(frame.path.len());
        let path = match open.last_mut() {
            Some(parent) => {
                let path = parent.path.iter().copied().chain([parent.children]).collect();
                parent.children = parent.children.saturating_add(1);
                if let Some(parent_shown) = shown.get_mut(parent.shown) {
                    parent_shown["subtraces"] = parent.children.into();
                }
                path
            }
            None => Vec::new(),
        };
        shown.push(flat_call(place, traced, frame, &path));
        open.push(OpenCall { path, children: 0, shown: shown.len().saturating_sub(1) });
    }
    if traced.failed {
        shown.pop();
        shown.push(json!({ "txHash": Value::Null, "error": NO_STATE }));
    }
    shown
}

const NO_STATE: &str = "historical state is not available";

fn flat_call(place: BlockPlace, traced: &TracedTransaction, frame: &CallFrame, path: &[usize]) -> Value {
    let gas = show::quantity(traced.gas_used);
    let (from, to, value) = (frame.from, frame.to, show::quantity(frame.value));
    let call = |kind: &str| {
        let action =
            json!({ "callType": kind, "from": from, "to": to, "value": value, "gas": gas, "input": frame.input });
        ("call", action, json!({ "gasUsed": gas, "output": "0x" }))
    };
    let (kind, action, result) = match frame.kind {
        FrameKind::Call => call("call"),
        FrameKind::CallCode => call("callcode"),
        FrameKind::DelegateCall => call("delegatecall"),
        FrameKind::Create => (
            "create",
            json!({ "from": from, "value": value, "gas": gas, "init": frame.input }),
            json!({ "address": to, "code": "0x", "gasUsed": gas }),
        ),
        FrameKind::SelfDestruct => {
            ("suicide", json!({ "address": from, "refundAddress": to, "balance": value }), Value::Null)
        }
    };
    let mut shown = json!({
        "type": kind,
        "action": action,
        "result": result,
        "subtraces": 0,
        "traceAddress": path,
        "blockHash": place.hash,
        "blockNumber": place.number,
        "transactionHash": traced.hash,
        "transactionPosition": traced.index,
    });
    if let Some(failure) = frame.failure {
        shown["error"] = flat_error(failure).into();
        shown["result"] = Value::Null;
    }
    shown
}

fn flat_error(failure: Failure) -> &'static str {
    match failure {
        Failure::Reverted => "Reverted",
        Failure::OutOfGas => "Out of gas",
        Failure::NoCoins => "Insufficient balance for transfer",
        Failure::TooDeep => "Call stack too deep",
    }
}

fn nested_entry(traced: &TracedTransaction) -> String {
    let hash = traced.hash;
    if traced.failed {
        return format!(r#"{{"error":"{NO_STATE}","txHash":"{hash}"}}"#);
    }
    format!(r#"{{"result":{},"txHash":"{hash}"}}"#, nested(traced))
}

fn nested(traced: &TracedTransaction) -> String {
    let (mut text, mut open) = (String::new(), 0_usize);
    for (place, frame) in traced.frames.iter().enumerate() {
        let depth = frame.path.len();
        if open > depth {
            (depth..open).rev().for_each(|level| text += if level == depth { "}" } else { "}]" });
            // The call before this one is closed, and its calls.
            text.push(',');
        } else if place > 0 {
            text += r#","calls":["#;
        }
        let mut shown = nested_call(frame, if place == 0 { traced.gas_used } else { 0 }).to_string();
        shown.pop();
        text += &shown;
        open = depth.saturating_add(1);
    }
    (0..open).rev().for_each(|level| text += if level == 0 { "}" } else { "}]" });
    text
}

fn nested_call(frame: &CallFrame, gas_used: u64) -> Value {
    let kind = match frame.kind {
        FrameKind::Call => "CALL",
        FrameKind::CallCode => "CALLCODE",
        FrameKind::DelegateCall => "DELEGATECALL",
        FrameKind::Create => "CREATE",
        FrameKind::SelfDestruct => "SELFDESTRUCT",
    };
    let mut shown = json!({
        "type": kind,
        "from": frame.from,
        "to": frame.to,
        "value": show::quantity(frame.value),
        "gas": "0x0",
        "gasUsed": show::quantity(gas_used),
        "input": frame.input,
    });
    if let Some(failure) = frame.failure {
        shown["error"] = nested_error(failure).into();
        if frame.kind == FrameKind::Create {
            // geth names no address for what was not made.
            shown.as_object_mut().map(|shown| shown.remove("to"));
        }
    }
    shown
}

fn nested_error(failure: Failure) -> &'static str {
    match failure {
        Failure::Reverted => "execution reverted",
        Failure::OutOfGas => "out of gas",
        Failure::NoCoins => "insufficient balance for transfer",
        Failure::TooDeep => "max call depth exceeded",
    }
}

/// A call that did not happen, as a lying node invents it.
pub(super) fn invented(from: Address, to: Address, value: alloy_primitives::U256, place: usize) -> CallFrame {
    CallFrame {
        path: vec![place],
        kind: FrameKind::Call,
        from,
        to,
        value,
        input: alloy_primitives::Bytes::new(),
        reverted: false,
        failure: None,
    }
}
