//! JSON-RPC as geth speaks it: bytes in, bytes out.
//!
//! Guarantees: any bytes get an answer and nothing panics; depth, batches and ranges are bounded; faults never affect
//! methods that begin with `sim_`, and `evm_mine`, which control the chain.
//!
//! Does not know: sockets. The transport handles an [`RpcReply`].

mod accounts;
mod blocks;
mod control;
mod error;
mod fees;
mod logs;
mod params;
mod send;
mod show;
mod spoil;
mod traces;
mod unlocked;

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};

use crate::{chain::SimulatedChain, fault::NodeFault};
use error::RpcErrorBody;
use params::Params;

/// The most requests in one batch, as in geth.
const BATCH_MAX: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RpcReply {
    /// HTTP 200 with this body.
    Body(Vec<u8>),
    /// Another HTTP status, with a text that is not JSON.
    Status(u16, &'static str),
    /// No answer, ever.
    NoAnswer,
    /// The connection is refused.
    Unreachable,
}

/// The blocks that a node shows.
#[derive(Clone, Copy, Debug)]
struct View {
    head: u64,
}

impl SimulatedChain {
    /// Answers one request or a batch.
    pub fn answer(&mut self, node: usize, request: &[u8]) -> RpcReply {
        let parsed = match serde_json::from_slice::<Value>(request) {
            Ok(parsed) => parsed,
            Err(_) => return body(&failed(Value::Null, &RpcErrorBody::parse())),
        };
        let commands = is_command(&parsed) || parsed.as_array().is_some_and(|batch| batch.iter().all(is_command));
        if !commands && let Some(reply) = self.fail_before(node) {
            return reply;
        }
        let answer = match &parsed {
            Value::Array(batch) => self.answer_batch(node, batch),
            single => self.answer_one(node, single),
        };
        if !commands && let Some(reply) = self.fail_after(node, &parsed, &answer) {
            return reply;
        }
        body(&answer)
    }

    /// One node of a shared chain as a function for clients in the same process: an HTTP status and a body, or the
    /// error that a connection would fail with.
    pub fn in_process(chain: Arc<Mutex<Self>>, node: usize) -> impl Fn(&[u8]) -> io::Result<(u16, Vec<u8>)> {
        move |request| {
            let mut chain = chain.lock().unwrap_or_else(PoisonError::into_inner);
            match chain.answer(node, request) {
                RpcReply::Body(body) => Ok((200, body)),
                RpcReply::Status(status, text) => Ok((status, text.into())),
                RpcReply::NoAnswer => Err(io::ErrorKind::TimedOut.into()),
                RpcReply::Unreachable => Err(io::ErrorKind::ConnectionRefused.into()),
            }
        }
    }

    fn fail_before(&mut self, node: usize) -> Option<RpcReply> {
        if self.nodes.is_down(node) {
            self.nodes.happened.count(NodeFault::Down);
            return Some(RpcReply::Unreachable);
        }
        if self.nodes.lag(node) > 0 {
            self.nodes.happened.count(NodeFault::Lag);
        }
        let replies = [
            (NodeFault::RequestLost, RpcReply::NoAnswer),
            (NodeFault::RateLimited, RpcReply::Status(429, "Too Many Requests")),
            (NodeFault::BadGateway, RpcReply::Status(502, "<html><body>502 Bad Gateway</body></html>")),
        ];
        replies.into_iter().find_map(|(fault, reply)| self.nodes.take_fault(node, fault).then_some(reply))
    }

    fn fail_after(&mut self, node: usize, request: &Value, answer: &Value) -> Option<RpcReply> {
        let calls = request.as_array().map_or(std::slice::from_ref(request), Vec::as_slice);
        let sends = calls
            .iter()
            .any(|call| call["method"] == "eth_sendRawTransaction" || call["method"] == "eth_sendTransaction");
        if (sends && self.nodes.take_fault(node, NodeFault::SendAnswerLost))
            || self.nodes.take_fault(node, NodeFault::AnswerLost)
        {
            return Some(RpcReply::NoAnswer);
        }
        let cut = self.nodes.take_fault(node, NodeFault::AnswerCut);
        cut.then(|| {
            let mut text = answer.to_string().into_bytes();
            text.truncate(text.len() / 2);
            RpcReply::Body(text)
        })
    }

    fn answer_batch(&mut self, node: usize, batch: &[Value]) -> Value {
        if batch.is_empty() {
            return failed(Value::Null, &RpcErrorBody::invalid_request("empty batch"));
        }
        if batch.len() > BATCH_MAX {
            return failed(Value::Null, &RpcErrorBody::invalid_request("batch too large"));
        }
        Value::Array(batch.iter().map(|request| self.answer_one(node, request)).collect())
    }

    fn answer_one(&mut self, node: usize, request: &Value) -> Value {
        let id = match &request["id"] {
            id @ (Value::String(_) | Value::Number(_)) => id.clone(),
            _ => Value::Null,
        };
        let Some(method) = request["method"].as_str().filter(|_| request["jsonrpc"] == "2.0") else {
            return failed(id, &RpcErrorBody::invalid_request("invalid request"));
        };
        let outcome = Params::new(&request["params"]).and_then(|params| self.call(node, method, &params));
        match outcome {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => failed(id, &error),
        }
    }

    fn call(&mut self, node: usize, method: &str, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        if let Some(command) = method.strip_prefix("sim_") {
            return self.command(command, params);
        }
        if is_mining(method) {
            return self.mine_on_command(method, params);
        }
        if self.nodes.take_fault(node, NodeFault::InternalError) {
            return Err(RpcErrorBody::internal());
        }
        let view = View { head: self.head().number().saturating_sub(self.nodes.lag(node)) };
        match method {
            "eth_sendRawTransaction" => return self.send_raw(node, params),
            "eth_sendTransaction" => return self.send_unlocked(node, view, params),
            _ => {}
        }
        let result = self.read(view, method, params)?;
        Ok(self.spoil(node, view, method, params, result))
    }

    fn read(&self, view: View, method: &str, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        match method {
            "eth_chainId" => Ok(show::quantity(self.config.chain_id)),
            "net_version" => Ok(self.config.chain_id.to_string().into()),
            "web3_clientVersion" => Ok(concat!("bankroll-simulated/", env!("CARGO_PKG_VERSION")).into()),
            "eth_syncing" => Ok(false.into()),
            "net_listening" => Ok(true.into()),
            "eth_accounts" | "eth_requestAccounts" => Ok(self.accounts()),
            "eth_blockNumber" => Ok(show::quantity(view.head)),
            "eth_getBlockByNumber" | "eth_getBlockByHash" => self.get_block(view, params),
            "eth_getBlockReceipts" => self.get_block_receipts(view, params),
            "eth_getTransactionByHash" => self.get_transaction(view, params),
            "eth_getTransactionReceipt" => self.get_receipt(view, params),
            "eth_getLogs" => self.get_logs(view, params),
            "trace_block" => self.trace_block(view, params),
            "debug_traceBlockByHash" | "debug_traceBlockByNumber" => self.debug_trace_block(view, params),
            "eth_getTransactionCount" => self.get_transaction_count(view, params),
            "eth_getBalance" => self.get_balance(view, params),
            "eth_getCode" => self.get_code(view, params),
            "eth_call" => self.eth_call(view, params),
            "eth_estimateGas" => self.estimate_gas(view, params),
            "eth_gasPrice" => Ok(self.gas_price(view)),
            "eth_maxPriorityFeePerGas" => Ok(show::quantity(self.usual_tip(view))),
            "eth_feeHistory" => self.fee_history(view, params),
            _ => Err(RpcErrorBody::no_method(method)),
        }
    }
}

fn is_command(request: &Value) -> bool {
    request["method"].as_str().is_some_and(|method| method.starts_with("sim_") || is_mining(method))
}

/// The names that other development nodes give to `sim_mine`.
fn is_mining(method: &str) -> bool {
    matches!(method, "evm_mine" | "anvil_mine" | "hardhat_mine")
}

fn failed(id: Value, error: &RpcErrorBody) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

fn body(answer: &Value) -> RpcReply {
    RpcReply::Body(answer.to_string().into_bytes())
}
