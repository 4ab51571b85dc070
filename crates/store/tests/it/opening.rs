//! Opening: locks, settings, migrations, and books after any kind of shutdown.

use bankroll_ledger::{AccountKind, AccountName, AccountPolicy, OpenRejection, Principal, Roles};
use bankroll_store::{BOOKS, Durability, Ledger, LedgerOptions, Migrations, Reader, StoreError};

use crate::world::{World, moving, name};

#[test]
fn a_second_writer_is_refused_and_a_reader_is_not() {
    let world = World::in_folder(|_| {});
    world.player("alice", 100);
    match Ledger::open(world.options.clone()) {
        Err(StoreError::InUse { holder, .. }) => assert_eq!(holder, format!("process {}", std::process::id())),
        other => panic!("{other:?}"),
    }
    assert!(Reader::open(world.folder.path()).unwrap().head().unwrap().seq.0 > 0);
}

#[test]
fn what_was_acknowledged_is_there_after_a_restart() {
    let mut world = World::new();
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    world.play(vec![moving(alice, arena, 30)]);
    let head = world.reader().head().unwrap();
    world.reopen();
    assert_eq!(world.reader().head().unwrap(), head);
    assert_eq!((world.balances(alice), world.balances(arena)), ((70, 0), (30, 0)));
    world.play(vec![moving(alice, arena, 30)]);
    assert_eq!(world.audit().head, world.reader().head().unwrap().hash);
}

#[test]
fn closing_copies_the_log_back_and_leaves_none() {
    let mut world = World::in_folder(|_| {});
    world.player("alice", 100);
    assert!(world.folder.path().join("books.db-wal").exists());
    world.ledger.take().unwrap().close();
    assert!(
        !world.folder.path().join("books.db-wal").exists(),
        "the last connection can write, and checkpoints the log"
    );
}

#[test]
fn a_folder_without_books_has_nothing_to_read() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Reader::open(folder.path()), Err(StoreError::NoLedger { .. })));
}

#[test]
fn another_programs_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = rusqlite::Connection::open(folder.path().join("books.db")).unwrap();
    other.execute_batch("CREATE TABLE recipes (id INTEGER)").unwrap();
    drop(other);
    let before = std::fs::read(folder.path().join("books.db")).unwrap();
    let opened = Ledger::open(LedgerOptions::new(folder.path()));
    assert!(matches!(opened, Err(StoreError::Setting { setting: "application_id", .. })), "{opened:?}");
    assert_eq!(std::fs::read(folder.path().join("books.db")).unwrap(), before, "nothing was written to it");
}

#[test]
fn an_older_program_refuses_a_newer_schema_and_a_changed_migration() {
    let mut world = World::in_folder(|_| {});
    world.ledger.take().unwrap().close();
    let edit = |sql: &str| {
        let database = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
        database.execute_batch(sql).unwrap();
    };
    edit("INSERT INTO migrations (owner, number, hash, at) VALUES ('books', 99, x'00', 0)");
    let newer = |opened: Result<Ledger, StoreError>| matches!(opened, Err(StoreError::NewerSchema { number: 99, .. }));
    assert!(newer(Ledger::open(world.options.clone())));
    assert!(matches!(Reader::open(world.folder.path()), Err(StoreError::NewerSchema { number: 99, .. })));
    edit("DELETE FROM migrations WHERE number = 99; UPDATE migrations SET hash = x'00'");
    let changed = Ledger::open(world.options.clone());
    assert!(matches!(changed, Err(StoreError::ChangedMigration { number: 1, .. })), "{changed:?}");
}

#[test]
fn a_failing_migration_leaves_nothing_behind() {
    const BROKEN: Migrations = Migrations {
        owner: "broken",
        steps: &["CREATE TABLE half (id INTEGER); INSERT INTO nowhere VALUES (1)"],
        postgres: &[],
    };
    let folder = tempfile::tempdir().unwrap();
    let options = LedgerOptions { migrations: vec![BROKEN], ..LedgerOptions::new(folder.path()) };
    assert!(matches!(Ledger::create(options.clone()), Err(StoreError::Database(_))));
    assert!(!folder.path().join("books.db").exists(), "books are created whole or not at all");
    Ledger::create(LedgerOptions::new(folder.path())).unwrap().close();
    assert!(matches!(Ledger::open(options), Err(StoreError::Database(_))));
    let database = rusqlite::Connection::open(folder.path().join("books.db")).unwrap();
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM sqlite_master WHERE name = 'half'"), 0);
    assert_eq!(count("SELECT count(*) FROM migrations WHERE owner = 'broken'"), 0);
    assert_eq!(count("SELECT count(*) FROM migrations WHERE owner = 'books'"), BOOKS.steps.len() as i64);
}

