//! The books move to another node: calls follow them, and an uncertain outcome is reported as unknown.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bankroll_nodes::{BooksLocation, CallError, CallRefusal, Forwarder, NodeServer, UnavailableReason};

use crate::world::{Books, PATIENCE, RelayAll, World, fail_within, identity};

/// The present row of the lease.
type Row = Arc<Mutex<Option<BooksLocation>>>;

fn follower(world: &World, row: &Row) -> Forwarder {
    let row = Arc::clone(row);
    Forwarder::start(&identity(world.folder.path(), "api-1", "api"), move || Ok(row.lock().unwrap().clone())).unwrap()
}

fn at(holder: &str, server: &NodeServer) -> Option<BooksLocation> {
    Some(BooksLocation { holder: holder.into(), address: server.address().to_string() })
}

/// A standby.
fn standby(world: &World) -> (Arc<Books>, NodeServer) {
    let books = Arc::new(Books::default());
    let own = identity(world.folder.path(), "books-2", "books");
    let server = NodeServer::start("127.0.0.1:0", &own, Arc::clone(&books)).unwrap();
    (books, server)
}

/// Like a takeover: moves the ledger to the other node and updates the row.
fn move_books(from: &Books, to: &Books) {
    *to.ledger.lock().unwrap() = from.ledger.lock().unwrap().take();
}

#[test]
fn calls_follow_the_books_to_another_node() {
    let world = World::new();
    let (second_books, second) = standby(&world);
    let row: Row = Arc::new(Mutex::new(at("first", &world.server)));
    let api = follower(&world, &row);
    let credit = |key: &str| api.relay_all(vec![world.credit(key)], PATIENCE).unwrap();
    credit("a").wait().unwrap();
    // The connection stays; the answer there is "not the holder" until the row says where they are.
    move_books(&world.books, &second_books);
    let waiting = credit("b");
    *row.lock().unwrap() = at("second", &second);
    assert!(!waiting.wait().unwrap()[0].replayed);
    assert_eq!(world.funds(), 2);
    second.stop();
    let gone = |outcome: &CallError| matches!(outcome, CallError::Unavailable(UnavailableReason::Connection { .. }));
    let outcome = fail_within(|time| api.relay_all(vec![world.credit("c")], time).unwrap().wait(), gone);
    assert!(gone(&outcome), "{outcome:?}");
}

#[test]
fn calls_leave_a_suspended_holder_for_the_new_one() {
    let world = World::new();
    let (second_books, second) = standby(&world);
    let row: Row = Arc::new(Mutex::new(at("first", &world.server)));
    let api = follower(&world, &row);
    // It commits, and never answers; its connection stays open.
    *world.books.frozen.lock().unwrap() = true;
    let waiting = api.relay_all(vec![world.credit("a")], PATIENCE).unwrap();
    let deadline = std::time::Instant::now() + PATIENCE;
    while world.funds() == 0 {
        assert!(std::time::Instant::now() < deadline, "it commits");
        std::thread::yield_now();
    }
    *second_books.ledger.lock().unwrap() = Some(world.ledger.clone());
    *row.lock().unwrap() = at("second", &second);
    let answers = waiting.wait().unwrap();
    assert!(answers[0].replayed, "the same key, the stored answer");
    assert_eq!((world.funds(), world.journal().get("a")), (1, Some(&1)));
}

#[test]
fn a_call_that_may_have_happened_is_reported_as_unknown() {
    let world = World::new();
    let row: Row = Arc::new(Mutex::new(at("first", &world.server)));
    let api = follower(&world, &row);
    *world.books.frozen.lock().unwrap() = true;
    let ask = |time| api.relay_all(vec![world.credit("a")], time).unwrap().wait();
    let outcome = fail_within(ask, |outcome| {
        // Until it is sent, it is reported as not sent.
        assert!(*outcome == CallError::Unknown || world.funds() == 0, "{outcome:?}");
        *outcome == CallError::Unknown
    });
    assert_eq!(outcome, CallError::Unknown);
    // It did happen; a retry with the same key shows it.
    *world.books.frozen.lock().unwrap() = false;
    let outcome = api.relay_all(vec![world.credit("a")], PATIENCE).unwrap().wait().unwrap();
    assert!(outcome[0].replayed && world.funds() == 1);
}

#[test]
fn a_call_that_was_never_sent_did_not_happen() {
    let world = World::new();
    let row: Row = Arc::default();
    let api = follower(&world, &row);
    let ask = |time| api.relay_all(vec![world.credit("a")], time).unwrap().wait();
    let no_holder = CallError::Unavailable(UnavailableReason::NoHolder);
    assert_eq!(fail_within(ask, |outcome| *outcome == no_holder), no_holder);
    let (_, second) = standby(&world);
    *row.lock().unwrap() = at("second", &second);
    let not_there = CallError::Unavailable(UnavailableReason::Refused(CallRefusal::NotHolder));
    assert_eq!(fail_within(ask, |outcome| *outcome == not_there), not_there);
    assert_eq!(world.journal().len(), 0);
}

#[test]
fn a_call_that_times_out_during_the_lookup_reports_late_and_not_no_holder() {
    let world = World::new();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let identity = identity(world.folder.path(), "api-1", "api");
    // The lookup does not answer.
    let silent = Forwarder::start(&identity, move || {
        let _ = held.recv();
        Err("given up".into())
    });
    let silent = silent.unwrap();
    let outcome = silent.relay_all(vec![world.credit("a")], Duration::from_millis(50)).unwrap().wait();
    assert_eq!(outcome, Err(CallError::Unavailable(UnavailableReason::Late)));
    // Once a reason is known, it is reported.
    drop(release);
    let given_up = CallError::Unavailable(UnavailableReason::Looking("given up".into()));
    let ask = |time| silent.relay_all(vec![world.credit("a")], time).unwrap().wait();
    assert_eq!(fail_within(ask, |outcome| *outcome == given_up), given_up);
    assert_eq!(world.journal().len(), 0);
}
