//! The server killed, stopped and restarted at random moments under load; single backends cancelled and ended.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bankroll_ledger::{AccountKind, ColumnValue, Fact, Guard, GuardFailure, Request, RowKey};
use bankroll_store::{Audit, DatabaseUrl, LedgerOptions, StoreError, SubmitError, SubmitFailure};
use bankroll_testkit::{
    postgres,
    script::{Script, options},
};
use fastrand::Rng;

use super::{
    cluster::Cluster,
    service::{Call, Reckoning, Service},
    soak_time,
};
use crate::{
    run::{report, seed, wait_until},
    world::{World, code_of, moving},
};

const CALLERS: u64 = 6;

/// Runs many callers during a fault, until it is over and they have continued for a while.
pub fn under_load(service: &Service, seed: u64, fault: impl FnOnce(&Service)) -> Vec<Call> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let caller = |number| {
            let (script, is_over) = (Script::new(seed, number), &is_over);
            scope.spawn(move || service.play(script, || is_over.load(Ordering::SeqCst)))
        };
        let callers: Vec<_> = (0..CALLERS).map(caller).collect();
        {
            // Even if the fault itself fails.
            let _over = AtTheEnd(&is_over);
            fault(service);
            wait_for_answers(service, 20);
        }
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    })
}

struct AtTheEnd<'a>(&'a AtomicBool);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Waits until so many more calls were answered.
pub fn wait_for_answers(service: &Service, more: u64) {
    let until = service.answered() + more;
    wait_until("calls are answered", || service.answered() >= until);
}

/// Few keys in memory, so that runs are written and merged all the time; a short lease, so that reopening does not
/// wait long for a writer that could not release it.
pub fn quick(url: &str) -> LedgerOptions {
    LedgerOptions { lease: Duration::from_secs(2), ..options(url, 64) }
}

#[test]
fn postgres_killed_and_restarted_at_any_moment_under_load() {
    let mut rng = Rng::with_seed(seed());
    let cluster = Cluster::start();
    let service = Service::open(quick(&cluster.url("books")));
    let (mut calls, mut kills) = (Vec::new(), 0_u64);
    for round in soak_time().rounds(3) {
        let mut faults = ["kill", "fast", "kill", "immediate"];
        rng.shuffle(&mut faults);
        calls.extend(under_load(&service, seed().wrapping_add(round), |service| {
            for fault in faults {
                wait_for_answers(service, rng.u64(0..60));
                match fault {
                    "kill" => cluster.kill(),
                    how => cluster.stop(how),
                }
                cluster.start_again();
                kills += 1;
            }
        }));
    }
    let found: Reckoning = service.reckon(&calls, &format!("seed {}", seed()));
    let stops = service.stops();
    report(&format!(
        "postgres kills (seed {}): {kills} ends of the server; {found}; writer stopped: {stops:?}",
        seed()
    ));
    // The writer waits for a server that is back within seconds; it stops only if it cannot verify its lease.
    assert!(stops.iter().all(|why| why.contains("Fenced") || why.contains("Postgres")), "{stops:?}");
    service.close();
}

/// An operator repeatedly ends the writer's connection, or cancels its statement.
#[test]
fn postgres_backends_ended_and_cancelled_under_load() {
    let mut rng = Rng::with_seed(seed());
    let cluster = Cluster::start();
    let service = Service::open(quick(&cluster.url("books")));
    let mut ended = 0_u64;
    let mut calls = Vec::new();
    for round in soak_time().rounds(1) {
        calls.extend(under_load(&service, seed().wrapping_add(round), |service| {
            for _ in 0..30 {
                wait_for_answers(service, rng.u64(0..10));
                let how = if rng.bool() { "pg_terminate_backend" } else { "pg_cancel_backend" };
                let all = format!("SELECT {how}(pid) FROM pg_stat_activity WHERE datname = 'books'");
                postgres::run(&cluster.url("postgres"), &all);
                ended += 1;
            }
        }));
    }
    let found = service.reckon(&calls, &format!("seed {}", seed()));
    let stops = service.stops();
    report(&format!("postgres backends (seed {}): ended or cancelled {ended} times; {found}", seed()));
    assert_eq!(stops, Vec::<String>::new(), "the server was there all the time");
    service.close();
}

