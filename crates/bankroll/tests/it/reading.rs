//! `balance`, `statement`, `search`, `explain`, `export`: what happened, for people and for programs.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    casino,
    program::{Run, folder, run},
};

fn books() -> TempDir {
    let folder = folder();
    casino::open(folder.path());
    folder
}

fn says(text: &str, all: &[&str]) {
    for what in all {
        assert!(text.contains(what), "{what:?} is not in:\n{text}");
    }
}

#[test]
fn a_balance_now_and_at_a_time() {
    let books = books();
    let balance = |more: &[&str]| run(books.path(), &[&["balance", "arena/funds/1/0xa1"], more].concat());
    let now = balance(&[]).ok();
    says(&now, &["arena/funds/1/0xa1 now", "balance      0.6 USDX  (600000 base units)", "last change  record 8"]);
    let held = balance(&["--at", "2026-11-15T10:30:00Z"]).ok();
    says(
        &held,
        &["at 2026-11-15T10:30:00.000000Z", "balance      1 USDX", "held         0.4 USDX", "available    0.6 USDX"],
    );
    let json = balance(&["--at", "2026-11-15T11:59:59+02:00", "--json"]).json();
    assert_eq!((&json["balance"], &json["held"], &json["last_record"]), (&json!("1000000"), &json!("0"), &json!(6)));
    let before = balance(&["--at", "2026-11-15"]).ok();
    says(&before, &["balance      0 USDX", "last change  no changes yet"]);
    balance(&["--at", "yesterday"]).fails(2, &["a time is 2026-11-15T08:30:00Z"]);
    run(books.path(), &["balance", "arena/funds/1/nobody"]).fails(3, &["`bankroll accounts list` shows all"]);
}

#[test]
fn a_statement_as_a_table_has_both_legs_and_both_ways_to_write_amounts() {
    let books = books();
    let text = run(books.path(), &["statement", "arena/funds/1/0xa1"]).ok();
    says(
        &text,
        &["AMOUNT USDX", "BASE UNITS", "arena/custody/1/hot", "arena/world/1", "deposit dep-1, tx 0xFeed", "=spawn"],
    );
    let line = |number: &str| text.lines().find(|line| line.trim_start().starts_with(number)).unwrap().to_owned();
    let words = |number: &str| line(number).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let expected = ["6", "2026-11-15T09:00:00.000000Z", "out", "arena/world/1", "-0.5", "-500000", "1", "0", "=spawn"];
    assert_eq!(words("6"), expected);
    assert_eq!(words("5")[2..7], ["in", "arena/custody/1/hot", "+1.5", "+1500000", "1.5"]);
    assert!(!text.contains("too-much"), "what was refused changed nothing");
}

#[test]
fn pages_of_a_statement_follow_each_other() {
    let books = books();
    let mut after = Vec::new();
    let mut seen = Vec::new();
    loop {
        let args = [&["statement", "2", "--json", "--limit", "2", "--descending"], &after[..]].concat();
        let page = run(books.path(), &args).json();
        let lines = page["lines"].as_array().unwrap().clone();
        seen.extend(lines.iter().map(|line| format!("{} {} {}", line["seq"], line["change"], line["balance"])));
        let Some(next) = page["next"].as_str() else { break };
        after = vec!["--after", Box::leak(next.to_owned().into_boxed_str())];
    }
    let expected = [
        "8 \"out\" \"600000\"",
        "8 \"posted\" \"1000000\"",
        "7 \"held\" \"1000000\"",
        "6 \"out\" \"1000000\"",
        "5 \"in\" \"1500000\"",
    ];
    assert_eq!(seen, expected);
    let refused: Run = run(books.path(), &["statement", "3", "--after", after[1], "--json"]);
    assert_eq!(refused.code, 2, "a cursor of another account: {}", refused.stderr);
    run(books.path(), &["statement", "3", "--after", "nonsense"]).fails(2, &["this cursor belongs to another query"]);
    let table = run(books.path(), &["statement", "2", "--limit", "1"]).ok();
    says(&table, &["more: --after "]);
    let morning = run(books.path(), &["statement", "2", "--to", "2026-11-15T08:00:00Z", "--json"]).json();
    assert_eq!(morning["lines"].as_array().unwrap().len(), 1);
}

#[test]
fn csv_is_quoted_stable_and_no_formula() {
    let books = books();
    let csv = run(books.path(), &["statement", "arena/world/1", "--format", "csv"]).ok();
    let expected = "\
seq,line,at,account,change,other_account,amount,amount_decimal,symbol,sign,balance,balance_decimal,held,hold,\
key_namespace,key_scope,key,principal,deposit,intent,tx_hash,hand,block,reverses,reversed_by
6,0,2026-11-15T09:00:00.000000Z,arena/world/1,in,arena/funds/1/0xa1,500000,0.5,USDX,adds,500000,0.5,0,,\
client,arena,'=spawn,game_server arena,,,,,,,
";
    assert_eq!(csv, expected);
    let exported = run(books.path(), &["export", "--account", "arena/world/1", "--format", "csv"]).ok();
    assert_eq!(exported, expected);
}

