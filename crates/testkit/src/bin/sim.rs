//! The simulator as a program: runs seeds, prints the results, and shrinks a failure. `cargo xtask sim` starts it.

use std::{collections::BTreeSet, process::ExitCode, time::Instant};

use bankroll_testkit::sim::{Plan, SimFailure, Summary, run, run_many, shrink};
use clap::Parser;

/// The most runs for shrinking a failure.
const SHRINK_RUNS: u32 = 400;

#[derive(Parser)]
#[command(name = "sim", about = "Runs the simulated system from seeds and checks its safety promises")]
struct Arguments {
    /// The first seed.
    #[arg(long)]
    seed: u64,
    /// How many consecutive seeds.
    #[arg(long, default_value_t = 1)]
    runs: u64,
    /// Only these steps of the plan: 3,17-20.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Print the history line by line; with one seed.
    #[arg(long)]
    history: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let started = Instant::now();
    let summary = match arguments.runs {
        1 => one(&arguments),
        runs => run_many(arguments.seed, None, |number| number < runs),
    };
    print_summary(&summary, started.elapsed().as_secs_f64());
    let Some(failure) = &summary.failure else { return ExitCode::SUCCESS };
    println!("seed {} breaks a promise; shrinking the plan ...", failure.plan.seed);
    print_failure(&shrink(failure, None, SHRINK_RUNS));
    ExitCode::FAILURE
}

fn one(arguments: &Arguments) -> Summary {
    let kept: BTreeSet<u32> = arguments.only.iter().flat_map(|range| numbers(range)).collect();
    let plan = Plan::draw(arguments.seed).only(|step| kept.is_empty() || kept.contains(&step.number));
    let outcome = run(&plan, None);
    if arguments.history {
        outcome.history.iter().for_each(|line| println!("{line}"));
    }
    let (steps, simulated) = (outcome.steps, outcome.simulated);
    Summary { seeds: 1, steps, simulated, counts: outcome.counts, failure: outcome.failure }
}

fn numbers(range: &str) -> impl Iterator<Item = u32> + use<> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    first.parse().unwrap_or(1)..=last.parse().unwrap_or(0)
}

fn print_summary(summary: &Summary, seconds: f64) {
    println!("{}", summary.counts);
    let days = summary.simulated as f64 / 86_400e6;
    let per_minute = summary.seeds as f64 * 60.0 / seconds.max(0.001);
    let Summary { seeds, steps, .. } = summary;
    println!("{seeds} seeds, {per_minute:.0} a minute; {days:.1} simulated days, {steps} steps");
}

fn print_failure(failure: &SimFailure) {
    let SimFailure { plan, step, broken, history } = failure;
    history.iter().for_each(|line| println!("{line}"));
    println!("\nbroken after step {step}: {broken}");
    println!("repeat with: cargo xtask sim --seed {} --only {} --history", plan.seed, plan.numbers());
}
