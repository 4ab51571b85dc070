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
    let seconds = balance(&["--at", "1794738600", "--json"]).json();
    assert_eq!((&seconds["at"], &seconds["held"]), (&json!("2026-11-15T10:30:00.000000Z"), &json!("400000")));
    balance(&["--at", "yesterday"]).fails(2, &["a time is 2026-11-15T08:30:00Z"]);
    balance(&["--at", "17947386"]).fails(2, &["10 digits (seconds), 13 (milliseconds) or 16 (microseconds), not 8"]);
    run(books.path(), &["balance", "arena/funds/1/nobody"]).fails(3, &["`bankroll accounts list` shows all"]);
}

#[test]
fn a_statement_says_in_for_what_adds_and_out_for_what_takes_on_both_sides() {
    let books = books();
    let of = |account: &str| run(books.path(), &["statement", account]).ok();
    let player = "\
arena/funds/1/0xa1
 RECORD  UTC       WHAT    OTHER ACCOUNT        AMOUNT USDX  BALANCE USDX
                           2026-11-15
      5  08:00:00  in      arena/custody/1/hot         +1.5           1.5
      6  09:00:00  out     arena/world/1               -0.5             1
      7  10:00:00  held                                 0.4             1
      8  11:00:00  posted                               0.4             1
      8  11:00:00  out     arena/custody/1/hot         -0.4           0.6
";
    assert_eq!(of("arena/funds/1/0xa1"), player, "what was refused changed nothing");
    let wallet = "\
arena/custody/1/hot
 RECORD  UTC       WHAT  OTHER ACCOUNT       AMOUNT USDX  BALANCE USDX
                         2026-11-15
      5  08:00:00  in    arena/funds/1/0xa1         +1.5           1.5
      8  11:00:00  out   arena/funds/1/0xa1         -0.4           1.1
";
    assert_eq!(of("arena/custody/1/hot"), wallet, "a deposit comes in, a payout goes out");
    let lines = run(books.path(), &["statement", "arena/custody/1/hot", "--json"]).json()["lines"].clone();
    let words = |line: &Value| ["change", "sign", "entry"].map(|key| line[key].as_str().unwrap().to_owned());
    assert_eq!(words(&lines[0]), ["in", "+", "debit"]);
    assert_eq!(words(&lines[1]), ["out", "-", "credit"]);
    let held = run(books.path(), &["statement", "arena/funds/1/0xa1", "--to", "2026-11-15T10:00:00Z"]).ok();
    says(&held, &["held after the newest of these: 0.4 USDX"]);
}

