//! `bankroll chain --state FILE`: the same chain after a restart.

use std::path::Path;

use serde_json::{Value, json};

use super::Served;
use crate::{
    program::{API_ANYWHERE, command, folder, run},
    running::Running,
    serve_chain::{WALLET, casino, player, sign_in},
};

const STATE: [&str; 6] = ["--block-time", "0", "--seed", "7", "--state", "chain.jsonl"];

fn start(folder: &Path) -> Served {
    Served::start_in(folder, &STATE)
}

/// Account 2 pays; returns the transaction.
fn pay(chain: &Served, wei: &str) -> Value {
    let (from, to) = (&chain.started["accounts"][2]["address"], format!("0x{}", "aa".repeat(20)));
    chain.tell("eth_sendTransaction", json!([{ "from": from, "to": to, "value": wei }]))
}

fn receipt(chain: &Served, transaction: &Value) -> Value {
    chain.tell("eth_getTransactionReceipt", json!([transaction]))
}

fn block(chain: &Served, number: &str) -> Value {
    chain.tell("eth_getBlockByNumber", json!([number, true]))
}

#[test]
fn blocks_and_receipts_are_there_after_a_restart_and_the_next_payment_works() {
    let folder = folder();
    let chain = start(folder.path());
    assert_eq!(chain.started["block"], 0);
    let first = pay(&chain, "0x5");
    chain.tell("evm_mine", json!([{ "blocks": 3 }]));
    let before = (receipt(&chain, &first), block(&chain, "latest"), block(&chain, "0x1"));
    chain.kill();

    let chain = start(folder.path());
    assert_eq!(chain.started["block"], 3);
    assert_eq!((receipt(&chain, &first), block(&chain, "latest"), block(&chain, "0x1")), before);
    assert_eq!(before.0["blockNumber"], "0x1");
    let second = pay(&chain, "0x6");
    chain.tell("evm_mine", json!([]));
    assert_eq!(receipt(&chain, &second)["blockNumber"], "0x4");
    assert_eq!(block(&chain, "0x4")["parentHash"], before.1["hash"]);
    let to = format!("0x{}", "aa".repeat(20));
    assert_eq!(chain.tell("eth_getBalance", json!([to, "latest"])), "0xb");
}

#[test]
fn a_reorganised_chain_stays_reorganised() {
    let folder = folder();
    let chain = start(folder.path());
    let dropped = pay(&chain, "0x5");
    chain.tell("evm_mine", json!([{ "blocks": 3 }]));
    let orphan = block(&chain, "latest")["hash"].take();
    chain.tell("sim_reorg", json!([3, 2, "dropped"]));
    let head = block(&chain, "latest");
    chain.kill();

    let chain = start(folder.path());
    assert_eq!((block(&chain, "latest"), &head["number"]), (head.clone(), &json!("0x2")));
    assert!(receipt(&chain, &dropped).is_null());
    // The replaced blocks are still known, and can become the chain again.
    chain.tell("sim_adopt", json!([orphan]));
    assert_eq!(block(&chain, "latest")["hash"], orphan);
    chain.kill();
    let chain = start(folder.path());
    assert_eq!(block(&chain, "latest")["hash"], orphan);
    assert_eq!(receipt(&chain, &dropped)["blockNumber"], "0x1");
}

#[test]
fn a_torn_last_write_loses_no_earlier_block() {
    let folder = folder();
    let file = folder.path().join("chain.jsonl");
    let chain = start(folder.path());
    chain.tell("evm_mine", json!([]));
    let second = std::fs::read(&file).unwrap().len();
    chain.tell("evm_mine", json!([]));
    chain.kill();
    let whole = std::fs::read(&file).unwrap();
    for end in [second + 1, whole.len() - 1] {
        std::fs::write(&file, &whole[..end]).unwrap();
        let chain = start(folder.path());
        assert_eq!(chain.started["block"], 1);
        // The same block again: no client has seen the one that was lost.
        chain.tell("evm_mine", json!([]));
        chain.kill();
        assert_eq!(std::fs::read(&file).unwrap(), whole);
    }
    // The first line is as much as was written.
    std::fs::write(&file, &whole[..20]).unwrap();
    assert_eq!(start(folder.path()).started["block"], 0);
}

