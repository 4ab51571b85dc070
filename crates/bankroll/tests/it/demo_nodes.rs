//! The demo with each role in its own process: the same game, to the wei, as in one process.

use bankroll_testkit::postgres::needed_database;
use serde_json::Value;

use crate::program::{folder, run};

const GAME: [&str; 9] = ["demo", "--exit", "--json", "--seed", "13", "--ticks", "150", "--players", "120"];

/// The result of the game: everything that does not depend on its speed.
fn result(report: &Value) -> Vec<(&'static str, Value)> {
    assert_eq!(report["audit"]["ok"], true, "{report}");
    assert_eq!(report["reconciliation"]["difference"], "0", "{report}");
    let same = [
        "players",
        "transfers",
        "deposits_credited",
        "withdrawals_paid",
        "onchain_paid_wei",
        "reconciliation",
        "moves",
        "rejected",
        "replayed",
        "chain",
        "leftovers",
        "accounts",
        "totals",
    ];
    same.into_iter().map(|key| (key, report[key].clone())).chain([("rows", report["audit"]["rows"].clone())]).collect()
}

fn in_one_process() -> Value {
    run(folder().path(), &GAME).json()
}

#[test]
fn several_processes_play_the_same_game_as_one() {
    let (folder, url) = (folder(), needed_database());
    let several = run(folder.path(), &[&GAME[..], &["--postgres", url.reveal()]].concat()).json();
    let one = in_one_process();
    assert_eq!(result(&several), result(&one));
    let moves = &one["moves"];
    for what in ["deposits", "spawns", "pellets", "recycled", "exits", "returns"] {
        assert!(moves[what].as_u64() > Some(0), "no {what} in this game: choose another seed: {moves}");
    }
    assert!(one["replayed"].as_u64() > Some(0) && one["rejected"]["not_allowed"].as_u64() > Some(0), "{one}");
    // What the books know of each deposit and each payout is in the database, and each was paid by one transaction.
    let rows = |sql: &str| bankroll_testkit::postgres::pairs(&url, sql);
    let count = |what: &str| moves[what].as_u64().unwrap();
    let deposits = "SELECT ledger_state, count(*) FROM deposits WHERE purpose = 'player' GROUP BY ledger_state";
    assert_eq!(rows(deposits), [("credited".into(), count("deposits").to_string())]);
    let payouts = "SELECT status, count(DISTINCT final_tx_hash) FROM withdrawal_requests GROUP BY status";
    assert_eq!(rows(payouts), [("completed".into(), count("exits").to_string())]);
    let settled = "SELECT state, count(*) FROM payout_events GROUP BY state";
    assert_eq!(rows(settled), [("applied".into(), count("exits").to_string())]);
}

#[test]
fn the_node_that_holds_the_books_is_killed_and_the_game_is_still_the_same() {
    let (folder, url) = (folder(), needed_database());
    let several = [&GAME[..], &["--kill-books", "--postgres", url.reveal()]].concat();
    assert_eq!(result(&run(folder.path(), &several).json()), result(&in_one_process()));
}

#[test]
fn a_second_game_plays_on_in_the_same_database_and_real_books_are_left_alone() {
    let (folder, url) = (folder(), needed_database());
    let short = ["demo", "--exit", "--json", "--ticks", "3", "--players", "8", "--postgres", url.reveal()];
    let first = run(folder.path(), &short).json();
    let second = run(folder.path(), &short).json();
    assert_eq!(second["audit"]["ok"], true, "{second}");
    assert_eq!((first["accounts"].as_u64(), second["accounts"].as_u64()), (Some(7 + 24), Some(7 + 48)));

    let real = needed_database();
    bankroll_store::Ledger::create(bankroll_store::LedgerOptions::new(real.clone())).unwrap().close();
    let args = ["demo", "--exit", "--ticks", "3", "--postgres", real.reveal()];
    run(folder.path(), &args).fails(1, &["books that no demo created", "nothing was changed"]);
}

#[test]
fn the_same_seed_and_ticks_are_the_same_game() {
    assert_eq!(result(&in_one_process()), result(&in_one_process()));
    run(folder().path(), &["demo", "--kill-books"]).fails(2, &["--postgres"]);
    run(folder().path(), &["demo", "--ticks", "5", "--seconds", "5"]).fails(2, &["cannot be used with"]);
}