#[test]
fn the_whole_journal_is_exported() {
    let books = books();
    let csv = run(books.path(), &["export"]).ok();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 10, "nine records, one of them with two rows");
    let held = "7,2026-11-15T10:00:00.000000Z,decided,applied,player,arena,0xa1/leave,user 0xa1,arena/funds/1/0xa1,,,,USDX,,,\
                112,open,400000,400000,,pay-1,,,,";
    assert_eq!(lines[7], held);
    assert!(lines[10].starts_with("9,2026-11-15T12:00:00.000000Z,decided,insufficient_funds,client,arena,too-much,"));
    let objects = run(books.path(), &["export", "--format", "json"]).ok();
    let objects: Vec<Value> = objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        objects.iter().map(|object| object["seq"].as_u64().unwrap()).collect::<Vec<_>>(),
        (1..=9).collect::<Vec<_>>()
    );
    assert_eq!(objects[4]["postings"][0]["amount"], "1500000");
    assert_eq!(objects[4]["postings"][0]["to"]["name"], "arena/funds/1/0xa1");
    assert_eq!(objects[4]["events"][0]["kind"], "deposit.credited");
}

#[test]
fn searches_find_full_values_of_every_kind() {
    let books = books();
    let found = |args: &[&str]| -> Vec<u64> {
        let page = run(books.path(), &[&["search", "--json"], args].concat()).json();
        page["found"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(found(&["--key", "credit-1"]), [5]);
    assert_eq!(found(&["--key", "credit-1", "--namespace", "client"]), [] as [u64; 0]);
    assert_eq!(found(&["--key", "credit-1", "--namespace", "deposits", "--scope", "arena"]), [5]);
    assert_eq!(found(&["--tx", "0xFEED"]), [5]);
    assert_eq!(found(&["--reference", "pay-1"]), [7, 8]);
    assert_eq!(found(&["--wallet", "0xA1"]), [3, 5, 6, 7, 8, 9], "pasted with capitals");
    assert_eq!(found(&["--wallet", "0xa1", "--limit", "2", "--descending"]), [9, 8]);
    let text = run(books.path(), &["search", "--key", "too-much"]).ok();
    says(
        &text,
        &[
            "too-much (client of arena) by game_server arena: insufficient_funds",
            "requested: arena/funds/1/0xa1 -> arena/world/1  9 USDX (9000000)",
        ],
    );
    says(
        &run(books.path(), &["search", "--key", "credit"]).ok(),
        &["no matches; give the full key, reference or wallet"],
    );
    run(books.path(), &["search"]).fails(2, &["--key <KEY>"]);
    run(books.path(), &["search", "--key", "a", "--tx", "b"]).fails(2, &["cannot be used with"]);
    run(books.path(), &["search", "--key", "a", "--namespace", "clients"])
        .fails(2, &["the namespaces are client, deposits"]);
}

#[test]
fn explain_shows_one_timeline() {
    let books = books();
    let seqs = |timeline: &Value| -> Vec<u64> {
        timeline["entries"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
    };
    let explain = |what: &str| run(books.path(), &["explain", what, "--json"]).json();
    let paid = explain("0xbeef");
    assert_eq!((&paid["timelines"][0]["as"], seqs(&paid["timelines"][0])), (&json!("transaction"), vec![7, 8]));
    let wallet = explain("0xa1");
    assert_eq!(
        (&wallet["timelines"][0]["as"], seqs(&wallet["timelines"][0])),
        (&json!("wallet"), vec![3, 5, 6, 7, 8, 9])
    );
    let text = run(books.path(), &["explain", "0xa1/leave"]).ok();
    says(
        &text,
        &[
            "key 0xa1/leave",
            "#7 2026-11-15T10:00:00.000000Z  0xa1/leave (player of arena) by user 0xa1: applied",
            "hold 112 in arena/funds/1/0xa1 created: 0.4 USDX (400000) held",
            "#8 2026-11-15T11:00:00.000000Z  settle-1 (payouts of arena) by system: applied",
            "arena/funds/1/0xa1 -> arena/custody/1/hot  0.4 USDX (400000)",
            "hold 112 in arena/funds/1/0xa1 posted: nothing left",
            "references intent pay-1, tx 0xbeef",
        ],
    );
    run(books.path(), &["explain", "who?"]).fails(3, &["no match for \"who?\"", "give the full value"]);
}
