//! `bankroll serve` with a chain: an RPC node that is unreachable and comes back, a deposit, and invalid configurations.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
};

use bankroll_chains_evm::transaction_hash;
use bankroll_chains_simulated::{Payment, SimulatedKey, U256};
use bankroll_ledger::{Asset, Principal, Unit};
use serde_json::{Value, json};

use crate::{
    chain::post,
    program::{API_ANYWHERE, command, folder, hold, run, run_with},
    running::Running,
};

const SEED: u64 = 7;
pub const WALLET: &str = "0x00000000000000000000000000000000000000aa";

/// A separate chain; blocks on command.
pub struct Chain {
    process: Child,
    pub started: Value,
}

impl Chain {
    pub fn start() -> Self {
        Self::with_id("31337")
    }

    fn with_id(id: &str) -> Self {
        let folder = folder();
        let mut chain = command(folder.path());
        let chain =
            chain.args(["chain", "--json", "--block-time", "0", "--seed", "7", "--chain-id", id, "--port", "0"]);
        let mut process = chain.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { process, started: serde_json::from_str(&line).unwrap() }
    }

    pub fn url(&self) -> &str {
        self.started["url"].as_str().unwrap()
    }

    pub fn tell(&self, method: &str, params: &Value) {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let answer: Value = serde_json::from_str(&post(self.url(), &request)).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
    }

