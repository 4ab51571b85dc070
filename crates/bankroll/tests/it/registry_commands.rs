//! `registry`, `servers` and `transfer`: clients of the Funds API, without a node and with one.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    program::{Run, command, credit, folder, run, run_with},
    running::Running,
};

/// The account 0 of the mnemonic of anvil, and its first address.
const XPUB: &str =
    "xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP";
const FIRST: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const DEVELOPER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const FUNDS: &str = "arena/funds/1/0x9c36b95a952c3450b32e77fdcd6464c2f91dd09e";

fn program(folder: &Path, args: &str) -> Run {
    run(folder, &words(args))
}

fn words(args: &str) -> Vec<&str> {
    args.split_whitespace().collect()
}

/// A folder whose owner has registered a chain and its coin; the key of the game server is in `arena.key`.
fn casino() -> (TempDir, String) {
    let folder = folder();
    let at = folder.path();
    program(at, "init --set chain.id=31337").ok();
    program(at, "registry chains add eip155:31337 --label Anvil").ok();
    program(at, "registry assets add ETH --chain eip155:31337 --decimals 18").ok();
    let key = program(at, "keys auth arena.key --json").json();
    program(at, "keys auth stranger.key").ok();
    (folder, key["address"].as_str().unwrap().to_owned())
}

fn add_keys(at: &Path, address: &str) {
    let added = program(at, &format!("registry custody-keys add main --xpub {XPUB}")).ok();
    assert_eq!(added, "added custody key main\n");
    program(at, &format!("registry wallets add hot --chain eip155:31337 --role hot --address {FIRST}")).ok();
    let bounds = "--buy-in-min 1 --buy-in-max 1000 --developer-bps-max 500 --world-bps-max 500";
    let of = "--server arena --chain eip155:31337 --asset 1 --custody-key main";
    let add = format!("registry server-keys add {address} {of} {bounds} --id first-key");
    assert_eq!(program(at, &add).ok(), format!("added server key {address} of arena\n"));
    // The same command again, under the same id, has the first answer.
    assert_eq!(program(at, &add).ok(), format!("added server key {address} of arena\n"));
}

fn register(at: &Path, buy_in: u32) -> Run {
    let terms = format!("--buy-in {buy_in} --developer-bps 100 --world-bps 250 --mass-per-coin 1000");
    let wallets = format!("--payout-address {FIRST} --developer {DEVELOPER}");
    program(at, &format!("servers register arena --key arena.key {terms} {wallets} --json"))
}

fn changed(at: &Path) -> Vec<Value> {
    program(at, "registry changes --json").json()["entries"].as_array().unwrap().clone()
}

#[test]
fn the_owner_changes_the_registry_and_a_server_registers_without_a_node() {
    let (folder, address) = casino();
    let at = folder.path();
    add_keys(at, &address);
    let listed = program(at, "registry server-keys list").ok();
    assert!(listed.contains(&address) && listed.contains("valid"), "{listed}");
    assert!(program(at, "registry custody-keys list").ok().contains(FIRST));
    let keys = program(at, "registry custody-keys list --json").json();
    assert_eq!(keys["entries"][0]["xpub"], XPUB);

    let registered = register(at, 100).json();
    assert_eq!(registered["server"]["deposit_address"], FIRST);
    register(at, 1_001).fails(1, &["the Funds API refused the request", "buyIn", "out_of_bounds"]);
    let session = program(at, "servers session arena --key arena.key").ok();
    assert!(session.contains("curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:8640/v1/servers/arena\n"));
    assert!(session.contains("  TOKEN="), "{session}");

    assert_eq!(program(at, "servers pause arena --spawns").ok(), "paused arena: spawns\n");
    assert_eq!(program(at, "servers pause arena --withdrawals").ok(), "paused arena: spawns, withdrawals\n");
    let newest = &changed(at)[0];
    assert_eq!(newest["changes"][0]["server"]["pauses"]["withdrawals"], true);
    assert_eq!(newest["by"], "operator:owner");
    assert!(program(at, "registry changes").ok().contains("server arena, version 3, paused: spawns, withdrawals\n"));
    assert!(program(at, "servers show arena").ok().contains("status             paused_withdrawals\n"));
    // Lifting a pause needs two people, or a quorum of one that was set explicitly.
    let proposed = program(at, "servers resume arena").ok();
    assert!(proposed.contains("arena keeps these pauses: none") && proposed.contains("status  open"), "{proposed}");
    program(at, "operators quorum 1").ok();
    assert_eq!(program(at, "servers resume arena").ok(), "active arena: nothing is paused\n");
    assert!(program(at, "servers list").ok().contains("active"));

    let revoked = program(at, &format!("registry server-keys revoke {address}")).ok();
    assert_eq!(revoked, format!("revoked server key {address} of arena, revoked\n"));
    program(at, "servers session arena --key arena.key").fails(1, &["key_revoked"]);
    program(at, "audit").ok();
}

