//! `players open` and `withdrawals request` without a node: the command opens the books itself. With a node the tutorial
//! has the story.

use std::path::Path;

use bankroll_ledger::{Asset, Unit};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Run, credit, folder, hold, run};

const PLAYER: &str = "0x9c36B95A952c3450B32e77fDcd6464C2F91dD09E";
const FUNDS: &str = "arena/funds/1/0x9c36b95a952c3450b32e77fdcd6464c2f91dd09e";

/// Books with the coin of their chain; no node has ever run here.
fn casino() -> TempDir {
    let folder = folder();
    let genesis = format!("chain.genesis=0x{}", "11".repeat(32));
    let set =
        ["chain.rpc=http://127.0.0.1:1", "chain.id=31337", "chain.wallet=0x00000000000000000000000000000000000000aa"];
    let args = ["init"].into_iter().chain(set.into_iter().chain([genesis.as_str()]).flat_map(|set| ["--set", set]));
    run(folder.path(), &args.collect::<Vec<_>>()).ok();
    folder
}

fn list_coin(folder: &Path) {
    let ledger = hold(folder);
    let coin = Asset { chain: "eip155:31337".parse().unwrap(), unit: Unit::Native, decimals: 18, symbol: "ETH".into() };
    ledger.list_asset(coin).unwrap();
    ledger.close();
}

fn withdraw(folder: &Path, id: &str, amount: &str, more: &[&str]) -> Run {
    let args = ["withdrawals", "request", "--player", PLAYER, "--id", id, "--amount", amount, "--json"];
    run(folder, &[&args, more].concat())
}

fn account(folder: &Path) -> Value {
    run(folder, &["accounts", "show", FUNDS, "--json"]).json()
}

#[test]
fn a_player_is_opened_once_and_learns_what_to_pay() {
    let folder = casino();
    let open = || run(folder.path(), &["players", "open", PLAYER, "--json"]);
    open().fails(3, &["does not list the coin of eip155:31337 yet", "bankroll serve"]);
    list_coin(folder.path());
    let opened = open().json();
    assert_eq!(opened["account"]["name"], FUNDS);
    assert_eq!((&opened["buy_in"], &opened["price"]), (&"10000000000000000".into(), &"10350000000000000".into()));
    assert_eq!(opened["new"], true);
    let again = open().json();
    assert_eq!((&again["new"], &again["account"]), (&false.into(), &opened["account"]));
    run(folder.path(), &["audit"]).ok();
}

#[test]
fn a_payout_holds_its_money_at_once_and_the_same_id_is_one_payout() {
    let folder = casino();
    list_coin(folder.path());
    withdraw(folder.path(), "leave-1", "0.009", &[]).fails(3, &["there is no account", "bankroll players open"]);
    run(folder.path(), &["players", "open", PLAYER]).ok();
    withdraw(folder.path(), "leave-1", "0.009", &[]).fails(1, &["the ledger rejected the payout: insufficient funds"]);
    credit(folder.path(), FUNDS, 10_000_000_000_000_000);

    let first = withdraw(folder.path(), "leave-2", "0.008", &["--max-fee", "0.001"]).json();
    assert_eq!((&first["status"], &first["repeated"]), (&"approved".into(), &false.into()));
    assert_eq!(account(folder.path())["held"], "9000000000000000");
    let again = withdraw(folder.path(), "leave-2", "0.008", &["--max-fee", "0.001"]).json();
    assert_eq!((&again["id"], &again["repeated"]), (&first["id"], &true.into()));
    withdraw(folder.path(), "leave-2", "0.0001", &[]).fails(1, &["the id leave-2 belongs to another payout"]);
    // The policy of today does not make another payout of it.
    let lower = ["--max-fee", "0.001", "--set", "chain.pay_at_once=1000"];
    let again = withdraw(folder.path(), "leave-2", "0.008", &lower).json();
    assert_eq!((&again["status"], &again["repeated"]), (&"approved".into(), &true.into()));
    assert_eq!(account(folder.path())["held"], "9000000000000000");

    // Above chain.pay_at_once it waits for an approval.
    let waits = withdraw(folder.path(), "leave-3", "0.001", &["--set", "chain.pay_at_once=1000"]).json();
    assert_eq!(waits["status"], "awaiting_approval");
    assert_eq!(account(folder.path())["available"], "0");
    run(folder.path(), &["audit"]).ok();
}
