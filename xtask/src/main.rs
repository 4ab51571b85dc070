//! The project's own commands, run as `cargo xtask <command>`.
//!
//! `check` is everything that can be judged without running the product, `test` is everything that runs it once,
//! `soak` runs the randomised suites for as long as it is given, `sim` the whole world from a seed. `.ci/run` is `check` and
//! then `test`.

mod check;
mod metadata;
mod needed_tools;
mod postgres;
mod program;
mod referees;
mod seed;
mod session;
mod sim;
mod soak;
mod stage;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The project's own commands")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Formatting, lints, documentation, dependency direction, file rules, licences.
    Check,
    /// Every test, then the session the README shows.
    Test(test::Options),
    /// The randomised suites, with new seeds, until the time is up.
    Soak(soak::Options),
    /// The whole world from a seed: chain, books, signer, players, and everything that can go wrong.
    Sim(sim::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = Workspace::of_this_run().and_then(|workspace| match arguments.command {
        Command::Check => check::run(&workspace),
        Command::Test(options) => test::run(&workspace, &options),
        Command::Soak(options) => soak::run(&workspace, &options),
        Command::Sim(options) => sim::run(&workspace, &options),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
