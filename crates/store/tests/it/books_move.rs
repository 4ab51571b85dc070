//! A move into a database that is interrupted: the incomplete books there do not open.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bankroll_ledger::{AccountKind, Time};
use bankroll_store::{
    Audit, BooksMove, BooksMoveStage, DatabaseUrl, LeaseWatch, Ledger, LedgerOptions, Reader, StoreError,
};
use bankroll_testkit::postgres::needed_database;

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
    assert!(matches!(move_to(&to).run(|_| {}), Err(StoreError::NotEmpty)));
    // The refused attempts have changed nothing.
    Ledger::open(LedgerOptions::new(to.clone())).unwrap().close();
    Audit::new(Reader::open(to).unwrap()).run(|_| {}).unwrap();
}
