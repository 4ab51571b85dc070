//! Acknowledged records that vanish with the end of the journal: the head that is noted in a second place knows them,
//! so the books refuse to go on, until a person puts them back or accepts the loss.

use std::{fs, path::Path};

use bankroll_ledger::{AccountId, AccountKind, Time};
use bankroll_store::{
    BOOKS_FILE, Clock, HEAD_FILE, HeadWatch, Ledger, LedgerOptions, Location, NotedIn, Reader, STATEMENTS_FILE,
    StoreError,
};
use bankroll_testkit::postgres;
use tempfile::TempDir;

use crate::world::{World, moving};

/// Books as a kill leaves them: 8 records in the file, 10 payments of one coin more in the log.
fn killed() -> (TempDir, LedgerOptions, AccountId) {
    let mut world = World::in_folder(|options| options.index_records_max = 1);
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    (0..3).for_each(|_| drop(world.play(vec![moving(alice, arena, 1)])));
    world.reopen();
    (0..10).for_each(|_| drop(world.play(vec![moving(alice, arena, 1)])));
    let copy = tempfile::tempdir().unwrap();
    for file in [BOOKS_FILE, "books.db-wal", HEAD_FILE] {
        fs::copy(world.folder.path().join(file), copy.path().join(file)).unwrap();
    }
    let options =
        LedgerOptions { clock: world.options.clock.clone(), ..LedgerOptions::new(Location::from(copy.path())) };
    (copy, options, arena)
}

/// What the arena has, if the books open.
fn arena_has(options: &LedgerOptions, arena: AccountId) -> Result<u128, StoreError> {
    Ledger::open(options.clone())?.close();
    Ok(Reader::open(&options.location).unwrap().account(arena).unwrap().unwrap().balance.units())
}