/// Takes a free seat.
fn seat_taken() -> Fact {
    Fact {
        row: RowKey { table: "seats".into(), columns: vec![("id".into(), ColumnValue::Text("one".into()))] },
        guard: Guard::Is(vec![("taken".into(), ColumnValue::Int(0))]),
        otherwise: GuardFailure::Conflict,
        set: vec![("taken".into(), ColumnValue::Int(1))],
    }
}

const SEATS: &str =
    "CREATE TABLE seats (id text PRIMARY KEY, taken bigint NOT NULL); INSERT INTO seats VALUES ('one', 0)";

/// A guard that could not be read is not a guard that failed: its request must not be rejected for ever.
#[test]
fn postgres_cancelled_while_a_guard_is_read_decides_nothing() {
    let cluster = Cluster::start();
    let location = DatabaseUrl::new(cluster.url("books"));
    let world = World::on(location.into());
    let (custody, alice) = (world.account(AccountKind::Custody, Some("hot")), world.player("alice", 100));
    postgres::run(&cluster.url("books"), SEATS);
    let request = Request { facts: vec![seat_taken()], ..world.deposit(custody, alice, 5) };
    let reply = {
        let locked = postgres::Session::open(&cluster.url("books"));
        locked.run("BEGIN; LOCK TABLE seats");
        let reply = world.ledger().submit(vec![request.clone()]).unwrap();
        let waiting = "FROM pg_stat_activity WHERE datname = 'books' AND wait_event_type = 'Lock'";
        wait_until("the guard is being read", || locked.count(&format!("SELECT count(*) {waiting}")) > 0);
        locked.run(&format!("SELECT pg_cancel_backend(pid) {waiting}"));
        reply.wait()
    };
    assert_eq!(reply, Err(SubmitFailure::Unreachable));
    let answer = world.submit(request);
    assert_eq!((code_of(&answer), answer.replayed), ("applied", false));
    assert_eq!(world.balance_and_held(alice), (105, 0));
    let again = world.ledger().apply(world.play(vec![moving(alice, custody, 1_000)]));
    assert!(!matches!(again, Err(SubmitError::Failed(_))), "{again:?}");
    world.audit();
}

/// The same for a row that exists, and that the server fails to read or write.
#[test]
fn postgres_that_fails_to_read_or_write_a_row_stops_the_writer_and_rejects_no_request() {
    let cluster = Cluster::start();
    let url = cluster.url("books");
    let mut world = World::on(DatabaseUrl::new(&url).into());
    let (custody, alice) = (world.account(AccountKind::Custody, Some("hot")), world.player("alice", 100));
    for (number, reason) in [(1, "data_corrupted"), (2, "io_error"), (3, "insufficient_privilege")] {
        let fails = format!(
            "CREATE FUNCTION rotten() RETURNS bigint LANGUAGE plpgsql AS
               $$ BEGIN RAISE EXCEPTION 'rotten' USING ERRCODE = '{reason}'; END $$;"
        );
        let reading = format!("{fails} CREATE VIEW seats AS SELECT 'one'::text AS id, rotten() AS taken");
        let writing = format!("{fails} {SEATS}; ALTER TABLE seats ADD CHECK (taken = 0 OR rotten() = 0)");
        for (rotten, repair) in [(reading, "DROP VIEW seats"), (writing, "DROP TABLE seats")] {
            let request = Request { facts: vec![seat_taken()], ..world.deposit(custody, alice, 5) };
            postgres::run(&url, &format!("DROP TABLE IF EXISTS seats; {rotten}"));
            assert_eq!(
                world.ledger().apply(request.clone()),
                Err(SubmitError::Failed(SubmitFailure::Unknown)),
                "{rotten}"
            );
            postgres::run(&url, &format!("{repair}; DROP FUNCTION rotten; {SEATS}"));
            world.reopen();
            let answer = world.submit(request);
            assert_eq!((code_of(&answer), answer.replayed), ("applied", false), "{rotten}");
        }
        assert_eq!(world.balance_and_held(alice), (100 + 10 * number, 0));
    }
    // The table of the seat was made anew each time, so the guards in the journal could not all have held.
    let audited = Audit::new(world.reader()).run(|_| {});
    assert!(matches!(&audited, Err(StoreError::Diverged { what, .. }) if what.contains("seats")), "{audited:?}");
}