    pub fn end(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

pub fn player() -> SimulatedKey {
    SimulatedKey::derived(SEED, 0)
}

/// The player signs in at the node of this folder.
pub fn sign_in(folder: &Path) {
    if !folder.join("player.key").exists() {
        run(folder, &["chain", "key", "0", "player.key", "--seed", "7"]).ok();
    }
    run(folder, &["players", "sign-in", "--key", "player.key", "--set", "chain.id=31337"]).ok();
}

/// A folder with books in which the player has an account.
pub fn casino(folder: &Path) {
    run(folder, &["init"]).ok();
    let ledger = hold(folder);
    let coin = Asset { chain: "eip155:31337".parse().unwrap(), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
    ledger.list_asset(coin).unwrap();
    // There is also an account under another spelling of the player's address; it is not theirs.
    for owner in [format!("{:#x}", player().address()), format!("{:x}", player().address())] {
        let funds = format!("arena/funds/1/{owner}").parse().unwrap();
        ledger.open_accounts(&Principal::System, vec![funds]).unwrap()[0].unwrap();
    }
    ledger.close();
}

#[test]
fn a_chain_that_is_away_is_waited_for_and_what_was_paid_is_credited() {
    let folder = folder();
    casino(folder.path());
    let chain = Chain::start();
    let genesis = chain.started["genesis"].as_str().unwrap();
    // One of its nodes is unreachable; the other accepts commands. A released port could belong to another process by
    // then.
    let url = format!("{}/node/1", chain.url());
    chain.tell("sim_crash", &json!([true, 1]));

    let mut serve = command(folder.path());
    let set = ["chain.id=31337", "chain.confirmations=3", "chain.poll_ms=10"].into_iter().map(str::to_owned);
    let set =
        set.chain([format!("chain.rpc={url}"), format!("chain.genesis={genesis}"), format!("chain.wallet={WALLET}")]);
    serve.envs(API_ANYWHERE).args(["serve", "--json"]).args(set.flat_map(|set| ["--set".to_owned(), set]));
    let node = Running::spawn(serve, "node-1");
    // Trouble is reported once for each flow that needs a node, however often it is tried.
    let [_, _, follows, trouble, _] = node.until_all(["took", "commands", "follows", "trouble", "trouble"]);
    sign_in(folder.path());
    assert!(follows["message"].as_str().unwrap().contains("final after 3 blocks"), "{follows}");
    assert!(trouble["message"].as_str().unwrap().contains("the RPC node"), "{trouble}");

    chain.tell("sim_restart", &json!([1]));
    let goes_on = node.until("goes_on");
    assert!(goes_on["flow"] == "indexer" || goes_on["flow"] == "payouts", "{goes_on}");
    assert!(!node.has_said("trouble"));
    let raw = player().sign(&Payment::new(31_337, 0, WALLET.parse().unwrap(), U256::from(10_350_000_000_000_000_u64)));
    chain.tell("eth_sendRawTransaction", &json!([raw.to_string()]));
    chain.tell("sim_mine", &json!([1]));
    let (hash, address) = (transaction_hash(&raw), format!("{:#x}", player().address()));
    let says = |line: &Value, what: &str| {
        assert_eq!(line["message"], format!("deposit {hash:#x}: 0.01035 ETH {what}"));
        assert_eq!((&line["epoch"], &line["amount"]), (&json!(1), &json!("10350000000000000")));
    };
    says(&node.until("deposit_included"), &format!("from {address} is in block 1, final at block 3"));
    let seen = run(folder.path(), &["deposits", "list", "--state", "seen", "--json"]).json()["deposits"][0].clone();
    assert_eq!((&seen["confirmations"], &seen["required_confirmations"]), (&1.into(), &3.into()), "{seen}");
    let story = run(folder.path(), &["explain", &player().address().to_string()]).ok();
    assert!(story.contains("paid 0.01035 ETH (seen in block"), "{story}");
    chain.tell("sim_mine", &json!([2]));
    let [is_final, credited] = node.until_all(["deposit_final", "deposit_credited"]);
    says(&is_final, "is final");
    says(&credited, &format!("is credited to player {address}"));
    let balance = |name: &str| run(folder.path(), &["balance", name, "--json"]).json()["balance"].clone();
    assert_eq!(balance(&format!("arena/funds/1/{:#x}", player().address())), "10000000000000000");
    assert_eq!(balance("arena/developer/1"), "250000000000000");
    assert_eq!(balance("arena/ecosystem/1"), "100000000000000");
    assert_eq!(balance("@house/custody/1/hot"), "10350000000000000");

    // A stranger's payment is not credited, and the log does not say so.
    let stranger = SimulatedKey::derived(SEED, 5);
    let raw = stranger.sign(&Payment::new(31_337, 0, WALLET.parse().unwrap(), U256::from(70_000)));
    chain.tell("eth_sendRawTransaction", &json!([raw.to_string()]));
    chain.tell("sim_mine", &json!([3]));
    let suspended = node.until("deposit_suspended");
    let (hash, stranger) = (transaction_hash(&raw), format!("{:#x}", stranger.address()));
    let expected = format!(
        "deposit {hash:#x}: 0.00000000000007 ETH is in suspense: {stranger} was not a known player when it became \
         final; `bankroll deposits assign` gives it to a player. For later payments the player signs in with that wallet: \
         bankroll players sign-in"
    );
    assert_eq!((&suspended["message"], &suspended["reason"]), (&json!(expected), &json!("unknown_player")));
    assert_eq!(balance("@house/suspense/1"), "70000");

    // And the whole process.
    chain.end();
    node.until("trouble");
    node.signal("-TERM");
    node.until("gave_up");
    assert_eq!(node.ended(), (0, String::new()));
}

#[test]
fn a_further_chain_is_followed_while_the_first_is_away() {
    let folder = folder();
    casino(folder.path());
    let chain = Chain::with_id("1337");
    let mut serve = command(folder.path());
    let of_first = ["chain.id=31337", "chain.rpc=http://127.0.0.1:1", "chain.poll_ms=10"].map(str::to_owned);
    let genesis = format!("chain.genesis=0x{}", "11".repeat(32));
    let of_first = of_first.into_iter().chain([genesis, format!("chain.wallet={WALLET}")]);
    let of_second = [
        "chains.second.id=1337".to_owned(),
        "chains.second.symbol=SEC".to_owned(),
        "chains.second.confirmations=2".to_owned(),
        "chains.second.poll_ms=10".to_owned(),
        "chains.second.signer=".to_owned(),
        format!("chains.second.genesis={}", chain.started["genesis"].as_str().unwrap()),
        format!("chains.second.wallet={WALLET}"),
    ];
    let set = of_first.chain(of_second).flat_map(|set| ["--set".to_owned(), set]);
    serve.envs(API_ANYWHERE).env("BANKROLL__CHAINS__SECOND__RPC", chain.url()).args(["serve", "--json"]).args(set);
    let node = Running::spawn(serve, "node-1");
    let [nothing, trouble] = node.until_all(["pays_nothing", "trouble"]);
    let says = "eip155:1337: pays nothing on eip155:1337: chains.second.signer is empty";
    assert_eq!((&nothing["chain"], &nothing["message"]), (&json!("eip155:1337"), &json!(says)));
    assert_eq!(trouble["chain"], "eip155:31337", "{trouble}");
    sign_in(folder.path());

    let raw = player().sign(&Payment::new(1_337, 0, WALLET.parse().unwrap(), U256::from(70_000)));
    chain.tell("eth_sendRawTransaction", &json!([raw.to_string()]));
    chain.tell("sim_mine", &json!([2]));
    let credited = node.until("deposit_credited");
    let (hash, address) = (transaction_hash(&raw), format!("{:#x}", player().address()));
    let says = format!(
        "eip155:1337: deposit {hash:#x}: 0.00000000000007 SEC is credited to player {address} as unallocated: wrong_asset"
    );
    assert_eq!((&credited["chain"], &credited["message"]), (&json!("eip155:1337"), &json!(says)));
    let balance = |name: &str| run(folder.path(), &["balance", name, "--json"]).json()["balance"].clone();
    assert_eq!(balance(&format!("arena/unallocated/2/{address}")), "70000");
    assert_eq!(balance("@house/custody/2/hot-1337"), "70000");
    node.signal("-TERM");
    assert_eq!(node.ended(), (0, String::new()));
    chain.end();
}

#[test]
fn a_chain_that_cannot_be_is_refused_with_everything_that_is_wrong() {
    let folder = folder();
    let check = |set: &[&str], says: &[&str]| {
        let set = set.iter().flat_map(|set| ["--set", *set]);
        let args: Vec<&str> = ["config", "check"].into_iter().chain(set).collect();
        run(folder.path(), &args).fails(2, says);
    };
    let rpc = "chain.rpc=http://127.0.0.1:8545";
    check(
        &[rpc],
        &[
            "chain.genesis: set this to the chain's genesis hash",
            "chain.wallet: set this to the wallet that players pay to",
        ],
    );
    check(&["chain.rpc=ftp://node/s3cret"], &["chain.rpc: write it http://host:port/path"]);
    check(&[rpc, "chain.wallet=0xab"], &["chain.wallet: \"0xab\": an address is 0x and 40 hexadecimal digits"]);
    let nobodys = format!("chain.wallet=0x{}", "0".repeat(40));
    check(&[rpc, &nobodys], &["chain.wallet: this is the zero address, which has no key"]);
    let mistyped = "chain.wallet=0xD654dfd650a6B388b114f1B85e3f04f6642FCEF2";
    check(&[rpc, mistyped], &["the address does not match its checksum: a digit is mistyped"]);
    check(&[rpc, "chain.confirmations=-1"], &["chain.confirmations: -1 is not a whole number from 0 to 10000"]);
    check(
        &[rpc, "chain.poll_ms=0", "server.world_bps=20000"],
        &["chain.poll_ms: 0", "server.world_bps: 20000 is not a whole number from 0"],
    );
    check(&[rpc, "server.name=Arena"], &["server.name: \"Arena\": a name is"]);
    check(&["server.buy_in=-1"], &["server.buy_in", "-1 is not an amount"]);
    check(&["chain.confirmation=3"], &["no key `chain.confirmation`; did you mean `chain.confirmations`?"]);
}

#[test]
fn the_key_of_a_provider_is_not_shown() {
    let env = [
        ("BANKROLL__CHAIN__RPC", "https://node.example/v2/s3cret"),
        ("BANKROLL__CHAIN__GENESIS", "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"),
        ("BANKROLL__CHAIN__WALLET", WALLET),
        ("BANKROLL__SERVER__BUY_IN", "20000000000000000"),
    ];
    for args in [&["config", "show"][..], &["config", "show", "--json"], &["config", "show", "--origin"]] {
        let shown = run_with(folder().path(), &env, args).ok();
        assert!(shown.contains("https://node.example/***") && !shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("20000000000000000"), "{shown}");
    }
    run_with(folder().path(), &env, &["config", "check"]).ok();
}
