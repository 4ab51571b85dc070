//! Random streams of all kinds of requests, compared with the model answer by answer.
//!
//! The store is given very little memory, so that accounts are evicted, keys are written out and runs are merged all
//! the time. After each step debits equal credits; now and then, and at the end, every account, hold, row and
//! announcement is compared; at the end the journal is audited.

mod counts;
mod real;

use bankroll_testkit::streams::Stream;

use crate::run::{SoakTime, is_soak, report, seed};
use counts::Counts;
use real::Real;

const STEPS: usize = 400;
const STREAMS: u64 = 6;

#[test]
fn random_streams_get_the_answers_of_the_model() {
    report(&format!("random streams: seed {}", seed()));
    let mut counts = Counts::default();
    let time = SoakTime::shared_by(1);
    let usual = time.rounds(STREAMS).map(|round| (round, false));
    // Some rejections are rare: where one is missing, a few streams more must lead to it.
    for (round, only_if_missing) in usual.chain((1_000..1_000 + STREAMS).map(|round| (round, true))) {
        if only_if_missing && (is_soak() || counts.missing().is_empty()) {
            break;
        }
        let seed = seed().wrapping_add(round);
        if let Err((step, what)) = run(seed, STEPS, &mut counts) {
            let steps = smallest_failing(seed, step);
            panic!("stream of seed {seed} fails at step {step}: {what}\nsmallest failing number of steps: {steps}");
        }
    }
    report(&format!("random streams: {counts}"));
    let missing = counts.missing();
    // A soak may end before so many requests were made.
    assert!(missing.is_empty() || (is_soak() && counts.requests < 20_000), "the streams never led to {missing:?}");
    assert!(counts.applied > 0 && counts.replayed > 0 && counts.decided_ahead > 0);
}

#[test]
fn random_streams_continue_after_the_books_have_moved_to_postgres() {
    let mut counts = Counts::default();
    for round in 0..2 {
        let seed = seed().wrapping_add(round);
        let mut real = Real::in_folder(seed);
        let mut stream = Stream::new(seed);
        for number in 1..=STEPS {
            if number == STEPS / 2 {
                real.move_to_postgres();
            }
            let fail = |what: String| panic!("stream of seed {seed} fails at step {number}: {what}");
            real.execute(stream.step(), &mut counts).unwrap_or_else(fail);
            if number % 50 == 0 || number == STEPS / 2 {
                real.compare(&stream).unwrap_or_else(fail);
            }
        }
        counts.audited += real.audit().unwrap();
    }
    report(&format!("random streams across a move to Postgres: {counts}"));
    assert!(counts.applied > 0 && counts.replayed > 0 && counts.restarts > 0);
}

/// The step that failed, and why.
type Failed = (usize, String);

fn run(seed: u64, steps: usize, counts: &mut Counts) -> Result<(), Failed> {
    let mut real = Real::open(seed);
    let mut stream = Stream::new(seed);
    for number in 1..=steps {
        let failed = |what| (number, what);
        let step = stream.step();
        real.execute(step, counts).map_err(failed)?;
        real.conserves().map_err(failed)?;
        if number % 25 == 0 || number == steps {
            real.compare(&stream).map_err(failed)?;
        }
    }
    counts.expired += stream.model.ended.values().filter(|hold| hold.state == "expired").count() as u64;
    counts.decided_ahead += real.decided_ahead();
    counts.audited += real.audit().map_err(|what| (steps, what))?;
    Ok(())
}

/// Bisects for the shortest stream that still fails when everything is compared at its end.
fn smallest_failing(seed: u64, failing: usize) -> usize {
    let (mut passes, mut fails) = (0, failing);
    while passes + 1 < fails {
        let middle = passes + (fails - passes) / 2;
        match run(seed, middle, &mut Counts::default()) {
            Ok(()) => passes = middle,
            Err((step, _)) => fails = step.min(middle),
        }
    }
    fails
}
