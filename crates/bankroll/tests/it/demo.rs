//! `bankroll demo`: what it reports is what is in the books.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::program::{demo_command, demo_folder, folder, hold, run, run_with};

/// Custody, house, network fees; world, ecosystem, developer, and their debt accounts.
const OWN_ACCOUNTS: u64 = 7;

/// The accounts of the players who came: three each.
fn players_accounts(report: &Value) -> u64 {
    3 * report["signed_in"].as_u64().unwrap()
}

fn sum(counts: &Value) -> u64 {
    counts.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

/// The totals of one side, in base units.
fn side(report: &Value, side: &str) -> u128 {
    let totals = report["totals"].as_array().unwrap().iter();
    totals
        .filter(|total| total["side"] == side)
        .map(|total| total["balance"].as_str().unwrap().parse::<u128>().unwrap())
        .sum()
}

fn total<'a>(report: &'a Value, kind: &str) -> &'a Value {
    report["totals"].as_array().unwrap().iter().find(|total| total["kind"] == kind).unwrap()
}

#[test]
fn a_short_game_leaves_sound_books() {
    let (_folder, report) = demo_folder();
    assert_eq!(report["audit"]["ok"], true, "{report}");
    let transfers = report["transfers"].as_u64().unwrap();
    assert!(transfers > 0 && report["transfers_per_s"].as_u64().unwrap() > 0, "{report}");
    assert!((1..=40).contains(&report["players"].as_u64().unwrap()), "{report}");
    assert_eq!(sum(&report["moves"]), transfers, "every transfer is a move of the game");
    assert_eq!(side(&report, "debit"), side(&report, "credit"));
    assert_eq!(total(&report, "world")["balance"], "0");
    assert_eq!(report["chain"]["holds"], total(&report, "custody")["balance"]);
    let reconciliation = &report["reconciliation"];
    assert_eq!((&reconciliation["ok"], &reconciliation["difference"]), (&true.into(), &"0".into()), "{reconciliation}");
    assert_eq!(reconciliation["chain"], reconciliation["books"]);
    assert_eq!(report["deposits_credited"], report["moves"]["deposits"], "each payment was credited once");
    assert_eq!(report["withdrawals_paid"], report["moves"]["exits"], "every exit was paid");
    // The house's capital came over the chain, too.
    assert_eq!(report["chain"]["deposits"].as_u64(), report["deposits_credited"].as_u64().map(|count| count + 1));
    assert_eq!(report["chain"]["payouts"], report["withdrawals_paid"]);
    assert_eq!(report["chain"]["paid_out"], report["onchain_paid_wei"]);
}

#[test]
fn every_record_of_the_journal_is_accounted_for() {
    let (_folder, report) = demo_folder();
    let rejected = |code: &str| report["rejected"][code].as_u64().unwrap_or(0);
    assert!(sum(&report["rejected"]) > 0, "some requests are refused: {report}");
    // One asset; in the registry its seed, the owner, their quorum of one, the server's key, its registration; the
    // accounts, and for each player the request to open them and the sign-in; what was applied, the refusals that a key
    // remembers; the capital, and each payout settled.
    let signed_in = report["signed_in"].as_u64().unwrap();
    let accounts = report["accounts"].as_u64().unwrap();
    let applied = report["transfers"].as_u64().unwrap() + 1 + report["withdrawals_paid"].as_u64().unwrap();
    let expected =
        1 + 5 + accounts + 2 * signed_in + applied + rejected("insufficient_funds") + rejected("not_allowed");
    assert_eq!(report["audit"]["rows"], expected, "{report}");
    assert!((1..=40).contains(&signed_in), "{report}");
    assert_eq!(accounts, OWN_ACCOUNTS + players_accounts(&report));
}

#[test]
fn a_second_demo_plays_on_in_the_same_books() {
    let (folder, first) = demo_folder();
    let second = run(folder.path(), &["demo", "--exit", "--json", "--players", "10", "--seconds", "1"]).json();
    assert_eq!(second["audit"]["ok"], true, "{second}");
    let players = players_accounts(&first) + players_accounts(&second);
    assert_eq!(second["accounts"], OWN_ACCOUNTS + players, "the players are new ones");
    assert!(second["audit"]["rows"].as_u64() > first["audit"]["rows"].as_u64());
}

