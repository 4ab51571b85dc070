//! The log of `bankroll chain`: which calls and blocks are worth a line, and the lines.
//!
//! Wallets and indexers ask the same questions several times a second. So a call that changes the chain always has a
//! line; of every other method only the first call, and each error once; with `--verbose` all of them.

use std::{collections::BTreeSet, io::Write};

use bankroll_chains_server::{CallOutcome, ChainHostEvent, ChainObserver, RpcCall};
use bankroll_chains_simulated::{IncludedTransaction, SimulatedBlock};
use bankroll_store::Clock;
use serde_json::{Value, json};

use super::coins;

/// More different errors than a client makes; then the memory begins again.
const REMEMBERED_MAX: usize = 1_000;
/// Longer texts are cut.
const TEXT_MAX: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Interesting,
    Every,
}

#[derive(Debug)]
pub struct CallLog {
    detail: Detail,
    is_json: bool,
    /// The kinds of calls that had their line.
    shown: BTreeSet<String>,
}

impl CallLog {
    pub const fn new(detail: Detail, is_json: bool) -> Self {
        Self { detail, is_json, shown: BTreeSet::new() }
    }

    /// Writes to standard output, with the time of day.
    pub fn into_observer(mut self, clock: Clock) -> ChainObserver {
        Box::new(move |event| {
            let Some(text) = self.line(event, clock.now().0 / 1_000_000) else { return };
            let mut out = std::io::stdout().lock();
            // Standard output may be closed; the chain goes on.
            let _ = writeln!(out, "{text}").and_then(|()| out.flush());
        })
    }

    /// The line of an event at a time in seconds since 1970, if it is worth one.
    fn line(&mut self, event: ChainHostEvent<'_>, seconds: u64) -> Option<String> {
        if !self.is_worth_a_line(event) {
            return None;
        }
        if self.is_json {
            return Some(as_json(event).to_string());
        }
        let day = seconds % 86_400;
        Some(format!("{:02}:{:02}:{:02} {}", day / 3_600, day / 60 % 60, day % 60, as_text(event)))
    }

    fn is_worth_a_line(&mut self, event: ChainHostEvent<'_>) -> bool {
        let call = match event {
            _ if self.detail == Detail::Every => return true,
            ChainHostEvent::Block(block) => return !block.transactions.is_empty(),
            ChainHostEvent::Reorganised { .. } => return true,
            ChainHostEvent::Call(call) if changes_the_chain(&call.method) => return true,
            ChainHostEvent::Call(call) => call,
        };
        if self.shown.len() >= REMEMBERED_MAX {
            self.shown.clear();
        }
        let kind = match &call.outcome {
            CallOutcome::Result(_) | CallOutcome::Long(_) => call.method.clone(),
            // Heights and nonces differ in what is otherwise the same error.
            CallOutcome::Error(why) | CallOutcome::Fault(why) => {
                let same: String = why.chars().filter(|letter| !letter.is_ascii_digit()).collect();
                format!("{} {same}", call.method)
            }
        };
        self.shown.insert(kind)
    }
}

fn changes_the_chain(method: &str) -> bool {
    let is_command = method.starts_with("sim_") && !matches!(method, "sim_faults" | "sim_contracts");
    is_command || method.starts_with("eth_send") || method.ends_with("_mine")
}

fn as_text(event: ChainHostEvent<'_>) -> String {
    match event {
        ChainHostEvent::Call(call) => call_text(call),
        ChainHostEvent::Reorganised { after, removed } => {
            format!("the chain was reorganised: block {after} is the last common one, {removed} removed")
        }
        ChainHostEvent::Block(block) => block_text(block),
    }
}

fn call_text(call: &RpcCall) -> String {
    let node = if call.node == 0 { String::new() } else { format!(" at node {}", call.node) };
    let outcome = match &call.outcome {
        CallOutcome::Result(result) => result_text(result),
        CallOutcome::Long(bytes) => format!("{bytes} bytes"),
        CallOutcome::Error(why) => format!("error: {why}"),
        CallOutcome::Fault(why) => format!("fault: {why}"),
    };
    format!("{}{node}  {outcome}", call.method)
}

/// A result in few words; a hash is whole, so that it can be copied.
fn result_text(result: &Value) -> String {
    match result {
        Value::Null => "nothing".to_owned(),
        Value::Array(list) => terminal_count(list.len()),
        Value::Object(_) => match result["number"].as_str().or(result["blockNumber"].as_str()).and_then(number) {
            Some(block) => format!("of block {block}"),
            None => "found".to_owned(),
        },
        Value::String(text) if text.len() == 66 => text.clone(),
        Value::String(text) => number(text).map_or_else(|| cut(text), |number| number.to_string()),
        other => cut(&other.to_string()),
    }
}

fn terminal_count(items: usize) -> String {
    bankroll_terminal::counted(items as u64, "item", "items")
}

