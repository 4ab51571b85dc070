//! Planted bugs, one at a time: the promises must detect each within 500 seeds, and the shrunk plan must still show
//! the bug and only the bug.

use bankroll_testkit::sim::{Bug, SafetyPromise, SimFailure, run, run_many, shrink};

use crate::run::{is_soak, report};

/// Seeds within which a bug must be found.
const SEEDS: u64 = 500;
/// Always the same: the rarest bug shows in one of sixty seeds, and whether it is found must not be random.
const FIRST: u64 = 104_000_000;

/// The first seed that the bug breaks, and that is sound without it.
fn found(bug: Bug) -> Option<SimFailure> {
    if is_soak() {
        return None;
    }
    let summary = run_many(FIRST, Some(bug), |number| number < SEEDS);
    let failure = summary.failure.unwrap_or_else(|| panic!("{bug:?} was not found in {SEEDS} seeds"));
    report(&format!("simulator: {bug:?} found in {} seeds: {}", summary.seeds, failure.broken));
    assert!(run(&failure.plan, None).failure.is_none(), "seed {} fails without the bug, too", failure.plan.seed);
    Some(failure)
}

#[test]
fn credit_before_finality_is_found() {
    let promise = found(Bug::CreditBeforeFinality).map(|failure| failure.broken.promise);
    assert!(promise.is_none_or(|promise| promise == SafetyPromise::CreditedWhenFinal), "{promise:?}");
}

#[test]
fn credit_without_the_orphan_check_is_found_and_shrunk() {
    let Some(failure) = found(Bug::CreditWithoutOrphanCheck) else { return };
    let bug = Some(Bug::CreditWithoutOrphanCheck);
    let small = shrink(&failure, bug, 150);
    report(&format!("simulator: made small, {} of {} steps", small.plan.steps.len(), failure.plan.steps.len()));
    assert!(small.plan.steps.len() < failure.plan.steps.len() / 2, "{} steps are left", small.plan.steps.len());
    assert_eq!(small.broken.promise, failure.broken.promise);
    let again = run(&small.plan, bug).failure.expect("what was made small still fails");
    assert_eq!((again.broken, again.history), (small.broken, small.history));
}

#[test]
fn a_dropped_idempotency_key_is_found() {
    found(Bug::KeyDropped);
}

#[test]
fn a_hold_released_on_time_out_is_found() {
    let promise = found(Bug::HoldReleasedOnTimeOut).map(|failure| failure.broken.promise);
    assert!(promise.is_none_or(|promise| promise == SafetyPromise::RefundedWithProof), "{promise:?}");
}

#[test]
fn a_transaction_rebuilt_after_a_lost_answer_is_found() {
    found(Bug::RebuiltAfterLostAnswer);
}

#[test]
fn a_signer_without_memory_is_found() {
    found(Bug::SignerWithoutMemory);
}

#[test]
fn an_acknowledgement_before_the_commit_is_found() {
    found(Bug::AcknowledgedBeforeCommit);
}

#[test]
fn one_providers_word_is_found() {
    let promise = found(Bug::OneProvidersWord).map(|failure| failure.broken.promise);
    assert!(promise.is_none_or(|promise| promise == SafetyPromise::CreditedRight), "{promise:?}");
}

#[test]
fn a_token_that_is_believed_by_its_log_is_found() {
    found(Bug::LogsBelieved);
}
