//! Opening books of a database within the lease of another process: waits for one that died, not for one that lives.

use std::time::Duration;

use bankroll_store::{DatabaseUrl, Ledger, LedgerOptions, StoreError};
use bankroll_testkit::postgres;

/// Books that no process has open, in a database.
fn closed_books() -> DatabaseUrl {
    let url = postgres::needed_database();
    Ledger::create(LedgerOptions::new(url.clone())).unwrap().close();
    url
}

/// Another process acquired the lease, and is gone.
fn leave_lease(url: &DatabaseUrl, seconds: u64, moves: bool) {
    let sql = format!(
        "UPDATE books.ledger_head SET epoch = epoch + 1, holder = 'a process that died', moves = {moves},
         lease_until = clock_timestamp() + interval '{seconds} s'"
    );
    postgres::run(url.reveal(), &sql);
}

#[test]
fn the_lease_of_a_process_that_died_is_waited_for_and_its_name_is_reported() {
    let url = closed_books();
    leave_lease(&url, 60, false);
    assert!(matches!(Ledger::open(LedgerOptions::new(url.clone())), Err(StoreError::Leased { .. })));
    let mut waited = Vec::new();
    let end_lease = "UPDATE books.ledger_head SET lease_until = clock_timestamp()";
    let on_wait = |holder: &bankroll_store::LeaseHolder| {
        waited.push(holder.name.clone());
        postgres::run(url.reveal(), end_lease);
    };
    let ledger = Ledger::open_in_turn(LedgerOptions::new(url.clone()), on_wait).unwrap();
    assert_eq!(waited, ["a process that died"], "once");
    ledger.tick().unwrap();
    // Without a lease there is nothing to wait for.
    let folder = tempfile::tempdir().unwrap();
    Ledger::open_or_create_in_turn(LedgerOptions::new(folder.path()), |_| panic!("no lease")).unwrap().close();
}

#[test]
fn a_holder_that_renews_its_lease_keeps_the_books_and_the_wait_has_an_end() {
    let url = closed_books();
    let options = LedgerOptions { lease: Duration::from_secs(5), ..LedgerOptions::new(url) };
    let holder = Ledger::open(options.clone()).unwrap();
    let mut waits = 0;
    let second = Ledger::open_in_turn(options, |_| waits += 1);
    assert!(matches!(second, Err(StoreError::Leased { .. })), "{second:?}");
    assert_eq!(waits, 1);
    holder.tick().unwrap();
}

/// That lease is of a hundred years, and only its operator can end it.
#[test]
fn a_move_that_was_interrupted_is_not_waited_for() {
    let url = closed_books();
    leave_lease(&url, 3_000_000_000, true);
    let opened = Ledger::open_in_turn(LedgerOptions::new(url), |_| panic!("it waits"));
    assert!(matches!(opened, Err(StoreError::Leased { .. })), "{opened:?}");
}
