//! Findings of the security review, each carried out: the stories assert what is wrong today, by the finding's number.
//! The change that corrects a finding turns its story around.

mod lying_node;
mod nodes;
mod players;
mod reorgs;
mod restores;
mod rows;

use bankroll_withdrawals::{StepResult, WaitReason};

use crate::world::{SECOND, World};

/// Longer than any back-off of a job.
const ROUND: u64 = 1_000 * SECOND;

/// Steps, each followed by a block, a pause and a settlement. Returns what happened to jobs.
fn run(world: &mut World, rounds: usize) -> Vec<StepResult> {
    let mut results = Vec::new();
    for _ in 0..rounds {
        results.extend(world.step().into_iter().map(|(_, result)| result));
        world.mine(1);
        world.pass(ROUND);
        world.settle();
    }
    results
}

/// Whether a report reads as everyday progress, so that no operator looks.
fn is_routine(result: &StepResult) -> bool {
    matches!(
        result,
        StepResult::Reserved { .. }
            | StepResult::Prepared
            | StepResult::Signed { .. }
            | StepResult::Sent { .. }
            | StepResult::Waits(WaitReason::Time)
    )
}

fn pair(a: &str, b: &str) -> (String, String) {
    (a.to_owned(), b.to_owned())
}
