//! Books are created when the caller asks for it, and by nothing else.

use std::{fs, path::Path};

use bankroll_store::{Ledger, LedgerOptions, Location, Reader, StoreError};
use bankroll_testkit::postgres;

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn opening_creates_no_books_on_either_engine() {
    let above = tempfile::tempdir().unwrap();
    let location = postgres::new_database().unwrap_or_else(|| above.path().join("typo").into());
    let options = || LedgerOptions::new(&location);
    let none =
        |opened: Result<(), StoreError>| matches!(opened, Err(StoreError::NoLedger { .. } | StoreError::NoBooks));
    assert!(none(Ledger::open(options()).map(drop)));
    assert!(none(Reader::open(&location).map(drop)), "and the refused attempt has left nothing");
    assert_eq!(files(above.path()), [] as [&str; 0]);

    Ledger::create(options()).unwrap().close();
    let again = Ledger::create(options());
    assert!(matches!(again, Err(StoreError::LedgerExists { .. } | StoreError::NotEmpty)), "{again:?}");
    Ledger::open(options()).unwrap().close();
    Ledger::open_or_create(options()).unwrap().close();
    assert_eq!(Reader::open(&location).unwrap().head().unwrap().seq.0, 0);
}

#[test]
fn a_folder_or_a_file_without_books_is_not_empty_books() {
    let folder = tempfile::tempdir().unwrap();
    let options = LedgerOptions::new(folder.path());
    assert!(matches!(Ledger::open(options.clone()), Err(StoreError::NoLedger { .. })));
    assert_eq!(files(folder.path()), [] as [&str; 0], "not even a lock");

    let books = folder.path().join("books.db");
    fs::write(&books, "").unwrap();
    for opened in [Ledger::open(options.clone()), Ledger::open_or_create(options.clone())] {
        assert!(matches!(opened, Err(StoreError::NoBooksInFile { .. })), "{opened:?}");
    }
    assert!(matches!(Reader::open(folder.path()), Err(StoreError::NoBooksInFile { .. })));
    assert!(matches!(Ledger::create(options.clone()), Err(StoreError::LedgerExists { .. })));
    assert_eq!((files(folder.path()), books.metadata().unwrap().len()), (vec!["books.db".to_owned()], 0));

    // A database without tables, as SQLite makes it of such a file.
    rusqlite::Connection::open(&books).unwrap().execute_batch("PRAGMA user_version = 1").unwrap();
    let before = fs::read(&books).unwrap();
    assert!(matches!(Ledger::open(options), Err(StoreError::NoBooksInFile { .. })));
    assert!(matches!(Reader::open(folder.path()), Err(StoreError::NoBooksInFile { .. })));
    assert_eq!(fs::read(&books).unwrap(), before, "nothing was written to it");
}

#[test]
fn books_whose_creation_was_interrupted_are_created_from_the_beginning() {
    let folder = tempfile::tempdir().unwrap();
    for left_over in ["books.db.new", "books.db.new-journal"] {
        fs::write(folder.path().join(left_over), "half a page").unwrap();
    }
    assert!(matches!(Ledger::open(LedgerOptions::new(folder.path())), Err(StoreError::NoLedger { .. })));
    Ledger::create(LedgerOptions::new(folder.path())).unwrap().close();
    assert_eq!(files(folder.path()), ["books.db", "books.head", "books.lock"]);
}

/// SQLite would replay it into the new file.
#[test]
fn no_books_are_created_next_to_a_log_that_other_books_have_left() {
    for ending in ["-wal", "-journal"] {
        let folder = tempfile::tempdir().unwrap();
        let (name, options) = (format!("books.db{ending}"), LedgerOptions::new(folder.path()));
        let log = folder.path().join(&name);
        fs::write(&log, "commits of other books").unwrap();
        for created in [Ledger::create(options.clone()), Ledger::open_or_create(options.clone())] {
            assert!(matches!(&created, Err(StoreError::LedgerExists { path }) if *path == log), "{created:?}");
        }
        assert_eq!(files(folder.path()), [name.as_str(), "books.lock"]);
        assert_eq!(fs::read_to_string(&log).unwrap(), "commits of other books");

        // An empty log has nothing to replay.
        fs::write(&log, "").unwrap();
        Ledger::create(options).unwrap().close();
    }
}

#[test]
fn a_location_is_shown_without_its_password() {
    let Location::Postgres(url) = bankroll_store::DatabaseUrl::new("postgres://bank:s3cret@db/books").into() else {
        panic!("a database")
    };
    assert_eq!(url.shown(), "postgres://bank:***@db/books");
}
