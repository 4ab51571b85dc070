//! `players open`, `players sign-in` and `withdrawals request` without a node: the command serves the Funds API itself.
//! With a node the tutorial has the story.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Run, credit, folder, run};

const WALLET: &str = "0x00000000000000000000000000000000000000AA";
/// Account 1 of `bankroll chain`, whose key is in `player.key`.
const PLAYER: &str = "0x9c36B95A952c3450B32e77fDcd6464C2F91dD09E";
const FUNDS: &str = "arena/funds/1/0x9c36b95a952c3450b32e77fdcd6464c2f91dd09e";

fn program(folder: &Path, args: &str) -> Run {
    run(folder, &args.split_whitespace().collect::<Vec<_>>())
}

/// Books with a registered game server; no node has ever run here.
fn casino() -> TempDir {
    let folder = folder();
    let at = folder.path();
    let genesis = format!("--set chain.genesis=0x{}", "11".repeat(32));
    let chain = format!("--set chain.rpc=http://127.0.0.1:1 --set chain.id=31337 --set chain.wallet={WALLET}");
    program(at, &format!("init {chain} {genesis}")).ok();
    program(at, "registry chains add eip155:31337 --label Anvil").ok();
    program(at, "registry assets add ETH --chain eip155:31337 --decimals 18").ok();
    program(at, &format!("registry custody-keys add hot --address {WALLET}")).ok();
    program(at, &format!("registry wallets add hot --chain eip155:31337 --role hot --address {WALLET}")).ok();
    let key = program(at, "keys auth arena.key --json").json();
    let (address, of) = (key["address"].as_str().unwrap(), "--server arena --chain eip155:31337 --asset 1");
    let bounds = "--buy-in-min 1 --buy-in-max 1000000000000000000 --developer-bps-max 500 --world-bps-max 500";
    program(at, &format!("registry server-keys add {address} {of} --custody-key hot {bounds}")).ok();
    let terms = "--buy-in 10000000000000000 --developer-bps 250 --world-bps 100 --mass-per-coin 1000";
    let wallets = format!("--payout-address {WALLET} --developer 0x70997970C51812dc3A010C7d01b50e0d17dc79C8");
    program(at, &format!("servers register arena --key arena.key {terms} {wallets}")).ok();
    program(at, "chain key 1 player.key").ok();
    folder
}

fn withdraw(folder: &Path, id: &str, amount: &str, more: &str) -> Run {
    let of = "withdrawals request --key player.key --max-fee 0.001 --json";
    program(folder, &format!("{of} --id {id} --amount {amount} {more}"))
}

fn account(folder: &Path) -> Value {
    program(folder, &format!("accounts show {FUNDS} --json")).json()
}

#[test]
fn a_game_server_opens_a_player_who_learns_what_to_pay() {
    let folder = casino();
    let open = |more: &str| program(folder.path(), &format!("players open {PLAYER} {more}"));
    open("--key player.key").fails(1, &["the registry knows no valid key 0x9c36B95A952c3450B32e77fDcd6464C2F91dD09E"]);
    open("--key arena.key --server maze").fails(3, &["not_found"]);
    let opened = open("--key arena.key --json").json();
    assert_eq!((&opened["account"], &opened["pay_to"]), (&FUNDS.into(), &WALLET.into()));
    assert_eq!((&opened["buy_in"], &opened["price"]), (&"10000000000000000".into(), &"10350000000000000".into()));
    // Again, it changes nothing.
    let text = open("--key arena.key").ok();
    assert!(text.contains(&format!("open: {FUNDS}\n  0.01035 ETH buys in for 0.01 ETH; fees are on top\n")), "{text}");
    program(folder.path(), "audit").ok();
}

#[test]
fn a_player_signs_in_with_the_key_of_a_wallet() {
    let folder = casino();
    let text = program(folder.path(), "players sign-in --key player.key").ok();
    assert!(text.starts_with(&format!("signed in as player {}\n", PLAYER.to_lowercase())), "{text}");
    assert!(!text.contains("brs_"), "the token is printed only if it is asked for: {text}");
    let again = program(folder.path(), "players sign-in --key player.key --json").json();
    assert_eq!((&again["player"], &again["token"]), (&PLAYER.to_lowercase().into(), &Value::Null));
    let token = program(folder.path(), "players sign-in --key player.key --token").ok();
    assert!(token.starts_with("brs_") && token.lines().count() == 1, "{token}");
    program(folder.path(), "audit").ok();
}

#[test]
fn a_payout_holds_its_money_at_once_and_the_same_id_is_one_payout() {
    let folder = casino();
    let at = folder.path();
    let refused = ["has no account at arena", "bankroll players open"];
    withdraw(at, "leave-1", "0.009", "").fails(3, &refused);
    program(at, &format!("players open {PLAYER} --key arena.key")).ok();
    withdraw(at, "leave-1", "0.009", "").fails(1, &["insufficient_funds"]);
    credit(at, FUNDS, 11_000_000_000_000_000);

    let first = withdraw(at, "leave-2", "0.008", "").json();
    assert_eq!(
        (&first["stage"], &first["asker"]),
        (&"waiting".into(), &format!("player/{}", PLAYER.to_lowercase()).into())
    );
    assert_eq!((&first["to"], &account(at)["held"]), (&PLAYER.into(), &"9000000000000000".into()));
    assert_eq!(withdraw(at, "leave-2", "0.008", "").json(), first, "the same id is the same payout");
    withdraw(at, "leave-2", "0.0001", "").fails(1, &["the id leave-2 belongs to another payout"]);
    // The policy of today does not make another payout of it.
    assert_eq!(withdraw(at, "leave-2", "0.008", "--set chain.pay_at_once=1000").json(), first);
    assert_eq!(account(at)["held"], "9000000000000000");

    // Above chain.pay_at_once it waits for an approval.
    let waits = withdraw(at, "leave-3", "0.001", "--set chain.pay_at_once=1000").json();
    assert_eq!((&waits["stage"], &account(at)["available"]), (&"awaiting_approval".into(), &"0".into()));
    program(at, "audit").ok();
}
