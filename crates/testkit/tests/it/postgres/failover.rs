//! A synchronous standby: it replaces a primary that died, and commits wait for it.
//!
//! The writer knows both servers by one address and continues with the one that accepts writes. "Committed here,
//! perhaps not replicated" is an unknown outcome, never an answer.

use bankroll_ledger::Request;
use bankroll_store::{Answer, SubmitError, SubmitFailure};
use bankroll_testkit::{postgres::Session, script::Script};
use fastrand::Rng;

use super::{
    cluster::Cluster,
    kills::{quick, under_load, wait_for_answers},
    service::{Call, Service},
    soak_time,
};
use crate::run::{report, seed, wait_until};

/// The primary waits for any standby; the standby, once promoted, for none.
const SYNCHRONOUS: &str = "synchronous_standby_names=*";

/// A primary whose commits are on the standby before they are acknowledged.
pub fn pair() -> (Cluster, Cluster) {
    let mut primary = Cluster::start();
    let standby = Cluster::standby_of(&primary);
    // Only now: before there is a standby, every commit would wait for one.
    primary.set(SYNCHRONOUS);
    primary.stop("fast");
    primary.start_again();
    follows(&primary);
    (primary, standby)
}

/// Waits until commits wait for the standby.
pub fn follows(primary: &Cluster) {
    let session = Session::open(&primary.url("postgres"));
    let following = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    wait_until("the standby follows", || session.count(following) == 1);
}

#[test]
fn postgres_fails_over_to_a_synchronous_standby_under_load() {
    let mut rng = Rng::with_seed(seed());
    let mut outcome = Vec::new();
    for round in soak_time().rounds(1) {
        let (primary, standby) = pair();
        let service = Service::open(quick(&primary.url_of_two(&standby)));
        let calls = under_load(&service, seed().wrapping_add(round), |service| {
            wait_for_answers(service, rng.u64(10..80));
            primary.kill();
            standby.promote();
            wait_for_answers(service, 30);
        });
        // The dead primary is no longer used: this is what the standby has.
        let found = service.reckon(&calls, &format!("seed {}", seed()));
        outcome.push(format!("{found}; writer stopped: {:?}", service.stops()));
        assert_eq!(service.stops(), Vec::<String>::new(), "the writer goes on over the other server");
        service.close();
    }
    report(&format!("postgres fail-over (seed {}): {}", seed(), outcome.join("; ")));
}

/// How the wait for the standby is interrupted.
#[derive(Clone, Copy, Debug)]
enum CutShort {
    Cancelled,
    Terminated,
}

const WAITING: &str = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/// Makes a call whose commit waits for a missing standby, interrupts that wait, and waits until the writer waits
/// again: it has found its commit, and must not answer before that is replicated as well.
fn cut_short(primary: &Cluster, how: CutShort) {
    let session = Session::open(&primary.url("postgres"));
    let committing = format!("SELECT coalesce(max(pid), 0)::bigint {WAITING} AND query LIKE '%COMMIT%'");
    let renewing = format!("SELECT pg_cancel_backend(pid) {WAITING} AND query NOT LIKE '%COMMIT%'");
    let mut first = 0;
    wait_until("a commit waits for the standby", || {
        first = session.count(&committing);
        if first == 0 {
            // On a slow machine the lease is renewed meanwhile, which waits as well, and the call after it.
            session.run(&renewing);
        }
        first > 0
    });
    session.run(&match how {
        CutShort::Cancelled => format!("SELECT pg_cancel_backend({first})"),
        CutShort::Terminated => format!("SELECT pg_terminate_backend({first})"),
    });
    let looking = format!("SELECT count(*) {WAITING} AND pid <> {first}");
    wait_until("the writer waits again", || session.count(&looking) == 1);
}

#[test]
fn postgres_answers_nothing_while_it_is_not_replicated() {
    let (primary, standby) = pair();
    let service = Service::open(quick(&primary.url_of_two(&standby)));
    let mut script = Script::new(seed(), 0);
    let mut calls = Vec::new();
    for how in [CutShort::Cancelled, CutShort::Terminated] {
        standby.stop("fast");
        let requests = script.call();
        let reply = service.ledger().submit(requests.clone()).unwrap();
        let outcome = std::thread::scope(|scope| {
            let caller = scope.spawn(move || reply.wait());
            cut_short(&primary, how);
            // It is on the primary by now, and still no caller was answered.
            assert!(!caller.is_finished(), "{how:?}: answered before it was replicated");
            standby.start_again();
            caller.join().unwrap()
        });
        let answers = outcome.unwrap_or_else(|failure| panic!("{how:?}: {failure:?}"));
        assert!(answers.iter().all(|answer| !answer.replayed));
        calls.push(Call { requests, failures: Vec::new(), answers });
        follows(&primary);
    }
    let found = service.reckon(&calls, "cut short");
    assert_eq!(service.stops(), Vec::<String>::new());
    report(&format!("postgres waits for a standby: cancelled once, terminated once; {found}"));
    service.close();
}

/// What only the dead primary had is lost, and its caller got the answer that nothing happened.
#[test]
fn postgres_loses_with_its_primary_only_what_was_never_acknowledged() {
    let (primary, standby) = pair();
    let service = Service::open(quick(&primary.url_of_two(&standby)));
    let mut script = Script::new(seed(), 0);
    let first = service.make(script.call());
    standby.stop("fast");
    let requests: Vec<Request> = script.call();
    let reply = service.ledger().submit(requests.clone()).unwrap();
    let outcome: Result<Vec<Answer>, SubmitFailure> = std::thread::scope(|scope| {
        let caller = scope.spawn(move || reply.wait());
        cut_short(&primary, CutShort::Cancelled);
        primary.kill();
        standby.start_again();
        standby.promote();
        caller.join().unwrap()
    });
    assert_eq!(outcome, Err(SubmitFailure::Unreachable));
    let again = service.make(requests);
    assert!(again.failures.is_empty() && again.answers.iter().all(|answer| !answer.replayed));
    let again = Call { failures: vec![SubmitError::Failed(SubmitFailure::Unreachable)], ..again };
    let found = service.reckon(&[first, again], "forgotten");
    assert_eq!((found.nothing_happened, found.unknown), (1, 0));
    service.close();
}