#[test]
fn the_owner_ends_keys_removes_capital_and_sets_what_a_server_cannot() {
    let (folder, address) = casino();
    let at = folder.path();
    add_keys(at, &address);
    register(at, 100).ok();
    let ends = format!("registry server-keys update {address} --valid-until 2036-12-01T00:00:00Z --spend-limit 500");
    assert_eq!(program(at, &ends).ok(), format!("changed server key {address} of arena\n"));
    assert!(program(at, "registry server-keys list").ok().contains("until 2036-12-01T00:00:00"));
    let key = |json: &Value| (json["entries"][0]["valid_until"].clone(), json["entries"][0]["spend_limit"].clone());
    program(at, &format!("registry server-keys update {address} --no-end")).ok();
    let listed = program(at, "registry server-keys list --json").json();
    assert_eq!(key(&listed), (Value::Null, "500".into()), "what is not named stays");

    let second = program(at, "keys auth second.key --json").json()["address"].as_str().unwrap().to_owned();
    program(at, &format!("operators add omar --address {second} --role owner")).ok();
    let owner = program(at, "operators show owner --json").json();
    let first = owner["keys"][0]["address"].clone();
    let revoke = |address: &str, with: &str| program(at, &format!("operators revoke-key {address} --key {with}"));
    revoke(first.as_str().unwrap(), "second.key").ok();
    program(at, "registry chains list").fails(1, &["the registry knows no valid key 0x"]);
    revoke(&second, "second.key").fails(1, &["it is the last key of the last owner"]);

    let owner = |args: &str| program(at, &format!("{args} --key second.key"));
    owner(&format!("registry treasury add {DEVELOPER} --chain eip155:31337")).ok();
    owner(&format!("registry treasury remove {DEVELOPER} --chain eip155:31337")).ok();
    assert!(owner("registry treasury list").ok().contains("removed"));
    assert_eq!(owner("servers set arena --player-addresses on").ok(), "changed arena: version 2\n");
    assert_eq!(owner("servers set arena --player-addresses on").ok(), "nothing had to change\n");
    assert_eq!(owner("servers set arena --labels europe").ok(), "changed arena: version 3\n");
    owner(&format!("servers set arena --developer {second}")).ok();
    assert!(owner("servers show arena").ok().contains(&format!("developer          {second}\n")));
    register(at, 100).fails(1, &["only the owner changes it"]);
    program(at, "audit").ok();
}

