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
mod heads;
mod lies;
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
#[derive(Clone, Copy, Debug, Default)]
struct View {
    head: u64,
    /// How far above the truth `safe` and `finalized` are reported.
    safe_ahead: u64,
    finalized_ahead: u64,
}

/// A result: a value, or JSON that was written as text because it nests too deep for one.
enum Answered {
    Json(Value),
    Text(String),
}

impl From<Value> for Answered {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl SimulatedChain {
    /// Answers one request or a batch.
    pub fn answer(&mut self, node: usize, request: &[u8]) -> RpcReply {
        let parsed = match serde_json::from_slice::<Value>(request) {
            Ok(parsed) => parsed,
            Err(_) => return RpcReply::Body(failed(&Value::Null, &RpcErrorBody::parse()).into_bytes()),
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
        RpcReply::Body(answer.into_bytes())
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

    fn fail_after(&mut self, node: usize, request: &Value, answer: &str) -> Option<RpcReply> {
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
            let mut text = answer.as_bytes().to_vec();
            text.truncate(text.len() / 2);
            RpcReply::Body(text)
        })
    }

    fn answer_batch(&mut self, node: usize, batch: &[Value]) -> String {
        if batch.is_empty() {
            return failed(&Value::Null, &RpcErrorBody::invalid_request("empty batch"));
        }
        if batch.len() > BATCH_MAX {
            return failed(&Value::Null, &RpcErrorBody::invalid_request("batch too large"));
        }
        let answers: Vec<String> = batch.iter().map(|request| self.answer_one(node, request)).collect();
        format!("[{}]", answers.join(","))
    }

    fn answer_one(&mut self, node: usize, request: &Value) -> String {
        let id = match &request["id"] {
            id @ (Value::String(_) | Value::Number(_)) => id.clone(),
            _ => Value::Null,
        };
        let Some(method) = request["method"].as_str().filter(|_| request["jsonrpc"] == "2.0") else {
            return failed(&id, &RpcErrorBody::invalid_request("invalid request"));
        };
        let outcome = Params::new(&request["params"]).and_then(|params| self.call(node, method, &params));
        match outcome {
            Ok(Answered::Json(result)) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
            Ok(Answered::Text(result)) => format!(r#"{{"id":{id},"jsonrpc":"2.0","result":{result}}}"#),
            Err(error) => failed(&id, &error),
        }
    }

    fn call(&mut self, node: usize, method: &str, params: &Params<'_>) -> Result<Answered, RpcErrorBody> {
        if let Some(command) = method.strip_prefix("sim_") {
            return self.command(command, params).map(Answered::Json);
        }
        if is_mining(method) {
            return self.mine_on_command(method, params).map(Answered::Json);
        }
        if self.nodes.take_fault(node, NodeFault::InternalError) {
            return Err(RpcErrorBody::internal());
        }
        if self.nodes.lacks(node, method) {
            return Err(RpcErrorBody::no_method(method));
        }
        let head = self.seen_by(node).head().number().saturating_sub(self.nodes.lag(node));
        let view = self.lie_about_finality(node, View { head, ..View::default() }, params);
        match method {
            "eth_sendRawTransaction" => return self.send_raw(node, params).map(Answered::Json),
            "eth_sendTransaction" => return self.send_unlocked(node, view, params).map(Answered::Json),
            "trace_block" | "debug_traceBlockByHash" | "debug_traceBlockByNumber" => {
                return self.trace(node, view, method, params);
            }
            _ => {}
        }
        let result = self.seen_by(node).read(view, method, params)?;
        let result = self.lie(node, method, params, result);
        Ok(self.spoil(node, view, method, params, result).into())
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

fn failed(id: &Value, error: &RpcErrorBody) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}