#[test]
fn the_loud_option_opens_with_less_durability_and_the_same_books() {
    let mut world = World::in_folder(|_| {});
    let alice = world.player("alice", 100);
    world.options.durability = Durability::MayLoseRecentCommits;
    world.reopen();
    assert_eq!(world.balances(alice), (100, 0));
}

#[test]
fn accounts_are_opened_once_and_only_by_allowed_principals() {
    let world = World::new();
    let funds = |owner: &str| -> AccountName { format!("arena/funds/1/{owner}").parse().unwrap() };
    let open = |by: &Principal, name: AccountName, policy: AccountPolicy| {
        world.ledger().open_accounts_with(by, vec![(name, policy)]).unwrap()[0]
    };
    let game = Principal::GameServer(name("arena"));
    let first = open(&game, funds("alice"), AccountPolicy::of(AccountKind::Funds)).unwrap();
    assert_eq!(open(&game, funds("alice"), AccountPolicy::of(AccountKind::Funds)), Ok(first));
    assert_ne!(open(&game, funds("bob"), AccountPolicy::of(AccountKind::Funds)), Ok(first));
    let stranger = Principal::GameServer(name("other"));
    assert_eq!(open(&stranger, funds("carol"), AccountPolicy::of(AccountKind::Funds)), Err(OpenRejection::NotAllowed));
    let house: AccountName = "@house/house/1".parse().unwrap();
    assert_eq!(open(&game, house, AccountPolicy::of(AccountKind::House)), Err(OpenRejection::NotAllowed));
    let wide = AccountPolicy { deposit: Roles::those(|_| true), ..AccountPolicy::of(AccountKind::Funds) };
    assert_eq!(open(&game, funds("carol"), wide), Err(OpenRejection::PolicyTooWide));
    let unlisted: AccountName = "arena/funds/7/carol".parse().unwrap();
    assert_eq!(open(&game, unlisted, AccountPolicy::of(AccountKind::Funds)), Err(OpenRejection::AssetNotFound));
    world.audit();
}

#[test]
fn lost_rows_of_accounts_and_balances_come_back_from_the_journal() {
    for loss in [
        "DELETE FROM accounts WHERE id = 3",
        "DELETE FROM balances WHERE id = 1",
        "DELETE FROM assets",
        "DELETE FROM accounts",
    ] {
        let mut world = World::in_folder(|_| {});
        let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
        world.play(vec![moving(alice, arena, 30)]);
        world.ledger.take().unwrap().close();
        let database = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
        assert!(database.execute(loss, []).unwrap() > 0);
        drop(database);
        world.ledger = Some(Ledger::open(world.options.clone()).unwrap());
        assert_eq!((world.balances(alice), world.balances(arena)), ((70, 0), (30, 0)), "{loss}");
        world.audit();
    }
}

/// After a failed sync the log may be readable and not durable, so opening copies all of it. An old snapshot of another
/// program prevents that; one that ends, or that needs no older page, does not.
#[test]
fn a_log_that_cannot_be_copied_back_completely_keeps_the_books_closed() {
    let mut world = World::in_folder(|_| {});
    world.player("alice", 100);
    let reader = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM journal").unwrap();
    world.player("bob", 100);
    world.ledger.take().unwrap().close();
    let opened = Ledger::open(world.options.clone());
    assert!(matches!(opened, Err(StoreError::Locked)), "{opened:?}");
    reader.execute_batch("COMMIT; BEGIN; SELECT count(*) FROM journal").unwrap();
    world.ledger = Some(Ledger::open(world.options.clone()).unwrap());
    world.player("carol", 100);
    world.audit();
}
