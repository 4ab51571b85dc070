//! `bankroll accounts`: every account is found, with exact amounts, also while a writer runs.

use std::process::Stdio;

use bankroll_ledger::{
    AccountId, Action, Amount, Asset, IdempotencyKey, Leg, Namespace, Principal, References, Request, Scope, Settler,
    Unit,
};
use bankroll_store::{Ledger, LedgerOptions};
use serde_json::Value;

use crate::program::{command, demo_folder, folder, hold, run};

fn ids(page: &Value) -> Vec<u64> {
    page["accounts"].as_array().unwrap().iter().map(|account| account["id"].as_u64().unwrap()).collect()
}

#[test]
fn pages_show_every_account_once() {
    let (folder, report) = demo_folder();
    let (mut seen, mut after) = (Vec::new(), "0".to_owned());
    loop {
        let args = ["accounts", "list", "--dir", "bankroll-demo", "--json", "--limit", "30", "--after", &after];
        let page = run(folder.path(), &args).json();
        seen.extend(ids(&page));
        match page["next_after"].as_u64() {
            Some(next) => after = next.to_string(),
            None => break,
        }
    }
    assert_eq!(seen, (1..=report["accounts"].as_u64().unwrap()).collect::<Vec<_>>());
}

#[test]
fn a_page_that_is_not_the_last_says_how_to_go_on() {
    let (folder, _) = demo_folder();
    let page = run(folder.path(), &["accounts", "list", "--dir", "bankroll-demo", "--limit", "2"]).ok();
    assert!(page.ends_with("more: --after 2\n"), "{page}");
    assert!(page.contains("@house/custody/1/hot") && page.contains(" ETH"), "{page}");
}

#[test]
fn filters_narrow_the_list() {
    let (folder, _) = demo_folder();
    let list = |more: &[&str]| {
        let args = [&["accounts", "list", "--dir", "bankroll-demo", "--json", "--limit", "1000"], more].concat();
        run(folder.path(), &args).json()
    };
    assert_eq!(ids(&list(&["--kind", "world"])), [4]);
    assert_eq!(ids(&list(&["--kind", "funds"])).len(), 40);
    assert_eq!(ids(&list(&["--owner", "hot"])), [1]);
    assert_eq!(ids(&list(&["--server", "@house"])), [1, 2, 3]);
    let non_zero = list(&["--non-zero"]);
    assert!(non_zero["accounts"].as_array().unwrap().iter().all(|account| account["balance"] != "0"));
    run(folder.path(), &["accounts", "list", "--kind", "fund"]).fails(2, &["the kinds are funds, unallocated"]);
}

#[test]
fn one_account_is_found_by_name_and_by_number() {
    let (folder, _) = demo_folder();
    let show = |name: &str| run(folder.path(), &["accounts", "show", name, "--dir", "bankroll-demo", "--json"]).json();
    let developer = show("arena/developer/1");
    assert_eq!(developer, show(&developer["id"].to_string()));
    assert_eq!(developer["policy"]["withdraw"], serde_json::json!(["admin", "developer", "system"]));
    assert_eq!(developer["asset"]["symbol"], "ETH");
    let (units, decimal) = (developer["balance"].as_str().unwrap(), developer["balance_decimal"].as_str().unwrap());
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    assert_eq!(format!("{whole}{fraction:0<18}").trim_start_matches('0'), units, "both are exact");
}

