//! `bankroll chain pay`: exact amounts, on test chains only with test keys, on this chain and on anvil.

use bankroll_chains_simulated::SimulatedKey;
use serde_json::{Value, json};

use super::{Served, anvil::Anvil, post};
use crate::program::{Run, folder, run};

const TO: &str = "0x52908400098527886E0F7030069857D2E4169EE7";

fn pay(args: &[&str]) -> Run {
    let args: Vec<&str> = ["chain", "pay"].iter().chain(args).copied().collect();
    run(folder().path(), &args)
}

fn balance(url: &str, of: &str) -> Value {
    let request =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": [of, "latest"] }).to_string();
    serde_json::from_str::<Value>(&post(url, &request)).unwrap()["result"].take()
}

#[test]
fn coins_are_paid_exactly_and_the_block_is_waited_for() {
    let chain = Served::start(&["--block-time", "1"]);
    let url = chain.url();
    let paid = pay(&["--rpc", url, "--from", "1", "--to", TO, "--amount", "0.01035", "--wait", "1", "--json"]).json();
    let from = SimulatedKey::derived(1, 1).address().to_string();
    assert_eq!((&paid["from"], &paid["to"]), (&json!(from), &json!(TO)));
    assert_eq!((&paid["amount"], &paid["nonce"]), (&json!("10350000000000000"), &json!(0)));
    let receipt = chain.tell("eth_getTransactionReceipt", json!([paid["transaction"]]));
    let block = paid["block"]["number"].as_u64().unwrap();
    assert_eq!((&receipt["status"], &receipt["blockNumber"]), (&json!("0x1"), &json!(format!("{block:#x}"))));

    // The same account by its address, without a checksum, in words.
    let (from, to) = (from.to_lowercase(), TO.to_lowercase());
    let text =
        pay(&["--rpc", url, "--from", &from, "--to", &to, "--amount", "0.000000000000000001", "--wait", "2"]).ok();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[2]), ("sent 0.000000000000000001 coins", format!("  to   {TO}").as_str()));
    let hash = lines[3].strip_prefix("transaction ").unwrap();
    assert!(lines[4].starts_with("in block "), "{text}");
    assert!(lines[7].ends_with(&format!(" explain {hash} --dir DIR")), "{text}");
    assert_eq!(balance(url, TO), format!("{:#x}", 10_350_000_000_000_001_u64));
}

#[test]
fn a_chain_that_makes_no_blocks_is_not_waited_for_for_ever() {
    let chain = Served::start(&["--block-time", "0", "--seed", "5"]);
    let to = ["--rpc", chain.url(), "--to", TO, "--amount", "1"];
    let failed = pay(&[&to[..], &["--seed", "5", "--wait", "1", "--timeout", "0"]].concat());
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.contains("is not in a block after 0 s; does the chain make blocks?"), "{}", failed.stderr);
    chain.tell("evm_mine", json!([]));
    assert_eq!(balance(chain.url(), TO), format!("{:#x}", 1_000_000_000_000_000_000_u64));
    // Without the seed it is another account, which has nothing here.
    pay(&to).fails(1, &["test account 0 has no coins on this chain; with `bankroll chain --seed N` give --seed N"]);
}

#[test]
fn public_test_keys_are_refused_on_a_chain_that_is_not_for_tests() {
    let chain = Served::start(&["--block-time", "0", "--chain-id", "5", "--seed", "9"]);
    let to = ["--rpc", chain.url(), "--to", TO, "--amount", "1"];
    let why = "the node is on chain 5, which is not a test chain (31337, 1337)";
    pay(&to).fails(2, &[why, "--key-file FILE"]);
    let folder = folder();
    let file = folder.path().join("key.txt");
    let with_file = [&to[..], &["--key-file", file.to_str().unwrap()]].concat();
    let anvils = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    for public in [SimulatedKey::derived(1, 4).to_bytes().to_string(), anvils.to_owned()] {
        std::fs::write(&file, public).unwrap();
        pay(&with_file).fails(2, &["has the key of the test account 0x", "which everybody knows"]);
    }
    std::fs::write(&file, "my key").unwrap();
    pay(&with_file).fails(2, &["key.txt must have one key: 64 hexadecimal digits"]);
    // A key of one's own.
    std::fs::write(&file, format!("{}\n", SimulatedKey::derived(9, 0).to_bytes())).unwrap();
    pay(&with_file).ok();
    chain.tell("evm_mine", json!([]));
    assert_eq!(balance(chain.url(), TO), format!("{:#x}", 1_000_000_000_000_000_000_u64));
}

#[test]
fn what_cannot_be_paid_is_refused_with_the_reason() {
    let chain = Served::start(&["--block-time", "0"]);
    let refused = |args: &[&str], code: i32, says: &str| {
        pay(&[&["--rpc", chain.url()], args].concat()).fails(code, &[says]);
    };
    let mistyped = "0x52908400098527886E0F7030069857D2E4169Ee7";
    refused(&["--to", mistyped, "--amount", "1"], 2, "does not match its checksum");
    refused(&["--to", "0x52", "--amount", "1"], 2, "an address is 0x and 40 hexadecimal digits");
    let zero = format!("0x{}", "0".repeat(40));
    refused(&["--to", &zero, "--amount", "1"], 2, "--to is the zero address");
    refused(&["--to", TO, "--amount", "1e18"], 2, "an amount is digits with at most one point");
    refused(&["--to", TO, "--amount", "0"], 2, "the amount must be more than 0");
    refused(&["--to", TO, "--amount", "1", "--from", "10"], 2, "a test account is a number from 0 to 9");
    refused(&["--to", TO, "--amount", "1", "--from", TO], 3, "is not a test account of seed 1 or of anvil");
    refused(&["--to", TO, "--amount", "1000000.5"], 1, "has 1,000,000 coins, fewer than 1,000,000.5");
    let refusing = "0x00000000000000000000000000000000000d0005";
    refused(&["--to", refusing, "--amount", "1"], 1, "the payment would fail");
    pay(&["--rpc", "ftp://node", "--to", TO, "--amount", "1"]).fails(2, &["--rpc: the URL of an RPC node must be"]);
    chain.tell("sim_crash", json!([true]));
    let no_chain = format!("no chain answers at {}; `bankroll chain` starts one", chain.url());
    refused(&["--to", TO, "--amount", "1"], 1, &no_chain);
}

#[test]
fn anvils_test_accounts_pay_too() {
    let anvil = Anvil::start("31337");
    let to = ["--rpc", &anvil.url, "--to", TO, "--amount", "2.5", "--wait", "1", "--json"];
    let paid = pay(&[&to[..], &["--from", "3"]].concat()).json();
    assert_eq!(paid["from"], "0x90F79bf6EB2c4f870365E785982E1f101E93b906");
    let paid = pay(&[&to[..], &["--from", "0xa0ee7a142d267c1f36714e4a8f75612f20a79720"]].concat()).json();
    assert_eq!((&paid["block"]["number"], &paid["nonce"]), (&json!(2), &json!(0)));
    assert_eq!(balance(&anvil.url, TO), format!("{:#x}", 5_000_000_000_000_000_000_u64));
    let other = Anvil::start("1");
    pay(&["--rpc", &other.url, "--to", TO, "--amount", "1"]).fails(2, &["chain 1, which is not a test chain"]);
}
