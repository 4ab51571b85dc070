//! `bankroll chain` in its own process, called over a socket by the client that real nodes get.

mod anvil;
mod log;
mod pay;
mod start;
mod state;

use std::{
    io::{BufRead, BufReader, Lines, Read},
    path::Path,
    process::{Child, ChildStdout, Stdio},
    time::{Duration, Instant},
};

use bankroll_chains_evm::{
    Address, BlockTag, ChainIdentity, FindOutcome, RpcLimits, RpcNode, SendOutcome, U256, Unavailable, transaction_hash,
};
use bankroll_chains_simulated::{Payment, SimulatedKey};
use serde_json::{Value, json};

use crate::program::{command, folder, run};

/// A chain in a process of its own, and its output.
pub struct Served {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub started: Value,
}

impl Served {
    pub fn start(args: &[&str]) -> Self {
        Self::start_in(folder().path(), args)
    }

    pub fn start_in(folder: &Path, args: &[&str]) -> Self {
        let mut command = command(folder);
        let mut process =
            command.args(["chain", "--port", "0", "--json"]).args(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let started = serde_json::from_str(&lines.next().expect("it starts").unwrap()).unwrap();
        Self { process, lines, started }
    }

    pub fn url(&self) -> &str {
        self.started["url"].as_str().unwrap()
    }

    fn node(&self, path: &str) -> RpcNode {
        self.node_within(path, RpcLimits::default())
    }

    fn node_within(&self, path: &str, limits: RpcLimits) -> RpcNode {
        let genesis = self.started["genesis"].as_str().unwrap().parse().unwrap();
        let identity = ChainIdentity { chain_id: self.started["chain_id"].as_u64().unwrap(), genesis };
        RpcNode::http(&format!("{}{path}", self.url()), identity, limits).unwrap()
    }

    /// Sends a command without the client.
    pub fn tell(&self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        serde_json::from_str(&post(self.url(), &request)).unwrap()
    }

    /// Its next line of the log.
    fn logged(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().expect("a line").unwrap()).unwrap()
    }

    /// Kills it; returns what it has logged and was not read.
    fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.lines.by_ref().map(Result::unwrap).collect()
    }
}

/// A minimal HTTP request.
pub fn post(url: &str, body: &str) -> String {
    use std::io::Write;
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_payment_through_a_served_chain() {
    let served = Served::start(&["--block-time", "0", "--seed", "7"]);
    let node = served.node("");
    let house = Address([0xaa; 20]);
    let player = SimulatedKey::derived(7, 0);
    assert_eq!(served.started["accounts"][0]["address"], player.address().to_string());
    assert_eq!(served.started["accounts"][0]["key"], player.to_bytes().to_string());
    let raw = player.sign(&Payment::new(31_337, 0, house.0.into(), U256::from(5)));
    assert_eq!(node.send(&raw), SendOutcome::Accepted);
    assert_eq!(node.find(transaction_hash(&raw)), Ok(FindOutcome::Waiting));
    assert_eq!(served.tell("sim_mine", json!([])), "0x1");
    let Ok(FindOutcome::Included(block)) = node.find(transaction_hash(&raw)) else { panic!("it is included") };
    assert_eq!(block.header.number, 1);
    assert_eq!(node.balance(house, BlockTag::Latest).unwrap().to_string(), "5");

    // Another node of the same chain, with its own faults.
    let other = served.node("/node/1");
    served.tell("sim_lag", json!([1, 1]));
    served.tell("sim_inject", json!(["requestLost", 1, 1]));
    let soon = RpcLimits { total: Duration::from_millis(700), ..RpcLimits::default() };
    assert_eq!(served.node_within("/node/1", soon).header(BlockTag::Latest), Err(Unavailable::TimedOut.into()));
    assert_eq!(other.header(BlockTag::Latest).unwrap().unwrap().number, 0);
    assert_eq!(node.header(BlockTag::Latest).unwrap().unwrap().number, 1);
    served.tell("sim_crash", json!([true, 1]));
    assert_eq!(other.header(BlockTag::Latest), Err(Unavailable::Status(503).into()));
}

#[test]
fn the_same_seed_is_the_same_chain_in_another_process() {
    let heads: Vec<Value> = (0..2)
        .map(|_| {
            let served = Served::start(&["--block-time", "0", "--seed", "9"]);
            let raw = SimulatedKey::derived(9, 3).sign(&Payment::new(31_337, 0, [0xaa; 20].into(), U256::from(5)));
            served.tell("eth_sendRawTransaction", json!([raw.to_string()]));
            served.tell("sim_mine", json!([5]));
            served.tell("sim_reorg", json!([3, 4, "reordered"]));
            served.tell("eth_getBlockByNumber", json!(["latest", true]))
        })
        .collect();
    assert_eq!(heads[0], heads[1]);
    assert_eq!(heads[0]["number"], "0x6");
}

#[test]
fn blocks_come_by_the_clock() {
    let served = Served::start(&["--block-time", "1"]);
    let node = served.node("");
    let deadline = Instant::now() + Duration::from_secs(60);
    while node.header(BlockTag::Latest).unwrap().unwrap().number < 2 {
        assert!(Instant::now() < deadline, "no blocks");
        std::thread::yield_now();
    }
    let block = node.block(BlockTag::Number(1)).unwrap().unwrap();
    assert_eq!(block.header.parent, node.identity().genesis);
}

#[test]
fn requests_that_are_too_large_or_a_port_that_is_taken() {
    let served = Served::start(&["--block-time", "0"]);
    let port = served.url().rsplit(':').next().unwrap();
    run(folder().path(), &["chain", "--port", port]).fails(1, &["cannot listen on 127.0.0.1"]);
    run(folder().path(), &["chain", "--chain-id", "0"]).fails(2, &["--chain-id"]);
    let huge = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "m".repeat(1 << 20));
    let answer: Value = serde_json::from_str(&post(served.url(), &huge)).unwrap();
    assert_eq!(answer["error"]["code"], -32601);
}