#[test]
fn fresh_deletes_the_books_of_a_demo_and_only_those() {
    let (folder, _) = demo_folder();
    std::fs::write(folder.path().join("bankroll-demo/notes.txt"), "mine").unwrap();
    let args = ["demo", "--exit", "--json", "--fresh", "--players", "5", "--seconds", "1"];
    let report = run(folder.path(), &args).json();
    assert_eq!(report["accounts"], OWN_ACCOUNTS + players_accounts(&report));
    assert_eq!(std::fs::read_to_string(folder.path().join("bankroll-demo/notes.txt")).unwrap(), "mine");
}

#[test]
fn a_folder_that_no_demo_made_is_left_alone() {
    let folder = folder();
    run(folder.path(), &["init", "--dir", "casino"]).ok();
    for args in [["demo", "--exit", "--dir", "casino"], ["demo", "--fresh", "--dir", "casino"]] {
        run(folder.path(), &args).fails(1, &["files that no demo created", "nothing was changed"]);
    }
    run(folder.path(), &["doctor", "--dir", "casino"]).ok();
}

#[test]
fn real_books_are_safe_from_a_demo_whatever_the_environment_says() {
    let folder = folder();
    run(folder.path(), &["init", "--dir", "casino"]).ok();
    let real = folder.path().join("casino");
    let env = [("BANKROLL__BOOKS__FOLDER", real.to_str().unwrap())];
    run_with(folder.path(), &env, &["demo", "--exit", "--json", "--players", "2", "--seconds", "1"]).json();
    let accounts = run(folder.path(), &["accounts", "list", "--json", "--dir", "casino"]).json();
    assert_eq!(accounts["accounts"], Value::Array(Vec::new()));
}

#[test]
fn a_small_queue_makes_players_wait_and_loses_nothing() {
    let folder = folder();
    let env = [("BANKROLL__BOOKS__QUEUE_MAX", "1024")];
    let args = ["demo", "--exit", "--json", "--players", "2000", "--seconds", "1"];
    let report = run_with(folder.path(), &env, &args).json();
    assert_eq!(report["audit"]["ok"], true, "{report}");
}

#[test]
fn a_second_writer_is_refused_by_name() {
    let (folder, _) = demo_folder();
    let ledger = hold(&folder.path().join("bankroll-demo"));
    let me = format!("process {}", std::process::id());
    run(folder.path(), &["demo", "--exit"]).fails(1, &["in use by another process", &me]);
    run(folder.path(), &["demo", "--fresh"]).fails(1, &["a demo is running"]);
    ledger.close();
}

#[test]
fn the_report_says_what_to_try_next_without_colours() {
    let folder = folder();
    let run = run(folder.path(), &["demo", "--exit", "--players", "5", "--seconds", "1"]);
    assert!(run.stderr.starts_with("bankroll demo"), "progress is on standard error: {}", run.stderr);
    let report = run.ok();
    for what in [
        "books balance to the wei",
        "the wallet and the books agree",
        "try next",
        "accounts list --dir bankroll-demo",
        "bench ledger --quick",
    ] {
        assert!(report.contains(what), "{what:?} is not in: {report}");
    }
    assert!(!report.contains('\u{1b}'), "no colours into a pipe: {report}");
}

/// The lines that are wider than a terminal of 80 columns, but for commands to copy.
fn wide(text: &str) -> Vec<&str> {
    let is_command = |line: &str| line.starts_with("  ") && line.contains("bankroll ");
    text.lines().filter(|line| line.chars().count() > 80 && !is_command(line)).collect()
}

#[test]
fn every_line_fits_a_terminal_of_80_columns() {
    let folder = folder();
    for _ in 0..2 {
        let run = run(folder.path(), &["demo", "--exit", "--players", "40", "--ticks", "50"]);
        assert_eq!((run.code, wide(&run.stderr), wide(&run.stdout)), (0, Vec::new(), Vec::new()));
    }
}

