//! `deposits hold`, `confirm`, `refuse` and `assign` with a node that follows a chain: what waited for people reaches its
//! player by two of them, and never by one.

use std::path::Path;

use bankroll_chains_simulated::{Payment, SimulatedKey, U256};
use serde_json::{Value, json};

use crate::{
    program::{API_ANYWHERE, Run, command, folder, run},
    running::Running,
    serve_chain::{Chain, WALLET, casino, player, sign_in},
};

fn program(folder: &Path, args: &str) -> Run {
    let args = args.split_whitespace().chain(["--set", "chain.id=31337"]);
    run(folder, &args.collect::<Vec<_>>())
}

fn balance(folder: &Path, account: &str) -> Value {
    run(folder, &["balance", account, "--json"]).json()["balance"].clone()
}

/// The ids of the deposits that wait for people, by their state.
fn waiting(folder: &Path, state: &str) -> Vec<String> {
    let all = run(folder, &["deposits", "list", "--waiting", "--json"]).json()["deposits"].clone();
    let found = all.as_array().unwrap().iter().filter(|deposit| deposit["state"] == state);
    found.map(|deposit| deposit["id"].as_str().unwrap().to_owned()).collect()
}

/// Signs the one open proposal as the second person.
fn second_signature(at: &Path) -> Value {
    let open = program(at, "proposals list --status open --json").json()["proposals"].clone();
    assert_eq!(open.as_array().unwrap().len(), 1, "{open}");
    let proposal = open[0]["proposal"].as_str().unwrap();
    program(at, &format!("proposals confirm {proposal} --yes")).fails(1, &["already_signed"]);
    let done = program(at, &format!("proposals confirm {proposal} --key omar.key --yes --json")).json();
    program(at, &format!("proposals confirm {proposal} --key omar.key --yes")).fails(1, &["proposal_ended"]);
    done["outcome"]["state"].clone()
}

fn pay(chain: &Chain, from: &SimulatedKey, nonce: u64, wei: u64, blocks: u64) {
    let raw = from.sign(&Payment::new(31_337, nonce, WALLET.parse().unwrap(), U256::from(wei)));
    chain.tell("eth_sendRawTransaction", &json!([raw.to_string()]));
    chain.tell("sim_mine", &json!([blocks]));
}

/// A node that believes one RPC node about less than 0.001 ETH.
fn serve(folder: &Path, chain: &Chain) -> Running {
    let mut serve = command(folder);
    let set = ["chain.id=31337", "chain.confirmations=3", "chain.poll_ms=10", "chain.agreement_above=1000000000000000"];
    let of_chain = [
        format!("chain.rpc={}", chain.url()),
        format!("chain.genesis={}", chain.started["genesis"].as_str().unwrap()),
        format!("chain.wallet={WALLET}"),
    ];
    let set = set.into_iter().map(str::to_owned).chain(of_chain);
    serve.envs(API_ANYWHERE).args(["serve", "--json"]).args(set.flat_map(|set| ["--set".to_owned(), set]));
    Running::spawn(serve, "node-1")
}

#[test]
fn what_waits_for_people_reaches_its_player_by_two_of_them() {
    let folder = folder();
    let at = folder.path();
    casino(at);
    let omar = run(at, &["keys", "auth", "omar.key", "--json"]).json()["address"].clone();
    program(at, &format!("operators add omar --address {} --role owner", omar.as_str().unwrap())).ok();
    let (chain, stranger) = (Chain::start(), SimulatedKey::derived(7, 5));
    let node = serve(at, &chain);
    node.until_all(["took", "commands", "follows"]);
    sign_in(at);
    pay(&chain, &player(), 0, 10_350_000_000_000_000, 1);
    pay(&chain, &stranger, 0, 70_000, 3);
    node.until("deposit_suspended");
    let address = format!("{:#x}", player().address());
    let (funds, unallocated) = (format!("arena/funds/1/{address}"), format!("arena/unallocated/1/{address}"));

    // Too much for one provider's word.
    let held = waiting(at, "held").remove(0);
    let shown = program(at, &format!("deposits show {held}")).ok();
    assert!(shown.contains("held until people decide: one RPC node alone vouches for it"), "{shown}");
    let proposed = program(at, &format!("deposits confirm {held} --reason explorer")).ok();
    assert!(proposed.starts_with("proposed prp_") && proposed.contains("Next, as another person:"), "{proposed}");
    assert_eq!(balance(at, &funds), "0");
    assert_eq!(second_signature(at), "executed");
    node.until("deposit_credited");
    assert_eq!(balance(at, &funds), "10000000000000000");
    program(at, &format!("deposits release {held} --reason again")).fails(1, &["the books have it already"]);

    // A stranger's.
    let stray = waiting(at, "suspense").remove(0);
    program(at, &format!("deposits confirm {stray} --reason x")).fails(2, &["does not wait for a second word"]);
    let assign = format!("deposits assign {stray} --player {address} --reason ticket");
    program(at, &assign).ok();
    assert_eq!(balance(at, "@house/suspense/1"), "70000");
    assert_eq!(second_signature(at), "executed");
    assert_eq!((balance(at, "@house/suspense/1"), balance(at, &unallocated)), ("0".into(), "70000".into()));
    program(at, &assign).fails(1, &["it is not in suspense"]);

    // One that a person stops before it is final.
    pay(&chain, &player(), 1, 500, 1);
    node.until("deposit_included");
    let list = run(at, &["deposits", "list", "--state", "seen", "--json"]).json();
    let seen = list["deposits"][0]["id"].as_str().unwrap();
    let said = program(at, &format!("deposits hold {seen} --reason sanctions")).ok();
    assert!(said.starts_with(&format!("held {seen}\n")) && said.contains("deposits refuse"), "{said}");
    chain.tell("sim_mine", &json!([3]));
    node.until("deposit_final");
    assert_eq!(waiting(at, "held"), [seen]);
    program(at, &format!("deposits refuse {seen} --reason sanctions")).ok();
    assert_eq!(second_signature(at), "executed");
    let shown = program(at, &format!("deposits show {seen}")).ok();
    assert!(shown.contains("refused by people: nobody gets it"), "{shown}");
    assert!(waiting(at, "held").is_empty() && waiting(at, "suspense").is_empty());

    let log = program(at, "audit-log list").ok();
    assert!(log.contains(&format!("hold deposit {seen}")), "{log}");
    assert_eq!(program(at, "audit --json").json()["ok"], true);
    node.signal("-TERM");
    assert_eq!(node.ended().0, 0);
    chain.end();
}
