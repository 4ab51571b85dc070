//! A statement index that is lost, torn, foreign or ahead: answers stay right, and it is rebuilt.

use std::{
    fs,
    time::{Duration, Instant},
};

use bankroll_ledger::{AccountId, AccountKind, Seq};
use bankroll_store::{IndexState, Reader, STATEMENTS_FILE, StatementQuery, StoreError};
use rusqlite::Connection;

use crate::world::{World, moving};

/// Closed books with a hundred payments from alice to the arena, in an index of several runs.
fn indexed() -> (World, AccountId) {
    indexed_at(1_000_000)
}

fn indexed_at(time: u64) -> (World, AccountId) {
    let mut world = World::in_folder(|options| options.index_records_max = 8);
    world.set_time(time);
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    for _ in 0..10 {
        for _ in 0..10 {
            world.play(vec![moving(alice, arena, 1)]);
        }
        world.reopen();
    }
    world.ledger.take().unwrap().close();
    assert_eq!(state(&world), (105, 105));
    (world, arena)
}

fn state(world: &World) -> (u64, u64) {
    let IndexState { covered, last, .. } = world.reader().index_state().unwrap();
    (covered.0, last.0)
}

fn index(world: &World) -> Connection {
    Connection::open(world.folder.path().join(STATEMENTS_FILE)).unwrap()
}

/// The balances that the statement of the arena goes through.
fn balances(reader: &Reader, arena: AccountId) -> Vec<u128> {
    let query = StatementQuery { most: 7, ..StatementQuery::of(arena) };
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = reader.statement(&StatementQuery { after, ..query.clone() }).unwrap();
        all.extend(page.items.iter().map(|line| line.balance.units()));
        after = page.next;
        if after.is_none() {
            return all;
        }
    }
}

/// Answers are right before the index is repaired, and it covers everything after the books were open once.
fn check_repaired(world: &mut World, arena: AccountId, damage: &str) {
    let expected: Vec<u128> = (1..=100).collect();
    assert_eq!(balances(&world.reader(), arena), expected, "after {damage}");
    // Closing does not verify runs of earlier sessions; the thread does, one by one, while the books are open.
    world.options.index_pause = Duration::from_micros(1);
    world.ledger = Some(bankroll_store::Ledger::open(world.options.clone()).unwrap());
    assert_eq!(balances(&world.reader(), arena), expected, "after {damage}");
    let waited = Instant::now();
    while !world.reader().check_indexes(|_| {}).is_ok_and(|report| report.covered == world.reader().head().unwrap().seq)
    {
        assert!(waited.elapsed() < Duration::from_secs(60), "not repaired after {damage}");
        std::thread::yield_now();
    }
    world.ledger.take().unwrap().close();
    assert_eq!(balances(&world.reader(), arena), expected, "after {damage}");
    let (covered, last) = state(world);
    assert_eq!(covered, last, "after {damage}");
}

#[test]
fn a_lost_index_is_rebuilt() {
    let (mut world, arena) = indexed();
    for name in [STATEMENTS_FILE, "statements.db-wal", "statements.db-shm"] {
        let _ = fs::remove_file(world.folder.path().join(name));
    }
    assert_eq!(state(&world), (0, 105));
    check_repaired(&mut world, arena, "deleting it");
}

#[test]
fn a_file_that_is_no_database_is_replaced() {
    let (mut world, arena) = indexed();
    fs::write(world.folder.path().join(STATEMENTS_FILE), "a letter to my bank, of some length. ".repeat(300)).unwrap();
    check_repaired(&mut world, arena, "writing a letter over it");
}

#[test]
fn lost_or_edited_rows_of_the_index_are_detected() {
    let (mut world, arena) = indexed();
    for damage in [
        "DELETE FROM term_runs WHERE first_seq = 1",
        "DELETE FROM term_runs WHERE first_seq > 50",
        "DELETE FROM term_runs",
        "DELETE FROM term_chunks WHERE id = (SELECT max(first_chunk) FROM term_runs)",
        "DELETE FROM term_chunks",
        "UPDATE term_runs SET last_seq = last_seq + 1000 WHERE last_seq = 105",
        "UPDATE term_runs SET chunks = 0",
        "UPDATE term_runs SET first_chunk = first_chunk + 1",
        "UPDATE term_runs SET head = zeroblob(32)",
        "UPDATE term_runs SET level = 300",
        "UPDATE term_chunks SET data = x''",
        "UPDATE term_chunks SET data = substr(data, 1, length(data) - 1)",
        "DROP TABLE term_runs",
        "DROP TABLE term_chunks",
        "PRAGMA user_version = 77",
    ] {
        index(&world).execute_batch(damage).unwrap_or_else(|error| panic!("{damage}: {error}"));
        check_repaired(&mut world, arena, damage);
    }
}

