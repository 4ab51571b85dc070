//! Planted bugs, one at a time: the promises must notice within 500 seeds, and what is left after shrinking must still
//! show the bug and nothing but it.

use bankroll_testkit::sim::{Bug, Failure, Promise, run, run_many, shrink};

use super::first_seed;
use crate::run::{is_soak, tell};

/// Seeds within which a bug must be found.
const SEEDS: u64 = 500;

fn found(bug: Bug, expected: &[Promise]) -> Option<Failure> {
    if is_soak() {
        return None;
    }
    let summary = run_many(first_seed(), Some(bug), |number| number < SEEDS);
    let failure = summary.failure.unwrap_or_else(|| panic!("{bug:?} was not found in {SEEDS} seeds"));
    tell(&format!("simulator: {bug:?} found in {} seeds: {}", summary.seeds, failure.broken));
    assert!(expected.contains(&failure.broken.promise), "{bug:?} broke {}", failure.broken);
    assert!(run(&failure.plan, None).failure.is_none(), "seed {} fails without the bug, too", failure.plan.seed);
    Some(failure)
}

#[test]
fn credit_before_finality_is_found() {
    found(Bug::CreditBeforeFinality, &[Promise::CreditedWhenFinal]);
}

#[test]
fn credit_without_the_orphan_check_is_found_and_made_small() {
    let promises = [Promise::CreditedOnItsBranch, Promise::CreditedOnce];
    let Some(failure) = found(Bug::CreditWithoutOrphanCheck, &promises) else { return };
    let bug = Some(Bug::CreditWithoutOrphanCheck);
    let small = shrink(&failure, bug, 150);
    tell(&format!("simulator: made small, {} of {} steps", small.plan.steps.len(), failure.plan.steps.len()));
    assert!(small.plan.steps.len() < failure.plan.steps.len() / 2, "{} steps are left", small.plan.steps.len());
    let again = run(&small.plan, bug).failure.expect("what was made small still fails");
    assert_eq!((again.broken, again.history), (small.broken, small.history));
}

#[test]
fn a_dropped_idempotency_key_is_found() {
    found(Bug::KeyDropped, &[Promise::AddsUp, Promise::OneEffect, Promise::Acknowledged]);
}

#[test]
fn a_hold_released_on_time_out_is_found() {
    found(Bug::HoldReleasedOnTimeOut, &[Promise::RefundedWithProof]);
}

#[test]
fn a_transaction_rebuilt_after_a_lost_answer_is_found() {
    found(Bug::RebuiltAfterLostAnswer, &[Promise::Ends, Promise::PaidOnce, Promise::Custody, Promise::AddsUp]);
}

#[test]
fn a_signer_without_memory_is_found() {
    let promises = [Promise::RefundedWithProof, Promise::PaidOnce, Promise::Ends];
    found(Bug::SignerWithoutMemory, &promises);
}

#[test]
fn an_acknowledgement_before_the_commit_is_found() {
    found(Bug::AcknowledgedBeforeCommit, &[Promise::Acknowledged, Promise::AddsUp, Promise::OneEffect]);
}