fn number(text: &str) -> Option<u128> {
    u128::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn cut(text: &str) -> String {
    if text.chars().count() <= TEXT_MAX {
        return text.to_owned();
    }
    text.chars().take(TEXT_MAX).chain(['…']).collect()
}

fn block_text(block: &SimulatedBlock) -> String {
    let count = bankroll_terminal::counted(block.transactions.len() as u64, "transaction", "transactions");
    let transactions = block.transactions.iter().map(transaction_text);
    std::iter::once(format!("block {}  {count}", block.number())).chain(transactions).collect::<Vec<_>>().join("\n")
}

fn transaction_text(included: &IncludedTransaction) -> String {
    let transaction = &included.transaction;
    let to = transaction.to().map_or_else(|| "nobody".to_owned(), |to| short(&to.to_string()));
    let failed = if included.succeeded() { "" } else { ", failed" };
    format!(
        "           {}  {} from {} to {to}{failed}",
        short(&transaction.hash.to_string()),
        coins::of_wei(transaction.value()),
        short(&transaction.sender.to_string()),
    )
}

/// The two ends of an address or a hash.
fn short(hex: &str) -> String {
    match (hex.get(..8), hex.get(hex.len().saturating_sub(4)..)) {
        (Some(first), Some(last)) if hex.len() > 14 => format!("{first}…{last}"),
        _ => hex.to_owned(),
    }
}

fn as_json(event: ChainHostEvent<'_>) -> Value {
    match event {
        ChainHostEvent::Call(RpcCall { node, method, outcome }) => {
            let (name, value) = match outcome {
                CallOutcome::Result(result) => ("result", result.clone()),
                CallOutcome::Long(bytes) => ("result_bytes", (*bytes).into()),
                CallOutcome::Error(why) => ("error", why.as_str().into()),
                CallOutcome::Fault(why) => ("fault", why.as_str().into()),
            };
            json!({ "event": "call", "node": node, "method": method, name: value })
        }
        ChainHostEvent::Reorganised { after, removed } => {
            json!({ "event": "reorganised", "after": after, "removed": removed })
        }
        ChainHostEvent::Block(block) => {
            let transaction = |included: &IncludedTransaction| {
                let transaction = &included.transaction;
                json!({
                    "hash": transaction.hash, "from": transaction.sender, "to": transaction.to(),
                    "value": transaction.value().to_string(), "succeeded": included.succeeded(),
                })
            };
            let transactions: Vec<Value> = block.transactions.iter().map(transaction).collect();
            json!({ "event": "block", "number": block.number(), "hash": block.hash, "transactions": transactions })
        }
    }
}

#[cfg(test)]
mod tests {
    use bankroll_chains_simulated::{Payment, SimulatedChain, SimulatedConfig, U256};

    use super::*;

    fn call(method: &str, outcome: CallOutcome) -> RpcCall {
        RpcCall { node: 0, method: method.into(), outcome }
    }

    fn result(method: &str, result: Value) -> RpcCall {
        call(method, CallOutcome::Result(result))
    }

    #[test]
    fn a_poll_has_one_line_and_a_change_has_always_one() {
        let mut log = CallLog::new(Detail::Interesting, false);
        let mut line = |call: RpcCall| log.line(ChainHostEvent::Call(&call), 45_296);
        assert_eq!(line(result("eth_blockNumber", json!("0xc"))).as_deref(), Some("12:34:56 eth_blockNumber  12"));
        assert_eq!(line(result("eth_blockNumber", json!("0xd"))), None);
        assert_eq!(line(result("evm_mine", json!("0x0"))).as_deref(), Some("12:34:56 evm_mine  0"));
        assert!(line(result("evm_mine", json!("0x0"))).is_some());
        let refused = |height: u64| call("eth_call", CallOutcome::Error(format!("no block {height}")));
        assert_eq!(line(refused(7)).as_deref(), Some("12:34:56 eth_call  error: no block 7"));
        assert_eq!(line(refused(8)), None);
        let hash = format!("0x{}", "ab".repeat(32));
        let sent = line(result("eth_sendTransaction", json!(hash))).expect("a line");
        assert_eq!((sent.as_str(), sent.chars().count()), (&*format!("12:34:56 eth_sendTransaction  {hash}"), 96));
    }

    #[test]
    fn verbose_shows_every_call() {
        let mut log = CallLog::new(Detail::Every, true);
        let poll = result("eth_chainId", json!("0x7a69"));
        let mut line = || log.line(ChainHostEvent::Call(&poll), 0);
        let expected = r#"{"event":"call","method":"eth_chainId","node":0,"result":"0x7a69"}"#;
        assert_eq!((line().as_deref(), line().as_deref()), (Some(expected), Some(expected)));
    }

    #[test]
    fn a_block_is_shown_with_its_payments_and_an_empty_one_is_not() {
        let mut log = CallLog::new(Detail::Interesting, false);
        let mut chain = SimulatedChain::new(SimulatedConfig::new(1));
        chain.mine(1);
        assert_eq!(log.line(ChainHostEvent::Block(chain.head()), 0), None);
        let wei = U256::from(10_350_000_000_000_000_u64);
        chain.send(&chain.play_keys()[1].sign(&Payment::new(1337, 0, [0xaa; 20].into(), wei))).expect("coins");
        chain.mine(2);
        let text = log.line(ChainHostEvent::Block(chain.head()), 0).expect("a line");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "00:00:00 block 2  1 transaction");
        let from = short(&chain.play_keys()[1].address().to_string());
        assert!(lines[1].ends_with(&format!("  0.01035 from {from} to 0xaAaAaA…aaAa")), "{text}");
    }

    #[test]
    fn results_are_few_words() {
        let check = |result: Value, expected: &str| assert_eq!(result_text(&result), expected);
        check(json!(null), "nothing");
        check(json!("0x7a69"), "31337");
        check(json!([1, 2]), "2 items");
        check(json!({ "number": "0x5", "hash": "0x1" }), "of block 5");
        check(json!({ "blockNumber": null }), "found");
        check(json!(true), "true");
        check(json!("x".repeat(90)), &format!("{}…", "x".repeat(60)));
    }
}
