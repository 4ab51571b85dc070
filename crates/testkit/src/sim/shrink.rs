//! Shrinking a failure: steps are removed, by kind and by position, as long as the same promise is still broken.

use super::{Bug, Plan, SimFailure, StepKind, run};

/// Removes the steps that the failure does not need, in at most `runs` runs.
#[must_use]
pub fn shrink(failure: &SimFailure, bug: Option<Bug>, mut runs: u32) -> SimFailure {
    let mut smallest = failure.clone();
    let mut attempt = |plan: Plan, smallest: &mut SimFailure| {
        if runs == 0 || plan.steps.len() == smallest.plan.steps.len() {
            return false;
        }
        runs -= 1;
        let found = run(&plan, bug).failure.filter(|found| found.broken.promise == smallest.broken.promise);
        found.map(|found| *smallest = found).is_some()
    };
    // Steps after the detection do not matter, unless only the final checks detect it.
    let last = smallest.step;
    attempt(smallest.plan.only(|step| step.number <= last), &mut smallest);
    for kind in StepKind::ALL {
        attempt(smallest.plan.only(|step| step.kind != *kind), &mut smallest);
    }
    let mut length = smallest.plan.steps.len() / 2;
    while length > 0 {
        let mut place = 0;
        while place < smallest.plan.steps.len() {
            let gone: Vec<u32> = smallest.plan.steps.iter().skip(place).take(length).map(|step| step.number).collect();
            // After a removal the next steps have moved to this position.
            if !attempt(smallest.plan.only(|step| !gone.contains(&step.number)), &mut smallest) {
                place += length;
            }
        }
        length /= 2;
    }
    smallest
}