#[test]
fn a_key_that_may_not_ask_is_refused_with_a_sentence() {
    let (folder, address) = casino();
    let at = folder.path();
    add_keys(at, &address);
    let before = changed(at).len();
    let add = format!("registry custody-keys add other --address {DEVELOPER}");
    program(at, &format!("{add} --key stranger.key")).fails(1, &["the registry knows no valid key 0x"]);
    register(at, 100).ok();
    program(at, &format!("{add} --key arena.key")).fails(1, &[&format!("the key {address} may not do this")]);
    program(at, "servers session arena --key stranger.key").fails(1, &["key_not_allow_listed"]);
    program(at, &format!("{add} --key nope.key")).fails(3, &["there is no key file nope.key"]);
    program(at, "servers pause nowhere --spawns").fails(3, &["not_found"]);
    program(at, "registry chains add bitcoin --label x").fails(2, &["a chain is named eip155: and its chain id"]);
    program(at, "registry chains add eip155:31337 --label x").fails(1, &["conflict"]);
    let other_audience = "registry chains list --set api.audience=elsewhere.example";
    // Without a node this process is the service, too: its name is the one of the command.
    program(at, other_audience).ok();
    // The registration, and nothing of what was refused.
    assert_eq!(changed(at).len(), before + 1);
}

#[test]
fn a_game_server_transfers_once_under_one_id() {
    let (folder, address) = casino();
    let at = folder.path();
    add_keys(at, &address);
    register(at, 100).ok();
    credit(at, FUNDS, 1_000);
    let transfer = |amount: u32, id: &str| {
        let who = "--server arena --key arena.key --json";
        program(at, &format!("transfer {FUNDS} arena/world/1 {amount} {who} --id {id}"))
    };
    let moved = transfer(300, "round-1").json();
    assert_eq!(moved["postings"][0]["from_balance"], "700");
    assert_eq!(transfer(300, "round-1").json(), moved, "a repeated id moves nothing");
    transfer(301, "round-1").fails(1, &["idempotency_mismatch"]);
    transfer(701, "round-2").fails(1, &["insufficient_funds"]);
    let account = program(at, &format!("accounts show {FUNDS} --json")).json();
    assert_eq!(account["balance"], "700");
    let of_server = program(at, &format!("accounts show {FUNDS} --key arena.key --json")).json();
    assert_eq!((&of_server["account"], &of_server["balance"]), (&FUNDS.into(), &"700".into()));
    let listed = program(at, "accounts list --server arena --kind world --key arena.key").ok();
    assert_eq!(listed, " ACCOUNT        BALANCE  HELD  AVAILABLE\n arena/world/1      300     0        300\n");
    program(at, "accounts list --server other --key arena.key").fails(3, &["not_found"]);
    program(at, "audit").ok();
}

#[test]
fn with_a_node_the_commands_ask_it() {
    let (folder, address) = casino();
    let at = folder.path();
    let mut serve = command(at);
    serve.args(["serve", "--json"]);
    let node = Running::spawn(serve, "node-1");
    let [api, _] = node.until_all(["api", "commands"]);
    add_keys(at, &address);
    register(at, 100).ok();
    // The same over HTTP, from a folder that has nothing but the key.
    let (elsewhere, url) = (crate::program::folder(), api["url"].as_str().unwrap().to_owned());
    std::fs::copy(at.join("owner.key"), elsewhere.path().join("owner.key")).unwrap();
    let at_url = [("BANKROLL__API__URL", url.as_str()), ("BANKROLL__CHAIN__ID", "31337")];
    let there = |args: &str| run_with(elsewhere.path(), &at_url, &words(args));
    assert_eq!(there("registry chains list").ok(), program(at, "registry chains list").ok());
    there("registry chains add eip155:31337 --label x").fails(1, &["conflict"]);
    assert_eq!(program(at, "servers pause arena --deposits").ok(), "paused arena: deposits\n");
    assert_eq!(changed(at)[0]["changes"][0]["server"]["pauses"]["deposits"], true);
    let add = format!("registry custody-keys add other --address {DEVELOPER}");
    program(at, &format!("{add} --key stranger.key")).fails(1, &["the registry knows no valid key 0x"]);
    let other_audience = "registry chains list --set api.audience=elsewhere.example";
    program(at, other_audience).fails(1, &["does not count here", "elsewhere.example"]);
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
    // What the node recorded is there without it.
    assert!(program(at, "servers list").ok().contains("paused_deposits"));
    program(at, "audit").ok();
}
