//! A move into a database that is interrupted: the incomplete books there do not open.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bankroll_ledger::{AccountKind, Time};
use bankroll_store::{
    Audit, BooksMove, BooksMoveStage, DatabaseUrl, LeaseWatch, Ledger, LedgerOptions, Reader, StoreError,
};
use bankroll_testkit::postgres::{self, needed_database};

use crate::world::{World, moving};

fn books_in_a_folder() -> World {
    let mut world = World::in_folder(|_| {});
    let (alice, arena) = (world.player("alice", 100), world.account(AccountKind::World, None));
    for _ in 0..5 {
        world.play(vec![moving(alice, arena, 1)]);
    }
    world.ledger.take().unwrap().close();
    world
}

fn is_refused<T>(opened: Result<T, StoreError>) -> bool {
    matches!(opened, Err(StoreError::Leased { holder, .. }) if holder.contains("drop this database and move again"))
}

#[test]
fn books_whose_move_was_interrupted_do_not_open_however_far_it_came() {
    let world = books_in_a_folder();
    let move_to = |to: &DatabaseUrl| BooksMove {
        from: world.folder.path().into(),
        to: to.clone(),
        migrations: Vec::new(),
        now: Time(5_000_000),
    };
    type Stage = fn(&BooksMoveStage) -> bool;
    let stages: [Stage; 2] =
        [|at| matches!(at, BooksMoveStage::Copying(_)), |at| matches!(at, BooksMoveStage::AuditingNew(_))];
    for is_reached in stages {
        let to = needed_database();
        // As when the process ends: nothing more is sent to the server.
        let ended = catch_unwind(AssertUnwindSafe(|| move_to(&to).run(|at| assert!(!is_reached(&at), "interrupted"))));
        assert!(ended.is_err());
        assert!(is_refused(Ledger::open(LedgerOptions::new(to.clone()))));
        assert!(is_refused(move_to(&to).run(|_| {})), "and it is not taken for one that has been done");
        assert!(LeaseWatch::new(to).holder().unwrap().unwrap().is_move());
    }
    // The folder is as it was, and moves into an empty database.
    let to = needed_database();
    let moved = move_to(&to).run(|_| {}).unwrap();
    assert_eq!(moved.head, world.reader().head().unwrap().hash);
    assert!(!LeaseWatch::new(to.clone()).holder().unwrap().unwrap().is_move(), "it is complete");
    Ledger::open(LedgerOptions::new(to.clone())).unwrap().close();
    assert!(matches!(move_to(&to).run(|_| {}), Err(StoreError::Moved { .. })));
    let third = books_in_a_folder();
    let taken = BooksMove { from: third.folder.path().into(), ..move_to(&to) };
    assert!(matches!(taken.run(|_| {}), Err(StoreError::NotEmpty)));
    assert_eq!(third.reader().moved().unwrap(), None, "a move that was refused marks nothing");
    // The refused attempts have changed nothing.
    Ledger::open(LedgerOptions::new(to.clone())).unwrap().close();
    Audit::new(Reader::open(to).unwrap()).run(|_| {}).unwrap();
}

#[test]
fn books_that_were_moved_are_read_and_never_written_again() {
    let world = books_in_a_folder();
    let to = needed_database();
    let shown = to.reveal().to_owned();
    let with_password = DatabaseUrl::new(shown.replacen("://", "://postgres:s3cret@", 1));
    let has_user = shown.split_once("://").unwrap().1.contains('@');
    let to = if has_user { to } else { with_password };
    let moving =
        BooksMove { from: world.folder.path().into(), to: to.clone(), migrations: Vec::new(), now: Time(5_000_000) };
    moving.run(|_| {}).unwrap();
    let moved = world.reader().moved().unwrap().unwrap();
    assert_eq!((moved.to.as_str(), moved.at.as_str()), (to.shown().as_str(), "1970-01-01T00:00:05Z"));
    assert!(!moved.to.contains("s3cret"));
    for opened in [Ledger::open(world.options.clone()), Ledger::open_or_create(world.options.clone())] {
        let Err(error @ StoreError::Moved { .. }) = opened else { panic!("{opened:?}") };
        assert!(error.to_string().contains(&to.shown()), "{error}");
    }
    // A program that does not know the mark refuses it as a migration that it does not know.
    let books = rusqlite::Connection::open(world.folder.path().join("books.db")).unwrap();
    let unknown = "SELECT count(*) FROM migrations WHERE owner = 'moved' AND number = 1";
    assert_eq!(books.query_row(unknown, [], |row| row.get::<_, u32>(0)).unwrap(), 1);
    drop(books);
    Audit::new(world.reader()).run(|_| {}).unwrap();

    // Undone, they are as they were.
    assert_eq!(BooksMove::undo(world.folder.path()).unwrap(), moved);
    assert!(matches!(BooksMove::undo(world.folder.path()), Err(StoreError::NotMoved { .. })));
    assert_eq!(world.reader().moved().unwrap(), None);
    Ledger::open(world.options.clone()).unwrap().close();
}

/// Interrupted between its last two steps: neither can be opened, and the same move again completes it.
#[test]
fn a_move_that_was_interrupted_after_the_mark_is_completed_by_the_same_command() {
    let world = books_in_a_folder();
    let to = needed_database();
    let moving =
        BooksMove { from: world.folder.path().into(), to: to.clone(), migrations: Vec::new(), now: Time(5_000_000) };
    moving.run(|_| {}).unwrap();
    // What the database has before the last step: the lease of the move.
    postgres::run(
        to.reveal(),
        "UPDATE books.ledger_head SET moves = true, lease_until = clock_timestamp() + interval '100 years'",
    );
    assert!(is_refused(Ledger::open(LedgerOptions::new(to.clone()))));
    assert!(matches!(Ledger::open(world.options.clone()), Err(StoreError::Moved { .. })));
    let other = BooksMove { to: needed_database(), ..moving.clone() };
    assert!(matches!(other.run(|_| {}), Err(StoreError::Moved { .. })), "to another database it is another move");

    let moved = moving.run(|_| {}).unwrap();
    assert_eq!(moved.head, world.reader().head().unwrap().hash);
    Ledger::open(LedgerOptions::new(to)).unwrap().close();
    assert!(matches!(moving.run(|_| {}), Err(StoreError::Moved { .. })));
}
