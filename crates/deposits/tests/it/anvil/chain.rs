//! anvil, Foundry's node, in its own process.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use bankroll_chains_evm::{ChainIdentity, RpcLimits, RpcNode};
use serde_json::{Value, json};

const VERSION: &str = "anvil Version: 1.7.1";
/// When each chain begins, unless a story says otherwise.
pub const BEGINS: &str = "1700000000";

pub struct Anvil {
    process: Child,
    /// Where it listens.
    pub address: String,
    plain: ureq::Agent,
}

impl Anvil {
    /// A chain with our id on which nothing is mined by itself, and transactions are mined in the order in which they
    /// were sent. `cargo xtask test` installs anvil into the tree; without it nothing is shown, so the test fails.
    pub fn start() -> Self {
        Self::start_as("1337", BEGINS)
    }

    /// The same with another id, or with a first block of another time: another chain.
    pub fn start_as(chain_id: &str, begins: &str) -> Self {
        let program = program();
        let version = Command::new(&program).arg("--version").output().unwrap().stdout;
        let version = String::from_utf8(version).unwrap();
        assert!(version.starts_with(VERSION), "another version of anvil: run `cargo xtask test`\n{version}");
        let mut process = Command::new(program)
            .args(["--host", "127.0.0.1", "--port", "0", "--chain-id", chain_id, "--no-mining", "--accounts", "1"])
            .args(["--gas-limit", "30000000", "--block-base-fee-per-gas", "1000000000", "--order", "fifo"])
            .args(["--timestamp", begins])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.by_ref().find_map(|line| line.unwrap().strip_prefix("Listening on ").map(str::to_owned));
        let address = address.expect("anvil says where it listens");
        // Its later output must be drained, or it would block.
        std::thread::spawn(move || lines.for_each(drop));
        let config = ureq::Agent::config_builder().proxy(None).build();
        Self { process, address, plain: config.new_agent() }
    }

    /// Our client on it.
    pub fn node(&self) -> RpcNode {
        self.node_at(&format!("http://{}", self.address))
    }

    /// Our client on what answers at this URL, which has to be this chain.
    pub fn node_at(&self, url: &str) -> RpcNode {
        let direct = format!("http://{}", self.address);
        let identity = ChainIdentity::discover(&direct, RpcLimits::default()).unwrap().unwrap();
        RpcNode::http(url, identity, RpcLimits::default()).unwrap()
    }

    /// A plain call without our client.
    pub fn ask(&self, method: &str, params: Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let url = format!("http://{}", self.address);
        let sent = self.plain.post(&url).header("content-type", "application/json").send(request);
        let body = sent.unwrap().body_mut().read_to_vec().unwrap();
        let mut answer: Value = serde_json::from_slice(&body).unwrap();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }
}

fn program() -> PathBuf {
    // Asked of this run: a target folder may be shared by several checkouts, and what was compiled in names one.
    let crate_folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("run the tests with cargo"));
    let folder = crate_folder.join("../../.tools/anvil/node_modules/@foundry-rs");
    // A package for each platform, and one that selects among them.
    let packages = folder.read_dir().into_iter().flatten().flatten();
    let platforms = packages.filter(|package| package.file_name().to_string_lossy().starts_with("anvil-"));
    let mut binaries = platforms.map(|package| package.path().join("bin/anvil")).filter(|binary| binary.is_file());
    binaries.next().unwrap_or_else(|| panic!("anvil is not installed in {}: run `cargo xtask test`", folder.display()))
}

impl Drop for Anvil {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
