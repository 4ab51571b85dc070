//! Migrations: an older program refuses newer books, a failed step has no effect, a kill in between is harmless.

use bankroll_store::{BOOKS_FILE, Ledger, LedgerOptions, Migrations, Reader, StoreError};
use bankroll_testkit::script::{SET_UP_RECORDS, options, set_up};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{points::Campaign, strace::BOOKS, victim::Role};
use crate::{crash::soak_time, run::seed};

/// Closed books with a few records and no tables of flows.
fn bare_books() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ledger =
        Ledger::create(LedgerOptions { migrations: Vec::new(), ..options(folder.path().to_str().unwrap(), 8) })
            .unwrap();
    set_up(&ledger).unwrap();
    ledger.close();
    folder
}

fn edit(folder: &TempDir, sql: &str) {
    Connection::open(folder.path().join(BOOKS_FILE)).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn crash_while_tables_are_added_to_old_books() {
    let time = soak_time();
    for round in time.rounds(1) {
        let role = Role { threads: 0, ..Role::usual(seed().wrapping_add(round)) };
        let before = bare_books();
        let (before, records_before) = (Some(before.path()), SET_UP_RECORDS);
        Campaign { name: "migration", role, before, records_before, earlier: None, files: &BOOKS }.run(60, &time);
    }
}

#[test]
fn crash_of_nothing_when_an_older_program_meets_newer_books() {
    for owner in ["books", "script"] {
        let folder = bare_books();
        edit(&folder, &format!("INSERT INTO migrations (owner, number, hash, at) VALUES ('{owner}', 99, x'00', 0)"));
        let opened = Ledger::open(options(folder.path().to_str().unwrap(), 8));
        let newer =
            |error: &StoreError| matches!(error, StoreError::NewerSchema { owner: of, number: 99 } if of == owner);
        assert!(opened.as_ref().is_err_and(newer), "{opened:?}");
        let read = Reader::open(folder.path());
        // Newer tables of flows do not prevent reading the books.
        assert_eq!(read.as_ref().is_err_and(newer), owner == "books", "{read:?}");
    }
}

#[test]
fn crash_of_nothing_when_a_migration_has_another_text_now() {
    let folder = bare_books();
    edit(&folder, "UPDATE migrations SET hash = x'00' WHERE owner = 'books'");
    let opened = Ledger::open(options(folder.path().to_str().unwrap(), 8));
    let changed =
        |error: &StoreError| matches!(error, StoreError::ChangedMigration { owner, number: 1 } if owner == "books");
    assert!(opened.as_ref().is_err_and(changed), "{opened:?}");
}

#[test]
fn crash_of_a_migration_leaves_nothing_of_its_step() {
    const FIRST: &str = "CREATE TABLE first (id INTEGER PRIMARY KEY);";
    const BROKEN: Migrations = Migrations {
        owner: "flow",
        steps: &[FIRST, "CREATE TABLE second (id INTEGER PRIMARY KEY); INSERT INTO nowhere VALUES (1);"],
        postgres: &[],
    };
    const REPAIRED: Migrations =
        Migrations { owner: "flow", steps: &[FIRST, "CREATE TABLE second (id INTEGER PRIMARY KEY);"], postgres: &[] };
    let folder = bare_books();
    let open = |set: Migrations| {
        Ledger::open(LedgerOptions { migrations: vec![set], ..options(folder.path().to_str().unwrap(), 8) })
    };
    let failed = open(BROKEN);
    assert!(matches!(failed, Err(StoreError::Database(_))), "{failed:?}");
    let books = Connection::open(folder.path().join(BOOKS_FILE)).unwrap();
    let count = |sql: &str| books.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM sqlite_master WHERE name = 'second'"), 0);
    assert_eq!(count("SELECT count(*) FROM migrations WHERE owner = 'flow' AND number = 2"), 0);
    drop(books);
    open(REPAIRED).unwrap().close();
    assert_eq!(Reader::open(folder.path()).unwrap().head().unwrap().seq.0, SET_UP_RECORDS);
}