#[test]
fn a_wide_statement_has_everything() {
    let books = books();
    let text = run(books.path(), &["statement", "arena/funds/1/0xa1", "--wide"]).ok();
    says(&text, &["AMOUNT USDX", "BASE UNITS", "arena/custody/1/hot", "deposit dep-1, tx 0xFeed", "=spawn"]);
    let line = text.lines().find(|line| line.trim_start().starts_with('6')).unwrap();
    let expected = ["6", "2026-11-15T09:00:00.000000Z", "out", "arena/world/1", "-0.5", "-500000", "1", "0", "=spawn"];
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), expected);
    let exchanged = ["statement", "2", "--from", "2026-11-16", "--to", "2026-11-15"];
    run(books.path(), &exchanged).fails(2, &["--from 2026-11-16T00:00:00.000000Z is after --to 2026-11-15"]);
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
    run(books.path(), &["statement", "3", "--after", "nonsense"]).fails(2, &["--after nonsense is not a cursor"]);
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
key_namespace,key_scope,key,principal,deposit,intent,tx_hash,hand,block,reverses,reversed_by,entry
6,0,2026-11-15T09:00:00.000000Z,arena/world/1,in,arena/funds/1/0xa1,500000,0.5,USDX,adds,500000,0.5,0,,\
client,arena,'=spawn,game_server arena,,,,,,,,credit
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
    let deposit = "5,2026-11-15T08:00:00.000000Z,decided,applied,deposits,arena,credit-1,indexer,arena/custody/1/hot,\
                   arena/funds/1/0xa1,1500000,1.5,USDX,1500000,1500000,,,,,dep-1,,0xFeed,,,,in,";
    assert_eq!(lines[5], deposit, "custody is debited, the player is credited: money came in");
    let held = "7,2026-11-15T10:00:00.000000Z,decided,applied,player,arena,0xa1/leave,user 0xa1,,,,,USDX,,,\
                112,open,400000,400000,,pay-1,,,,,,arena/funds/1/0xa1";
    assert_eq!(lines[7], held);
    assert!(lines[10].starts_with("9,2026-11-15T12:00:00.000000Z,decided,insufficient_funds,client,arena,too-much,"));
    let objects = run(books.path(), &["export", "--format", "json"]).ok();
    let objects: Vec<Value> = objects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        objects.iter().map(|object| object["seq"].as_u64().unwrap()).collect::<Vec<_>>(),
        (1..=9).collect::<Vec<_>>()
    );
    assert_eq!(objects[4]["postings"][0]["amount"], "1500000");
    assert_eq!(objects[4]["postings"][0]["credit"]["name"], "arena/funds/1/0xa1");
    assert_eq!(objects[4]["postings"][0]["direction"], "in");
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
    assert_eq!(found(&["--key", "credit-1", "--namespace", "deposits", "--scope", "arena"]), [5]);
    assert_eq!(found(&["--tx", "0xFEED"]), [5]);
    assert_eq!(found(&["--reference", "pay-1"]), [7, 8]);
    assert_eq!(found(&["--wallet", "0xA1"]), [3, 5, 6, 7, 8, 9], "pasted with capitals");
    assert_eq!(found(&["--wallet", "0xa1", "--limit", "2", "--descending"]), [9, 8]);
    let text = run(books.path(), &["search", "--key", "too-much"]).ok();
    says(
        &text,
        &[
            "#9 2026-11-15 12:00:00  insufficient_funds  too-much",
            "by game_server arena; namespace client, scope arena",
            "requested: move 9 USDX  arena/funds/1/0xa1 -> arena/world/1",
        ],
    );
    let wide = run(books.path(), &["search", "--key", "too-much", "--wide"]).ok();
    says(&wide, &["#9 2026-11-15T12:00:00.000000Z", "move 9 USDX (9000000)  arena/funds/1/0xa1"]);
    let refused = |code: i32, args: &[&str], what: &str| {
        run(books.path(), &[&["search"], args].concat()).fails(code, &[what]);
    };
    refused(3, &["--key", "credit"], "no matches; give the full key, reference, wallet or hash");
    refused(3, &["--key", "credit-1", "--namespace", "client"], "no matches");
    refused(2, &["--key", ""], "give the full text");
    refused(2, &["--tx", "nothex"], "a transaction's hash is 0x and hexadecimal digits");
    refused(2, &["--wallet", "0xa1", "--scope", "arena"], "--key");
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
            "records of key 0xa1/leave",
            "#7 2026-11-15 10:00:00  applied  0xa1/leave",
            "by user 0xa1; namespace player, scope arena",
            "hold 112 in arena/funds/1/0xa1 created: 0.4 USDX held",
            "#8 2026-11-15 11:00:00  applied  settle-1",
            "out  0.4 USDX  arena/funds/1/0xa1, paid from arena/custody/1/hot",
            "hold 112 in arena/funds/1/0xa1 posted: nothing left",
            "    intent pay-1\n    tx 0xbeef\n",
        ],
    );
    let deposit = run(books.path(), &["explain", "credit-1"]).ok();
    says(&deposit, &["in   1.5 USDX  arena/funds/1/0xa1, kept in arena/custody/1/hot"]);
    run(books.path(), &["explain", "who?"]).fails(3, &["no match for \"who?\"", "give the full value"]);
}

#[test]
fn a_wallet_is_told_as_a_story_that_ends_with_its_balance() {
    let books = books();
    let expected = "\
wallet 0xa1
2026-11-15 08:00:00  paid 1.5 USDX (credited)
2026-11-15 09:00:00  entered arena with 0.5 USDX
2026-11-15 10:00:00  asked for a payout of 0.4 USDX: pay-1
2026-11-15 11:00:00  was paid 0.4 USDX
2026-11-15 12:00:00  refused: insufficient funds (request too-much)
now
  arena/funds/1        0.6 USDX
";
    assert_eq!(run(books.path(), &["explain", "0xA1"]).ok(), expected);
    let all = run(books.path(), &["explain", "0xA1", "--all"]).ok();
    says(&all, &["records of wallet 0xA1", "#5 ", "#9 "]);
}
