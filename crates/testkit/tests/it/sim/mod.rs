//! The simulator: new seeds keep every promise, seeds that once broke one keep it now, the same seed gives the same
//! history, and planted bugs are found.

mod planted;

use std::time::Instant;

use bankroll_testkit::sim::{Counts, Plan, SimFailure, Summary, run, run_many, shrink};

use crate::run::{SoakTime, is_soak, report, seed};

/// Seeds of a usual run.
const SEEDS: u64 = 200;
/// Seeds within which every kind of fault must have fired; the rarest does about once in fifty.
const SEEDS_MAX: u64 = 1_200;
/// The most runs for shrinking a failure.
const SHRINK_RUNS: u32 = 200;

/// Far from those of neighbouring seeds, so that no round of a soak repeats another.
fn first_seed() -> u64 {
    seed().wrapping_mul(1_000_000)
}

#[test]
fn every_seed_keeps_every_promise() {
    let (soak, started) = (SoakTime::shared_by(1), Instant::now());
    report(&format!("simulator: seeds from {}", first_seed()));
    let mut summary = run_many(first_seed(), None, |number| if is_soak() { !soak.is_up() } else { number < SEEDS });
    // Rare faults may not have fired yet: then more seeds.
    while !is_soak() && !summary.counts.missing().is_empty() && summary.failure.is_none() && summary.seeds < SEEDS_MAX {
        report(&format!("simulator: some more, for {:?}", summary.counts.missing()));
        let more = run_many(first_seed().wrapping_add(summary.seeds), None, |number| number < SEEDS / 4);
        summary.add(more);
    }
    let Summary { seeds, steps, simulated, counts, failure } = summary;
    let per_minute = seeds as f64 * 60.0 / started.elapsed().as_secs_f64();
    let days = simulated as f64 / 86_400e6;
    report(&format!(
        "simulator: {seeds} seeds, {per_minute:.0} a minute; {days:.1} simulated days, {steps} steps\n{counts}"
    ));
    if let Some(failure) = failure {
        panic!("{}", failure_text(&shrink(&failure, None, SHRINK_RUNS)));
    }
    // A soak may end before every kind of fault has fired.
    assert!(seeds < SEEDS || counts.missing().is_empty(), "these never happened: {:?}", counts.missing());
    assert!(Counts::kinds().count() > 75, "kinds of faults: {}", Counts::kinds().count());
}

/// One per line: the seed, and the promise that it once broke.
const FAILED_ONCE: &str = include_str!("failed_once.txt");

#[test]
fn seeds_that_failed_once_keep_every_promise_now() {
    for line in FAILED_ONCE.lines().filter(|line| !line.starts_with('#')) {
        let seed = line.split_whitespace().next().and_then(|seed| seed.parse().ok()).expect("a seed");
        if let Some(failure) = run(&Plan::draw(seed), None).failure {
            panic!("{}", failure_text(&failure));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_history_byte_for_byte() {
    for number in 0..if is_soak() { 1 } else { 4 } {
        let plan = Plan::draw(first_seed().wrapping_add(number));
        let (one, other) = (run(&plan, None), run(&plan, None));
        let differing = one.history.iter().zip(&other.history).find(|(one, other)| one != other);
        assert_eq!(differing, None, "seed {}", plan.seed);
        assert_eq!(
            (one.history.join("\n"), one.counts),
            (other.history.join("\n"), other.counts),
            "seed {}",
            plan.seed
        );
        assert_eq!((one.steps, one.simulated), (other.steps, other.simulated));
    }
}

#[test]
fn a_removed_step_does_not_change_the_draws_of_the_others() {
    let whole = Plan::draw(7);
    let some = whole.only(|step| step.number % 3 == 0 || step.number > 170);
    assert!(some.steps.iter().all(|step| whole.steps.contains(step)));
    assert!(some.numbers().starts_with("3,6,9,12,") && some.numbers().ends_with(",168,171-180"), "{}", some.numbers());
}

/// A failure as text.
pub fn failure_text(failure: &SimFailure) -> String {
    let SimFailure { plan, step, broken, history } = failure;
    let again = format!("cargo xtask sim --seed {} --only {} --history", plan.seed, plan.numbers());
    format!("{}\nseed {}, behind step {step}: {broken}\nrepeat with: {again}", history.join("\n"), plan.seed)
}
