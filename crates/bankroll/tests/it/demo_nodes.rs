//! The demo with each role in its own process: the same game, to the wei, as in one process.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use bankroll_testkit::postgres::{needed_database, pairs};
use serde_json::Value;

use crate::{
    program::{demo_command, folder, run},
    running::PATIENCE,
};

const GAME: [&str; 9] = ["demo", "--exit", "--json", "--seed", "13", "--ticks", "150", "--players", "120"];

/// The result of the game: everything that does not depend on its speed.
fn result(report: &Value) -> Vec<(&'static str, Value)> {
    assert_eq!(report["audit"]["ok"], true, "{report}");
    assert_eq!(report["reconciliation"]["difference"], "0", "{report}");
    let same = [
        "players",
        "signed_in",
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

/// The process of a node that the demo in this folder has started, from the system's list of processes.
fn process_of(node: &str, folder: &Path) -> Option<String> {
    let (named, folder) = (format!("node.name={node}"), folder.canonicalize().unwrap());
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).find_map(|entry| {
        let arguments = std::fs::read(entry.path().join("cmdline")).ok()?;
        let is_node = arguments.split(|byte| *byte == 0).any(|argument| argument == named.as_bytes());
        let is_here = std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
        (is_node && is_here).then(|| entry.file_name().into_string().unwrap())
    })
}

#[test]
fn a_node_that_is_killed_by_hand_is_named_and_the_books_decide_the_exit_code() {
    let (folder, url) = (folder(), needed_database());
    let mut demo = demo_command(folder.path());
    demo.args([&GAME[1..], &["--postgres", url.reveal()]].concat()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let demo = demo.spawn().unwrap();
    let deadline = Instant::now() + PATIENCE;
    // The first deposit is the house's capital, which is paid when every node runs.
    let sql = "SELECT CASE WHEN to_regclass('public.deposits') IS NULL THEN 0 ELSE 1 END, 0";
    while pairs(&url, sql)[0].0 == "0" || pairs(&url, "SELECT count(*), 0 FROM deposits")[0].0 == "0" {
        assert!(Instant::now() < deadline, "no deposit");
        std::thread::yield_now();
    }
    let node = process_of("books-2", folder.path()).expect("the node runs");
    assert!(Command::new("kill").args(["-KILL", &node]).status().unwrap().success());
    let output = demo.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["ended_early"].as_array().map(Vec::len), Some(1), "{report}");
    let said = report["ended_early"][0].as_str().unwrap();
    assert!(said.starts_with("books-2 was killed from outside the demo") && said.contains("SIGKILL"), "{said}");
    assert_eq!(result(&report), result(&in_one_process()));
}

#[test]
fn a_demo_waits_for_the_lease_of_one_that_was_killed() {
    let (folder, url) = (folder(), needed_database());
    let short = ["demo", "--exit", "--json", "--ticks", "3", "--players", "8", "--postgres", url.reveal()];
    run(folder.path(), &short).json();
    bankroll_testkit::postgres::run(
        url.reveal(),
        "UPDATE books.ledger_head SET holder = 'a demo that died', lease_until = clock_timestamp() + interval '5 s'",
    );
    let next = run(folder.path(), &short);
    assert!(next.stderr.contains("leased to a demo that died for"), "{}", next.stderr);
    assert_eq!(next.json()["audit"]["ok"], true);
}

#[test]
fn a_second_game_plays_on_in_the_same_database_and_real_books_are_left_alone() {
    let (folder, url) = (folder(), needed_database());
    let short = ["demo", "--exit", "--json", "--ticks", "3", "--players", "8", "--postgres", url.reveal()];
    let first = run(folder.path(), &short).json();
    let second = run(folder.path(), &short).json();
    assert_eq!(second["audit"]["ok"], true, "{second}");
    let players = |report: &Value| report["signed_in"].as_u64().unwrap();
    assert_eq!(first["accounts"], 7 + 3 * players(&first));
    assert_eq!(second["accounts"], 7 + 3 * (players(&first) + players(&second)), "the players are new ones");

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