/// The places, noted and of the journal's end, that a refusal names.
fn refused(opened: Result<u128, StoreError>) -> (NotedIn, u64, u64) {
    match opened {
        Err(StoreError::TailLost(lost)) => (lost.noted_in.clone(), lost.noted.seq.0, lost.journal.seq.0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_kill_loses_nothing_and_is_no_alarm() {
    let (_copy, options, arena) = killed();
    assert_eq!(arena_has(&options, arena).unwrap(), 13);
    assert_eq!(arena_has(&options, arena).unwrap(), 13);
}

#[test]
fn a_lost_log_is_seen() {
    let (copy, options, arena) = killed();
    fs::remove_file(copy.path().join("books.db-wal")).unwrap();
    let file = NotedIn::File(copy.path().join(HEAD_FILE));
    assert_eq!(refused(arena_has(&options, arena)), (file, 18, 8));
    // Readers are refused, too: what is left is not everything.
    assert!(matches!(Reader::open(copy.path()), Err(StoreError::TailLost { .. })));
    assert!(matches!(Ledger::open(options), Err(StoreError::TailLost { .. })), "nothing was changed");
}

#[test]
fn a_damaged_log_is_seen() {
    let (copy, options, arena) = killed();
    let path = copy.path().join("books.db-wal");
    let mut log = fs::read(&path).unwrap();
    // In the third page of the log: SQLite takes what comes before, and drops the rest in silence.
    log[32 + 2 * (24 + 4096) + 100] ^= 1;
    fs::write(&path, &log).unwrap();
    assert_eq!(refused(arena_has(&options, arena)).1, 18);
    // What is left of the log is untouched: a person may still save it.
    assert_eq!(fs::read(&path).unwrap(), log);
}

/// Closed books of five records under a head, and an index, that know a sixth.
fn with_the_file_of_yesterday() -> (World, AccountId) {
    let mut world = World::in_folder(|options| options.index_records_max = 1);
    let (alice, arena) = (world.player("alice", 1_000), world.account(AccountKind::World, None));
    world.reopen();
    world.ledger.take().unwrap().close();
    let (books, yesterday) = (world.folder.path().join(BOOKS_FILE), world.folder.path().join("yesterday"));
    fs::copy(&books, &yesterday).unwrap();
    world.ledger = Some(Ledger::open(world.options.clone()).unwrap());
    world.play(vec![moving(alice, arena, 1)]);
    // Closing indexes what waits.
    world.ledger.take().unwrap().close();
    fs::copy(&yesterday, &books).unwrap();
    (world, arena)
}

#[test]
fn the_books_of_yesterday_are_seen() {
    let (world, arena) = with_the_file_of_yesterday();
    assert_eq!(refused(arena_has(&world.options, arena)).1, 6);
}

#[test]
fn the_statement_index_alone_is_enough() {
    let (world, arena) = with_the_file_of_yesterday();
    fs::remove_file(world.folder.path().join(HEAD_FILE)).unwrap();
    assert_eq!(refused(arena_has(&world.options, arena)), (NotedIn::StatementIndex, 6, 5));
    // Without either the older books are sound by themselves: only a head from outside knows more.
    fs::remove_file(world.folder.path().join(STATEMENTS_FILE)).unwrap();
    assert_eq!(arena_has(&world.options, arena).unwrap(), 0);
}

/// A person's word is in the journal, and the process ends before the statement index is made anew.
#[test]
fn an_acceptance_that_was_interrupted_needs_no_other() {
    let (world, arena) = with_the_file_of_yesterday();
    let index = world.folder.path().join(STATEMENTS_FILE);
    let of_the_lost = fs::read(&index).unwrap();
    Ledger::accept_loss(&world.options, "Ada", "the disk is gone").unwrap();
    fs::write(&index, of_the_lost).unwrap();
    // The lost head is the one that was accepted, so nothing more is to be said.
    assert_eq!(arena_has(&world.options, arena).unwrap(), 0);
    assert!(matches!(Ledger::accept_loss(&world.options, "Ada", "again"), Err(StoreError::NothingLost)));
}

#[test]
fn a_person_accepts_the_loss_and_the_journal_says_so() {
    let (copy, options, arena) = killed();
    let log = copy.path().join("books.db-wal");
    let kept = fs::read(&log).unwrap();
    fs::remove_file(&log).unwrap();
    let loss = Ledger::accept_loss(&options, "Ada", "the disk is gone").unwrap();
    assert_eq!((loss.seq.0, loss.by.as_str(), loss.why.as_str()), (18, "Ada", "the disk is gone"));
    // The books go on: 3 payments are left of 13.
    assert_eq!(arena_has(&options, arena).unwrap(), 3);
    let reader = Reader::open(copy.path()).unwrap();
    let losses = reader.accepted_losses().unwrap();
    assert_eq!(losses.iter().map(|(batch, loss)| (*batch, loss.batch)).collect::<Vec<_>>(), [(9, 18)]);
    bankroll_store::Audit::new(reader).run(|_| {}).unwrap();
    assert!(matches!(Ledger::accept_loss(&options, "Ada", "again"), Err(StoreError::NothingLost)));
    // The lost log, put back too late, belongs to a history that these books have left.
    fs::write(&log, kept).unwrap();
    assert_eq!(refused(arena_has(&options, arena)).1, 9);
}

#[test]
fn an_accepted_loss_does_not_excuse_the_next_one() {
    let (copy, options, arena) = killed();
    fs::remove_file(copy.path().join("books.db-wal")).unwrap();
    Ledger::accept_loss(&options, "Ada", "the disk is gone").unwrap();
    let coin = |chain: u64| bankroll_ledger::Asset {
        chain: format!("eip155:{chain}").parse().unwrap(),
        unit: bankroll_ledger::Unit::Native,
        decimals: 18,
        symbol: "ETH".into(),
    };
    let write = |chains: std::ops::Range<u64>| {
        let ledger = Ledger::open(options.clone()).unwrap();
        for chain in chains {
            ledger.list_asset(coin(chain)).unwrap();
        }
        ledger.close();
    };
    write(100..102);
    let books = copy.path().join(BOOKS_FILE);
    let early = fs::read(&books).unwrap();
    // Still below the batch whose loss was accepted.
    write(102..105);
    fs::write(&books, early).unwrap();
    assert_eq!(refused(arena_has(&options, arena)).1, 14);
    fs::remove_file(copy.path().join(HEAD_FILE)).unwrap();
    assert_eq!(refused(arena_has(&options, arena)), (NotedIn::StatementIndex, 14, 11));
}

#[test]
fn the_note_of_other_books_is_named_as_that() {
    let (copy, options, arena) = killed();
    let other = World::in_folder(|options| options.clock = Clock::manual(Time(5)).0);
    other.player("bob", 5);
    fs::copy(other.folder.path().join(HEAD_FILE), copy.path().join(HEAD_FILE)).unwrap();
    let opened = arena_has(&options, arena);
    assert!(matches!(opened, Err(StoreError::OtherBooksNoted { .. })), "{opened:?}");
}

#[test]
fn a_spoiled_note_is_no_alarm_and_is_written_anew() {
    for spoiled in ["", "nonsense", &"0".repeat(384), &"\u{0}".repeat(384), &" ".repeat(5_000)] {
        let (copy, options, arena) = killed();
        fs::write(copy.path().join(HEAD_FILE), spoiled).unwrap();
        assert_eq!(arena_has(&options, arena).unwrap(), 13, "{spoiled:?}");
        assert_eq!(noted(copy.path()), Some(18), "{spoiled:?}");
    }
    // One torn line: the other one knows the batch before.
    let (copy, options, arena) = killed();
    let mut lines = fs::read(copy.path().join(HEAD_FILE)).unwrap();
    lines[10] ^= 1;
    fs::write(copy.path().join(HEAD_FILE), lines).unwrap();
    assert_eq!(noted(copy.path()), Some(17));
    assert_eq!(arena_has(&options, arena).unwrap(), 13);
}

/// The record that the file knows.
fn noted(folder: &Path) -> Option<u64> {
    let reader = Reader::open(folder).unwrap();
    let file = folder.join(HEAD_FILE);
    let heads = reader.noted_heads(Some(&file)).unwrap();
    heads.iter().find(|(place, _)| *place == NotedIn::File(file.clone())).map(|(_, head)| head.seq.0)
}

#[test]
fn new_books_do_not_take_the_place_of_lost_ones() {
    let (copy, options, _) = killed();
    for file in [BOOKS_FILE, "books.db-wal"] {
        fs::remove_file(copy.path().join(file)).unwrap();
    }
    for created in [Ledger::create(options.clone()), Ledger::open_or_create(options.clone())] {
        assert!(
            matches!(&created, Err(StoreError::BooksWereHere { path }) if path.ends_with(HEAD_FILE)),
            "{created:?}"
        );
        assert!(!copy.path().join(BOOKS_FILE).exists());
    }
}

/// Deletes the last batch and its record, as a fail-over to a copy without them would.
const LOSE_LAST_BATCH: &str = "
    SET session_replication_role = replica; SET search_path = books, public;
    DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal);
    DELETE FROM batches WHERE number = (SELECT max(number) FROM batches);
    UPDATE ledger_head SET (batch, seq, at, hash) = (SELECT number, first + count - 1, at, head FROM batches
                                                     ORDER BY number DESC LIMIT 1)";

#[test]
fn a_database_that_went_back_is_seen_by_its_nodes() {
    let Some(location) = postgres::new_database() else { return };
    let Location::Postgres(url) = &location else { return };
    let (folder, watching) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = Some(folder.path().join(HEAD_FILE));
    let options = LedgerOptions { head_file: file, ..LedgerOptions::new(location.clone()) };
    let ledger = Ledger::create(options.clone()).unwrap();
    let mut watch = HeadWatch::new(url.clone(), watching.path().join(HEAD_FILE));
    watch.look().unwrap();
    let coin = |chain: &str| bankroll_ledger::Asset {
        chain: chain.parse().unwrap(),
        unit: bankroll_ledger::Unit::Native,
        decimals: 18,
        symbol: "ETH".into(),
    };
    ledger.list_asset(coin("eip155:1")).unwrap();
    ledger.list_asset(coin("eip155:5")).unwrap();
    watch.look().unwrap();
    ledger.close();
    postgres::run(url.reveal(), LOSE_LAST_BATCH);
    // The node that wrote, the node that only watched, and the same after a restart.
    assert!(matches!(Ledger::open(options.clone()), Err(StoreError::TailLost { .. })));
    assert!(matches!(watch.look(), Err(StoreError::TailLost { .. })));
    let mut again = HeadWatch::new(url.clone(), watching.path().join(HEAD_FILE));
    assert!(matches!(again.look(), Err(StoreError::TailLost { .. })));
    Ledger::accept_loss(&options, "Ada", "the standby was behind").unwrap();
    // One acceptance is enough for all nodes.
    again.look().unwrap();
    Ledger::open(options).unwrap().close();
}