#[test]
fn the_text_says_which_roles_may_do_what() {
    let (folder, _) = demo_folder();
    let text = run(folder.path(), &["accounts", "show", "arena/developer/1", "--dir", "bankroll-demo"]).ok();
    for what in [
        "credit side",
        "base units",
        "may hold, pay out:",
        "operators (confirmed), developer, Bankroll",
        "in arena/debt/1",
    ] {
        assert!(text.contains(what), "{what:?} is not in: {text}");
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let (folder, _) = demo_folder();
    let show = |name: &str| run(folder.path(), &["accounts", "show", name, "--dir", "bankroll-demo"]);
    show("9999").fails(3, &["there is no account 9999"]);
    show("arena/world/7").fails(3, &["there is no account arena/world/7"]);
    show("arena/word/1").fails(2, &["there is no account kind of that name"]);
    show("nonsense").fails(2, &["server/kind/asset"]);
    run(folder.path(), &["accounts", "list"]).fails(3, &["add `--dir bankroll-demo`"]);
}

#[test]
fn a_folder_without_books_is_not_found_in_json_too() {
    let folder = folder();
    let run = run(folder.path(), &["accounts", "list", "--json"]);
    let error: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((run.code, &error["error"]["code"]), (3, &"not_found".into()));
}

#[test]
fn accounts_are_read_while_a_writer_runs() {
    let (folder, report) = demo_folder();
    let ledger = hold(&folder.path().join("bankroll-demo"));
    let page = run(folder.path(), &["accounts", "list", "--dir", "bankroll-demo", "--json", "--limit", "1000"]).json();
    assert_eq!(ids(&page).len() as u64, report["accounts"].as_u64().unwrap());
    ledger.close();
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let (folder, _) = demo_folder();
    let mut list = command(folder.path());
    list.args(["accounts", "list", "--dir", "bankroll-demo"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = list.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

/// Applies one request of these legs, under a key of the server.
fn apply(ledger: &Ledger, principal: Principal, namespace: Namespace, legs: Vec<Leg>) {
    let key = IdempotencyKey { namespace, scope: Scope::Server("arena".parse().unwrap()), text: "a story".into() };
    let references = References { intent: Some("wd-1".into()), ..References::default() };
    let action = Action::Legs(legs);
    let request =
        Request { key, principal, confirmation: None, action, references, facts: Vec::new(), events: Vec::new() };
    ledger.apply(request).unwrap().effects().unwrap();
}

#[test]
fn holds_and_debts_are_shown() {
    let folder = folder();
    let ledger = Ledger::create(LedgerOptions::new(folder.path())).unwrap();
    let dollars = Asset { chain: "eip155:1".parse().unwrap(), unit: Unit::Native, decimals: 6, symbol: "USDX".into() };
    ledger.list_asset(dollars).unwrap();
    let names = ["arena/custody/1/hot", "arena/funds/1/ann", "arena/debt/1/ann"].map(|name| name.parse().unwrap());
    let opened = ledger.open_accounts(&Principal::System, names.to_vec()).unwrap();
    let [custody, funds]: [AccountId; 2] = [opened[0].unwrap(), opened[1].unwrap()];
    let amount = Amount::new(1_500_000);
    apply(&ledger, Principal::Indexer, Namespace::Deposits, vec![Leg::Move { from: custody, to: funds, amount }]);
    let server = Principal::GameServer("arena".parse().unwrap());
    let hold =
        |amount: u128, settler| Leg::Hold { account: funds, amount: Amount::new(amount), expires: None, settler };
    apply(&ledger, Principal::System, Namespace::Payouts, vec![hold(500_000, Settler::System)]);
    apply(&ledger, server, Namespace::Client, vec![hold(1, Settler::Holder)]);

    let text = run(folder.path(), &["accounts", "show", "arena/funds/1/ann"]).ok();
    for what in [
        "balance    1.5 USDX  (1500000 base units)",
        "held       0.500001 USDX  (500001 base units)",
        "available  0.999999 USDX  (999999 base units)",
        "0.5 USDX  (500000 base units), a payout: settled by Bankroll alone",
        "0.000001 USDX  (1 base unit), settled by game server or Bankroll",
        "debt       0 USDX  (0 base units) in arena/debt/1/ann",
    ] {
        assert!(text.contains(what), "{what:?} is not in: {text}");
    }
    let shown = run(folder.path(), &["accounts", "show", "2", "--json"]).json();
    assert_eq!(shown["holds"].as_array().unwrap().len(), 2, "{shown}");
    assert_eq!(shown["debt"]["name"], "arena/debt/1/ann", "{shown}");
    let list = run(folder.path(), &["accounts", "list", "--owner", "ann"]).ok();
    assert!(list.contains("HELD"), "{list}");
    ledger.close();
}