#[test]
fn a_file_that_is_damaged_or_of_another_chain_is_refused_and_not_changed() {
    let folder = folder();
    let file = folder.path().join("chain.jsonl");
    let chain = start(folder.path());
    pay(&chain, "0x5");
    chain.tell("evm_mine", json!([]));
    chain.tell("evm_mine", json!([]));
    chain.kill();
    let whole = std::fs::read_to_string(&file).unwrap();
    let refused = |content: &str, args: &[&str], says: &[&str]| {
        std::fs::write(&file, content).unwrap();
        let args: Vec<&str> = ["chain", "--port", "0"].iter().chain(args).copied().collect();
        run(folder.path(), &args).fails(1, says);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    };
    let damaged = ["chain.jsonl cannot be replayed", "line 2 is damaged; restore the file, or begin with another one"];
    refused(&whole.replacen("\"base_fee\":8", "\"base_fee\":9", 1), &STATE, &damaged);
    refused(&whole.replacen("\"after\":0", "\"after\":0,", 1), &STATE, &damaged);
    let lines: Vec<&str> = whole.lines().collect();
    let gap = format!("{}\n{}\n", lines[0], lines[2]);
    refused(&gap, &STATE, &["line 2 is damaged", "there is no block 1 to continue"]);
    let header = "it is not a chain file of this version: line 1 is not its header";
    refused("my diary\n", &STATE, &[header]);
    refused("my diary", &STATE, &[header]);
    run(folder.path(), &["chain", "--port", "0", "--state", "/dev/zero"]).fails(1, &["is not a file that can be kept"]);
    let other = "it has the chain with id 31337 and seed 7, and this is id 31337 and seed 8: start with the same";
    refused(&whole, &["--seed", "8", "--state", "chain.jsonl"], &[other]);
}

#[test]
fn two_processes_cannot_use_one_file() {
    let folder = folder();
    let chain = start(folder.path());
    let args: Vec<&str> = ["chain", "--port", "0"].iter().chain(&STATE).copied().collect();
    run(folder.path(), &args).fails(1, &["chain.jsonl is in use by another process: end it, or use another file"]);
    chain.tell("evm_mine", json!([]));
    chain.kill();
    assert_eq!(start(folder.path()).started["block"], 1);
}

/// A node that follows this chain: deposits are final after two blocks.
fn serve(casino: &Path, chain: &Served) -> Running {
    let (url, genesis) = (chain.url(), chain.started["genesis"].as_str().unwrap());
    let set = [
        "chain.id=31337".to_owned(),
        "chain.confirmations=2".to_owned(),
        "chain.poll_ms=10".to_owned(),
        format!("chain.rpc={url}"),
        format!("chain.genesis={genesis}"),
        format!("chain.wallet={WALLET}"),
    ];
    let mut serve = command(casino);
    serve.envs(API_ANYWHERE).args(["serve", "--json"]).args(set.iter().flat_map(|set| ["--set", set]));
    Running::spawn(serve, "node-1")
}

#[test]
fn books_that_follow_the_chain_go_on_after_both_were_stopped_and_started_again() {
    let (chains, casinos) = (folder(), folder());
    casino(casinos.path());
    let account = format!("arena/funds/1/{:#x}", player().address());
    for (round, balance) in [(1, "10000000000000000"), (2, "20000000000000000")] {
        let chain = start(chains.path());
        let node = serve(casinos.path(), &chain);
        node.until_all(["follows", "commands"]);
        sign_in(casinos.path());
        let payment = json!([{ "from": player().address(), "to": WALLET, "value": "0x24c545296ce000" }]);
        let sent = chain.tell("eth_sendTransaction", payment);
        chain.tell("evm_mine", json!([{ "blocks": 2 }]));
        let credited = node.until("deposit_credited");
        assert!(credited["message"].as_str().unwrap().contains(sent.as_str().unwrap()), "{credited}");
        node.signal("-TERM");
        assert_eq!(node.ended(), (0, String::new()));
        chain.kill();
        assert_eq!(run(casinos.path(), &["balance", &account, "--json"]).json()["balance"], balance, "round {round}");
    }
}