#[test]
fn the_report_explains_its_words_and_its_counts_add_up() {
    let folder = folder();
    let args = ["demo", "--exit", "--players", "40", "--seed", "7", "--ticks", "50"];
    let report = run(folder.path(), &args).ok();
    for line in [
        "  came      48 deposits credited, 45 entries into the world",
        "  left      5 exits, 5 payouts on chain",
        "    run in   49 payments, 1 of the house's capital: 1.5102548955424794 ETH",
        "    run out  5 payouts: 0.050362453254092409 ETH, and 0.00021 ETH for gas",
    ] {
        assert!(report.lines().any(|other| other == line), "{line:?} is not in: {report}");
    }
    for (kind, meaning) in [
        ("funds", "players: play or pay out"),
        ("unallocated", "players: not a buy-in yet"),
        ("ecosystem", "the game's own budget"),
    ] {
        let has = |line: &str| line.contains(&format!(" {kind} ")) && line.ends_with(meaning);
        assert!(report.lines().any(has), "{kind} is not explained in: {report}");
    }
}

#[test]
fn the_wallet_to_explain_was_paid() {
    let folder = folder();
    let report = run(folder.path(), &["demo", "--exit", "--players", "40", "--seed", "7", "--ticks", "50"]).ok();
    let mut lines = report.lines().skip_while(|line| !line.contains(" explain 0x"));
    let wallet = lines.next().unwrap().split_whitespace().find(|word| word.starts_with("0x")).unwrap();
    assert_eq!(lines.next(), Some("      a player who paid in, played, left and was paid"));
    let books = rusqlite::Connection::open(folder.path().join("bankroll-demo/books.db")).unwrap();
    let paid = "SELECT count(*) FROM withdrawal_requests WHERE wallet = ?1 AND status = 'completed'";
    assert_eq!(books.query_row(paid, [wallet], |row| row.get::<_, i64>(0)).unwrap(), 1, "{wallet}");
}

#[test]
fn the_same_seed_brings_the_same_players() {
    let wallets = |seed: &str| {
        let folder = folder();
        run(folder.path(), &["demo", "--exit", "--json", "--players", "3", "--ticks", "12", "--seed", seed]).json();
        let list =
            run(folder.path(), &["accounts", "list", "--json", "--kind", "funds", "--dir", "bankroll-demo"]).json();
        // Players who come at the same time sign in in any order.
        let owner = |account: &Value| account["owner"].as_str().unwrap().to_owned();
        list["accounts"].as_array().unwrap().iter().map(owner).collect::<BTreeSet<String>>()
    };
    assert_eq!(wallets("7"), wallets("7"));
    assert_ne!(wallets("7"), wallets("8"));
}

#[test]
fn an_end_that_never_comes_is_refused() {
    run(folder().path(), &["demo", "--exit", "--seconds", "0"]).fails(2, &["--exit needs an end"]);
}

/// A demo that plays until it is stopped, with players in the world already.
fn endless(folder: &Path) -> Child {
    let mut demo = demo_command(folder);
    demo.args(["--seconds", "0", "--players", "40"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = demo.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let playing = |line: &String| line.contains(" playing ") && !line.contains(" 0 playing ");
    lines.find(|line| playing(line.as_ref().unwrap())).unwrap().unwrap();
    // Its further output must not hit a closed pipe.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

#[test]
fn what_a_killed_demo_left_behind_is_set_right_by_the_next() {
    let folder = folder();
    let mut child = endless(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    let report = run(folder.path(), &["demo", "--exit", "--json", "--players", "5", "--seconds", "1"]).json();
    assert_eq!(report["audit"]["ok"], true, "{report}");
    assert_ne!(report["leftovers"]["swept"], "0", "players were in the world");
    assert_eq!(report["reconciliation"]["difference"], "0", "{report}");
    assert_eq!(report["chain"]["holds"], total(&report, "custody")["balance"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_game_in_good_order() {
    let folder = folder();
    let child = endless(folder.path());
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("books balance to the wei"), "{report}");
}
