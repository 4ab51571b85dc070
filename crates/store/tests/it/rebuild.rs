//! Damaged pages: the message names the table and what repairs it, and a rebuild makes everything that follows from the
//! journal again, or changes nothing.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use bankroll_ledger::{
    AccountId, AccountKind, Action, ColumnValue, Event, Fact, Guard, GuardFailure, Namespace, Principal, Request,
    RowKey, Settler,
};
use bankroll_store::{
    Audit, AuditReport, DamageRemedy, Ledger, Location, Migrations, Reader, RebuildReport, RebuildStage, StoreError,
    rebuild_books,
};
use bankroll_testkit::{damage::spoil_first_page, postgres};
use rusqlite::Connection;

use crate::world::{World, hold, moving, name, request};

const SPAWNS: Migrations = Migrations {
    owner: "spawns",
    steps: &["CREATE TABLE spawns (id TEXT PRIMARY KEY, state TEXT NOT NULL, note TEXT) STRICT, WITHOUT ROWID;
              CREATE INDEX spawns_noted ON spawns (note)"],
    postgres: &["CREATE TABLE spawns (id text PRIMARY KEY, state text NOT NULL, note text);
                 CREATE INDEX spawns_noted ON spawns (note)"],
};

/// Books with every kind of row: an open and a settled hold, a reversal, an announcement, a flow's row, runs of keys.
struct DamagedBooks {
    world: World,
    alice: AccountId,
    /// A request of long ago.
    first: Request,
    audit: AuditReport,
}

impl DamagedBooks {
    fn new(world: World) -> Self {
        let alice = world.player("alice", 1_000);
        let custody = world.account(AccountKind::Custody, Some("hot"));
        let mut first =
            request(world.fresh_key(Namespace::Deposits), Principal::Indexer, vec![moving(custody, alice, 5)]);
        first.events.push(Event { kind: name("deposit.credited"), resource: "d".into(), body: "{}".into() });
        let row = RowKey { table: "spawns".into(), columns: vec![("id".into(), ColumnValue::Text("s1".into()))] };
        let set = vec![("state".into(), ColumnValue::Text("alive".into()))];
        first.facts.push(Fact { row, guard: Guard::Absent, otherwise: GuardFailure::Conflict, set });
        let orphaned = world.ledger().apply(first.clone()).unwrap().seq.unwrap();
        let mut reversal = request(world.fresh_key(Namespace::Deposits), Principal::Indexer, Vec::new());
        reversal.action = Action::Reverse(orphaned);
        world.ledger().apply(reversal).unwrap().effects().unwrap();
        world.play(vec![hold(alice, 30, Some(5_000_000), Settler::Holder)]).effects().unwrap();
        for _ in 0..60 {
            world.deposit(moving(custody, alice, 1));
        }
        let audit = world.audit();
        Self { world, alice, first, audit }
    }

    fn in_folder() -> Self {
        Self::new(World::in_folder(|options| {
            options.keys_in_memory_max = 4;
            options.migrations = vec![SPAWNS];
        }))
    }

    fn folder(&self) -> &Path {
        self.world.folder.path()
    }

    /// Closes the books, and overwrites the first page of a table or an index.
    fn damage(&mut self, what: &str) {
        self.world.ledger.take().unwrap().close();
        spoil_first_page(self.folder(), what);
    }

    fn rebuild(&self) -> Result<RebuildReport, StoreError> {
        rebuild_books(&self.world.options, |_| {})
    }

    /// The same books as before the damage, open for writing.
    fn check(&mut self, after: &str) {
        self.world.ledger = Some(Ledger::open(self.world.options.clone()).unwrap());
        assert_eq!(self.world.audit(), self.audit, "{after}");
        assert_eq!(self.world.balances(self.alice), (1_060, 30), "{after}");
        let again = self.world.ledger().apply(self.first.clone()).unwrap();
        assert!(again.replayed, "{after}: a key is decided twice");
        let reader = self.world.reader();
        assert!(reader.check_pages(None).unwrap(), "{after}");
        assert_eq!(reader.compare_schema(&[SPAWNS]).unwrap().differences, Vec::<String>::new(), "{after}");
        reader.check_indexes(|_| {}).unwrap();
    }
}

/// The names of the folder's files that a rebuild must not leave.
fn left_overs(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains(".new") || name.ends_with("-journal")).collect()
}

#[test]
fn a_damaged_page_of_what_follows_from_the_journal_is_named_and_rebuilt() {
    for (what, table) in [
        ("assets", "assets"),
        ("sqlite_autoindex_assets_1", "assets"),
        ("accounts", "accounts"),
        ("sqlite_autoindex_accounts_1", "accounts"),
        ("balances", "balances"),
        ("holds", "holds"),
        ("holds_due", "holds"),
        ("holds_open", "holds"),
        ("reversals", "reversals"),
        ("outbox", "outbox"),
        ("outbox_resource", "outbox"),
        ("key_runs", "key_runs"),
        ("key_chunks", "key_chunks"),
        ("sqlite_sequence", "sqlite_sequence"),
        ("spawns_noted", "spawns"),
    ] {
        let mut books = DamagedBooks::in_folder();
        books.damage(what);
        let remedy = DamageRemedy::Rebuild { folder: Some(books.folder().into()) };
        let is_named = |error: &StoreError| match error {
            StoreError::PagesDamaged { place, remedy: named, .. } => {
                place.ends_with(&format!("table {table}")) && *named == remedy
            }
            _ => false,
        };
        let checked = Reader::open(books.folder()).and_then(|reader| reader.check_pages(None)).unwrap_err();
        assert!(is_named(&checked), "{what}: {checked:?}");
        assert!(checked.to_string().contains("run `bankroll rebuild --dir "), "{checked}");
        if let Err(refused) = Ledger::open(books.world.options.clone()).map(Ledger::close) {
            // Opening tries to rebuild the key index itself, and says which table it could not empty.
            let is_key_index = matches!(&refused, StoreError::RowDamaged { table, .. } if table.starts_with("key_"));
            assert!(is_named(&refused) || is_key_index, "{what}: {refused:?}");
            assert!(refused.to_string().contains("run `bankroll rebuild"), "{refused}");
        }
        let report = books.rebuild().unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert_eq!((&report.audit, report.holds), (&books.audit, 1), "{what}");
        let kept = report.kept.unwrap();
        assert!(kept.to_str().unwrap().contains("books.db.damaged-19700101T000001Z"), "{kept:?}");
        assert_eq!(fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(left_overs(books.folder()), Vec::<String>::new());
        books.check(what);
    }
}

#[test]
fn damage_to_the_journal_or_to_a_flows_rows_needs_a_backup_and_changes_nothing() {
    for what in ["journal", "batches", "spawns", "indexer_events"] {
        let mut books = DamagedBooks::in_folder();
        books.damage(what);
        let before = fs::read(books.folder().join("books.db")).unwrap();
        match Reader::open(books.folder()).and_then(|reader| reader.check_pages(None)) {
            Err(StoreError::PagesDamaged { place, remedy, .. }) => {
                assert_eq!((place, remedy), (format!("table {what}"), DamageRemedy::Restore));
            }
            other => panic!("{what}: {other:?}"),
        }
        match books.rebuild() {
            Err(error @ StoreError::NotRebuildable { .. }) => {
                assert!(error.to_string().contains("restore a backup"), "{error}");
                let cause = std::error::Error::source(&error).unwrap().to_string();
                assert!(cause.contains(what) || error.to_string().contains(what), "{error}: {cause}");
            }
            other => panic!("{what}: {other:?}"),
        }
        assert!(fs::read(books.folder().join("books.db")).unwrap() == before, "{what}");
        assert_eq!(left_overs(books.folder()), Vec::<String>::new());
    }
}

/// Stopped in a step, the books are the old ones or the new ones, and the rebuild can be run again.
#[test]
fn an_interrupted_rebuild_leaves_the_old_books_or_the_new_ones() {
    type Step = fn(RebuildStage) -> bool;
    let steps: [(Step, bool); 6] = [
        (|stage| matches!(stage, RebuildStage::Verified), false),
        (|stage| matches!(stage, RebuildStage::Copying(_)), false),
        (|stage| matches!(stage, RebuildStage::Auditing(_)), false),
        (|stage| matches!(stage, RebuildStage::EndedLog), false),
        (|stage| matches!(stage, RebuildStage::Kept), false),
        (|stage| matches!(stage, RebuildStage::TookPlace), true),
    ];
    for (step, (is_reached, is_new)) in steps.into_iter().enumerate() {
        let mut books = DamagedBooks::in_folder();
        books.damage("accounts");
        let stopped = catch_unwind(AssertUnwindSafe(|| {
            rebuild_books(&books.world.options, |stage| assert!(!is_reached(stage), "stopped"))
        }));
        assert!(stopped.is_err(), "step {step} was not reached");
        let is_sound = Reader::open(books.folder()).and_then(|reader| reader.check_pages(None)).is_ok();
        assert_eq!(is_sound, is_new, "step {step}");
        if !is_new {
            books.rebuild().unwrap();
        }
        assert_eq!(left_overs(books.folder()), Vec::<String>::new());
        books.check(&format!("step {step}"));
    }
}

/// The newest commits are in the log alone, as after a crash; the log is gone before the new file takes its place.
#[test]
fn what_is_in_the_log_is_in_the_new_books() {
    let mut books = DamagedBooks::in_folder();
    books.world.reopen();
    books.world.deposit(moving(AccountId(1), books.alice, 7));
    let audit = books.world.audit();
    let crashed = tempfile::tempdir().unwrap();
    for file in ["books.db", "books.db-wal"] {
        fs::copy(books.folder().join(file), crashed.path().join(file)).unwrap();
    }
    assert!(fs::metadata(crashed.path().join("books.db-wal")).unwrap().len() > 0);
    // Through a copy: a connection would copy the log into the file when it is closed.
    let closed = tempfile::tempdir().unwrap();
    fs::copy(crashed.path().join("books.db"), closed.path().join("books.db")).unwrap();
    spoil_first_page(closed.path(), "reversals");
    fs::copy(closed.path().join("books.db"), crashed.path().join("books.db")).unwrap();
    books.world.options.location = crashed.path().into();
    assert_eq!(books.rebuild().unwrap().audit, audit);
    let (again, _) = Audit::new(Reader::open(crashed.path()).unwrap()).run(|_| {}).unwrap();
    assert_eq!(again, audit);
}

#[test]
fn books_that_another_process_uses_are_not_rebuilt() {
    let mut books = DamagedBooks::in_folder();
    assert!(matches!(books.rebuild(), Err(StoreError::InUse { .. })));
    books.damage("holds");
    // A log with a reader: it would mix what the new writer logs with the old file.
    let reader = Connection::open(books.folder().join("books.db")).unwrap();
    reader.query_row("SELECT count(*) FROM batches", [], |_| Ok(())).unwrap();
    assert!(matches!(books.rebuild(), Err(StoreError::BeingRead { .. })));
    assert_eq!(left_overs(books.folder()), Vec::<String>::new());
    drop(reader);
    books.rebuild().unwrap();
    books.check("after the reader");
}

#[test]
fn a_folder_without_books_has_nothing_to_rebuild() {
    let mut books = DamagedBooks::in_folder();
    let empty = tempfile::tempdir().unwrap();
    books.world.options.location = empty.path().into();
    assert!(matches!(books.rebuild(), Err(StoreError::NoLedger { .. })));
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}

/// On both engines: rows that were lost or edited come back.
#[test]
fn edited_rows_of_derived_tables_are_made_again() {
    for edit in [
        "DELETE FROM outbox",
        "DELETE FROM holds",
        "DELETE FROM reversals",
        "DELETE FROM key_runs",
        "DELETE FROM accounts WHERE id = 2",
        "UPDATE balances SET held = balance WHERE id = 2",
        "UPDATE accounts SET name = 'arena/funds/1/mallory' WHERE id = 2",
    ] {
        let mut books = DamagedBooks::new(World::with(|options| {
            options.keys_in_memory_max = 4;
            options.migrations = vec![SPAWNS];
        }));
        books.world.ledger.take().unwrap().close();
        match &books.world.options.location {
            Location::Folder(folder) => {
                assert!(Connection::open(folder.join("books.db")).unwrap().execute(edit, []).unwrap() > 0);
            }
            Location::Postgres(url) => postgres::run(url.reveal(), &format!("SET search_path = books; {edit}")),
        }
        assert_eq!(books.rebuild().unwrap().audit, books.audit, "{edit}");
        books.check(edit);
    }
}
