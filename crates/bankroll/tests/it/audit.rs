//! `bankroll audit`: sound books are reported as sound, on a live folder and on a copy; the first difference is
//! reported.

use std::fs;

use bankroll_store::{Ledger, LedgerOptions};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    casino,
    program::{folder, run},
};

fn tampered(file: &str, sql: &str) -> TempDir {
    let books = folder();
    casino::open(books.path());
    Connection::open(books.path().join(file)).unwrap().execute_batch(sql).unwrap();
    books
}

#[test]
fn sound_books_balance_to_the_wei() {
    let books = folder();
    casino::open(books.path());
    let text = run(books.path(), &["audit", "--full"]).ok();
    for what in [
        "books balance to the wei",
        "9 records in",
        "3 accounts compared",
        "asset 1: 1.1 USDX on each side",
        "the indexes agree with the journal: 0 keys written out, 23 terms",
    ] {
        assert!(text.contains(what), "{what:?} is not in: {text}");
    }
    let json = run(books.path(), &["audit", "--json"]).json();
    assert_eq!(
        (&json["ok"], &json["rows"], &json["totals"][0]["debits"]),
        (&true.into(), &9.into(), &"1100000".into())
    );
    assert_eq!(json["indexes"], serde_json::Value::Null);
}

#[test]
fn a_live_folder_and_a_copy_are_audited_alike() {
    let (books, copy) = (folder(), folder());
    casino::open(books.path());
    let ledger = Ledger::open(LedgerOptions::new(books.path())).unwrap();
    run(books.path(), &["audit"]).ok();
    ledger.close();
    for file in ["books.db", "books.db-wal"] {
        let _ = fs::copy(books.path().join(file), copy.path().join(file));
    }
    let text = run(copy.path(), &["audit", "--full"]).ok();
    assert!(text.contains("books balance to the wei"), "{text}");
}

#[test]
fn the_first_difference_is_named_with_its_record() {
    let edit = "DROP TRIGGER journal_keeps_what_it_has; UPDATE journal SET record = zeroblob(9) WHERE seq = 6";
    run(tampered("books.db", edit).path(), &["audit"])
        .fails(4, &["table journal is damaged: row 6 is not what was written", "restore a backup"]);
    let edit = "UPDATE balances SET balance = x'00000000000000000000000000000001' WHERE id = 3";
    run(tampered("books.db", edit).path(), &["audit"])
        .fails(4, &["table balances is damaged: row 3 is not what was written", "run `bankroll rebuild`"]);
    run(folder().path(), &["audit"]).fails(3, &["create one with `bankroll init --dir .`"]);
}

#[test]
fn an_edited_deposit_or_payout_is_named() {
    let books = folder();
    run(books.path(), &["demo", "--exit", "--players", "40", "--seed", "7", "--ticks", "50", "--dir", "."]).ok();
    let edit = |sql: &str| Connection::open(books.path().join("books.db")).unwrap().execute(sql, []).unwrap();
    let text = run(books.path(), &["audit"]).ok();
    assert!(text.contains("of deposits and payouts agree with the journal"), "{text}");
    assert!(text.contains("of the scanner's log say, column by column"), "{text}");
    let seen = "UPDATE deposits SET updated_at = updated_at";
    assert!(edit(&format!("{seen} + 1 WHERE chain_state = 'final'")) > 0);
    run(books.path(), &["audit"]).fails(4, &["column updated_at is not what the scanner saw"]);
    edit(&format!("{seen} - 1 WHERE chain_state = 'final'"));
    run(books.path(), &["audit"]).ok();
    let different = |column: &str, edit_first: &str| {
        assert!(edit(edit_first) > 0, "{edit_first}");
        run(books.path(), &["audit"]).fails(4, &["the books diverge at record", column]);
    };
    different("status of row", "UPDATE withdrawal_requests SET status = 'failed' WHERE status = 'completed'");
    edit("UPDATE withdrawal_requests SET status = 'completed'");
    run(books.path(), &["audit"]).ok();
    different(
        "to_address of row",
        "UPDATE withdrawal_requests SET to_address = '0x00000000000000000000000000000000000000aa'",
    );
    different("ledger_state of row", "UPDATE deposits SET ledger_state = 'none'");
}

#[test]
fn a_damaged_index_is_reported_and_does_not_endanger_money() {
    for edit in ["UPDATE term_chunks SET data = x'00'", "UPDATE term_runs SET entries = 3", "DELETE FROM term_chunks"] {
        let books = tampered("statements.db", edit);
        run(books.path(), &["audit"]).ok();
        let full = run(books.path(), &["audit", "--full"]);
        assert_eq!(full.code, 1, "{edit}: {}{}", full.stdout, full.stderr);
        assert!(
            full.stdout.contains("the statement index is damaged") && full.stdout.contains("that rebuilds the index"),
            "{}",
            full.stdout
        );
    }
}

/// The head that an audit prints, as `--head` takes it.
fn printed_head(text: &str) -> String {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("head "));
    line.expect("an audit prints the head").to_owned()
}

#[test]
fn a_kept_head_finds_an_older_copy_and_a_lost_tail_is_accepted_by_a_person() {
    let books = folder();
    casino::open(books.path());
    let early = printed_head(&run(books.path(), &["audit"]).ok());
    let old = fs::read(books.path().join("books.db")).unwrap();
    let asset = bankroll_ledger::Asset {
        chain: "eip155:7".parse().unwrap(),
        unit: bankroll_ledger::Unit::Native,
        decimals: 18,
        symbol: "SEVEN".into(),
    };
    let ledger = Ledger::open(LedgerOptions::new(books.path())).unwrap();
    ledger.list_asset(asset).unwrap();
    ledger.close();
    let late = printed_head(&run(books.path(), &["audit", "--head", &early]).ok());
    assert_ne!(early, late);

    // Yesterday's file comes back, under a head and an index that know more.
    fs::write(books.path().join("books.db"), old).unwrap();
    let refusal = ["acknowledged records are lost", "books.head knows record 10", "bankroll accept-loss"];
    run(books.path(), &["audit"]).fails(4, &refusal);
    let doctor = run(books.path(), &["doctor"]);
    assert_eq!(doctor.code, 4, "{}", doctor.stdout);
    assert!(doctor.stdout.contains("\u{2717} newest head"), "{}", doctor.stdout);
    assert_eq!(run(books.path(), &["serve"]).code, 4);

    let by = ["accept-loss", "--by", "Ada", "--why", "the disk failed"];
    let accepted = run(books.path(), &by).ok();
    assert!(accepted.contains("accepted: records 10 to 10"), "{accepted}");
    let text = run(books.path(), &["audit", "--head", &early]).ok();
    assert!(text.contains("accepts the loss of records up to 10"), "{text}");
    assert!(text.contains("by Ada: the disk failed"), "{text}");
    let doctor = run(books.path(), &["doctor"]).stdout;
    assert!(doctor.contains("0 records behind it could vanish"), "{doctor}");
    // The head from before the loss is gone for good.
    run(books.path(), &["audit", "--head", &late]).fails(4, &["the journal does not have this head"]);
    run(books.path(), &by).fails(1, &["nothing is lost"]);
}
