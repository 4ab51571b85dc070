//! `bankroll rebuild`: the command that messages about damaged pages name does what they promise.

use std::path::Path;

use bankroll_testkit::damage::spoil_first_page;
use rusqlite::Connection;
use serde_json::Value;

use crate::{
    casino,
    program::{Run, folder, hold, run},
};

fn balance(folder: &Path) -> Value {
    run(folder, &["balance", "arena/funds/1/0xa1", "--json"]).json()
}

/// The red check of the pages, by `doctor --full`.
fn pages(folder: &Path) -> Value {
    let run = run(folder, &["doctor", "--full", "--json"]);
    assert_eq!(run.code, 4, "{}", run.stdout);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "pages").unwrap().clone()
}

const COMMAND: &str = "run `bankroll rebuild --dir .`";

#[test]
fn damage_to_what_follows_from_the_journal_is_named_and_repaired() {
    let reads: [(&str, &[&str]); 5] = [
        ("accounts", &["balance", "arena/funds/1/0xa1"]),
        ("sqlite_autoindex_accounts_1", &["balance", "arena/funds/1/0xa1"]),
        ("holds", &["audit"]),
        ("key_chunks", &["audit", "--full"]),
        ("outbox", &["audit"]),
    ];
    for (what, read) in reads {
        let books = folder();
        casino::open(books.path());
        let before = (balance(books.path()), run(books.path(), &["audit", "--json"]).json()["head"].clone());
        spoil_first_page(books.path(), what);
        run(books.path(), read).fails(4, &["the database file is damaged", COMMAND]);
        let red = pages(books.path());
        assert!(red["fix"].as_str().unwrap().contains(COMMAND), "{what}: {red}");
        if what == "accounts" {
            run(books.path(), &["serve"]).fails(4, &["cannot open the ledger", COMMAND]);
        }
        let text = run(books.path(), &["rebuild"]).ok();
        assert!(text.contains("rebuilt from 9 records in") && text.contains("3 accounts, 1 hold"), "{text}");
        assert!(text.contains("The damaged file is ./books.db.damaged-"), "{text}");
        let after = (balance(books.path()), run(books.path(), &["audit", "--full", "--json"]).json()["head"].clone());
        assert_eq!(after, before, "{what}");
        run(books.path(), &["doctor", "--full"]).ok();
    }
}

#[test]
fn damage_to_the_journal_is_for_a_backup() {
    let books = folder();
    casino::open(books.path());
    spoil_first_page(books.path(), "journal");
    run(books.path(), &["audit"]).fails(4, &["the database file is damaged in table journal", "restore a backup"]);
    run(books.path(), &["rebuild"]).fails(4, &["nothing was changed", "restore a backup", "table journal"]);
    let red = pages(books.path());
    assert!(red["fix"].as_str().unwrap().contains("go on with your newest copy"), "{red}");
}

#[test]
fn a_rebuild_waits_for_no_writer() {
    let books = folder();
    casino::open(books.path());
    let writer = hold(books.path());
    let Run { code, stderr, .. } = run(books.path(), &["rebuild"]);
    assert!(code == 1 && stderr.contains("is in use by another process"), "{code}: {stderr}");
    writer.close();
    let json = run(books.path(), &["rebuild", "--json"]).json();
    assert_eq!((&json["rebuilt"], &json["records"], &json["accounts"]), (&true.into(), &9.into(), &3.into()));
    assert_eq!(json["left_out"], Value::Array(Vec::new()));
    assert!(json["kept"].as_str().unwrap().contains("books.db.damaged-"), "{json}");
}

#[test]
fn a_changed_schema_is_reported_and_repaired() {
    let books = folder();
    casino::open(books.path());
    let edit = |sql: &str| Connection::open(books.path().join("books.db")).unwrap().execute_batch(sql).unwrap();
    edit("DROP TRIGGER journal_forgets_nothing; DROP INDEX holds_due");
    let audit = run(books.path(), &["audit"]);
    assert_eq!(audit.code, 4, "{}{}", audit.stdout, audit.stderr);
    for what in ["books balance to the wei", "index holds_due is missing; trigger journal_forgets_nothing is missing"] {
        assert!(audit.stdout.contains(what), "{}", audit.stdout);
    }
    run(books.path(), &["rebuild"]).ok();
    let text = run(books.path(), &["audit"]).ok();
    assert!(text.contains("tables, indexes and triggers are what the migrations made"), "{text}");
}
