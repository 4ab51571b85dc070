//! The demo with each role in a process of its own: the same game, to the wei, as in one process.

use bankroll_testkit::postgres::needed_database;
use serde_json::Value;

use crate::program::{folder, run};

const GAME: [&str; 9] = ["demo", "--exit", "--json", "--seed", "13", "--ticks", "150", "--players", "120"];

/// What the game came to: everything that does not depend on how fast it was.
fn result(report: &Value) -> Vec<(&'static str, Value)> {
    assert_eq!(report["audit"]["ok"], true, "{report}");
    let same = ["players", "transfers", "moves", "rejected", "replayed", "chain", "leftovers", "accounts", "totals"];
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
    for what in ["deposits", "allocations", "spawns", "pellets", "recycled", "exits", "payouts", "returns"] {
        assert!(moves[what].as_u64() > Some(0), "no {what} in this game: choose another seed: {moves}");
    }
    assert!(one["replayed"].as_u64() > Some(0) && one["rejected"]["not_allowed"].as_u64() > Some(0), "{one}");
    // Every deposit and every payout went through the inbox, and nothing else did.
    let rows = |table: &str| {
        let counted = format!("SELECT state, count(*) FROM {table} GROUP BY state");
        bankroll_testkit::postgres::pairs(&url, &counted)
    };
    let count = |what: &str| moves[what].as_u64().unwrap();
    let seen = (count("deposits") + count("allocations")).to_string();
    assert_eq!(rows("indexer_events"), [("applied".into(), seen)]);
    assert_eq!(rows("payout_events"), [("applied".into(), count("payouts").to_string())]);
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
    assert_eq!((first["accounts"].as_u64(), second["accounts"].as_u64()), (Some(4 + 16), Some(4 + 32)));

    let real = needed_database();
    bankroll_store::Ledger::open(bankroll_store::Options::new(real.clone())).unwrap().close();
    let args = ["demo", "--exit", "--ticks", "3", "--postgres", real.reveal()];
    run(folder.path(), &args).fails(1, &["books that no demo made", "nothing was changed"]);
}

#[test]
fn the_same_seed_and_ticks_are_the_same_game() {
    assert_eq!(result(&in_one_process()), result(&in_one_process()));
    run(folder().path(), &["demo", "--kill-books"]).fails(2, &["--postgres"]);
    run(folder().path(), &["demo", "--ticks", "5", "--seconds", "5"]).fails(2, &["cannot be used with"]);
}
