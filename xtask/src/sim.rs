//! Builds and starts the simulator of the testkit as a program: xtask does not depend on the product.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{program, seed};

#[derive(clap::Args)]
pub struct Options {
    /// The first seed; a new one if none is given.
    #[arg(long)]
    seed: Option<u64>,
    /// How many consecutive seeds.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Only these steps of the plan, as a failure prints them: 3,17-20.
    #[arg(long)]
    only: Option<String>,
    /// Print the history line by line; with one seed.
    #[arg(long)]
    history: bool,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let seed = seed::given_or_new(options.seed).to_string();
    println!("seed {seed}");
    let mut simulator =
        workspace.cargo(["run", "--release", "--locked", "-p", "bankroll-testkit", "--bin", "sim", "--"]);
    simulator.args(["--seed", &seed, "--runs", &options.runs.to_string()]);
    simulator.args(options.only.iter().flat_map(|only| ["--only", only]));
    simulator.args(options.history.then_some("--history"));
    program::succeed(&mut simulator)
}