#[test]
fn the_index_of_other_books_is_not_used() {
    let (mut world, arena) = indexed();
    // The same requests at another time: the same places, another chain.
    let (other, _) = indexed_at(2_000_000);
    for world in [&world, &other] {
        index(world).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    }
    fs::copy(other.folder.path().join(STATEMENTS_FILE), world.folder.path().join(STATEMENTS_FILE)).unwrap();
    let first = world.reader().index_state().unwrap().covered;
    assert!(first < Seq(105), "{first}");
    // It knows a head that these books never had, so it looks as if records were lost.
    let opened = bankroll_store::Ledger::open(world.options.clone());
    assert!(matches!(opened, Err(StoreError::TailLost { .. })), "{opened:?}");
    bankroll_store::Ledger::accept_loss(&world.options, "Ada", "the index of other books").unwrap();
    check_repaired(&mut world, arena, "putting another index in its place");
}

#[test]
fn an_index_that_is_ahead_of_the_journal_is_truncated() {
    let mut world = World::in_folder(|options| options.index_records_max = 8);
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    world.ledger.take().unwrap().close();
    let books = world.folder.path().join("books.db");
    let connection = Connection::open(&books).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let old = fs::read(&books).unwrap();
    world.ledger = Some(bankroll_store::Ledger::open(world.options.clone()).unwrap());
    for _ in 0..50 {
        world.play(vec![moving(alice, arena, 1)]);
    }
    world.ledger.take().unwrap().close();
    assert_eq!(state(&world), (55, 55));
    // A backup is restored; the index is ahead of it.
    for name in ["books.db-wal", "books.db-shm"] {
        let _ = fs::remove_file(world.folder.path().join(name));
    }
    fs::write(&books, old).unwrap();
    assert!(matches!(Reader::open(world.folder.path()), Err(StoreError::TailLost { .. })));
    bankroll_store::Ledger::accept_loss(&world.options, "Ada", "the newest backup").unwrap();
    assert_eq!(balances(&world.reader(), arena), [] as [u128; 0]);
    // The journal then grows differently, and longer than before.
    world.ledger = Some(bankroll_store::Ledger::open(world.options.clone()).unwrap());
    for _ in 0..60 {
        world.play(vec![moving(alice, arena, 2)]);
        assert_eq!(balances(&world.reader(), arena).last().unwrap() % 2, 0);
    }
    world.ledger.take().unwrap().close();
    assert_eq!(state(&world), (66, 66));
    assert_eq!(balances(&world.reader(), arena), (1..=60).map(|number| number * 2).collect::<Vec<u128>>());
}

#[test]
fn books_without_a_record_have_no_index() {
    let folder = tempfile::tempdir().unwrap();
    bankroll_store::Ledger::create(bankroll_store::LedgerOptions::new(folder.path())).unwrap().close();
    assert!(!folder.path().join(STATEMENTS_FILE).exists());
    let state = Reader::open(folder.path()).unwrap().index_state().unwrap();
    assert_eq!(state, IndexState { covered: Seq(0), last: Seq(0), runs: 0 });
}

#[test]
fn runs_of_every_size_are_merged_in_the_end() {
    let mut world = World::in_folder(|options| options.index_records_max = 1_000_000);
    let (alice, arena) = (world.player("alice", 1_000_000), world.account(AccountKind::World, None));
    // Closing builds one run of the waiting records: small and large ones, one after the other.
    let mut runs = 0;
    for round in 0..80 {
        for _ in 0..[1, 90, 3][round % 3] {
            world.play(vec![moving(alice, arena, 1)]);
        }
        world.reopen();
        runs += 1;
        assert!(world.reader().index_state().unwrap().runs <= runs);
    }
    // The thread merges while no records wait; each step takes a moment, so the test polls.
    let reader = world.reader();
    let mut looks = 0_u64;
    while reader.index_state().unwrap().runs > 14 {
        looks += 1;
        assert!(looks < 5_000_000, "{:?}", reader.index_state());
        std::thread::yield_now();
    }
    assert_eq!(balances(&reader, arena).len(), 27 * 91 + 26 * 3);
}
