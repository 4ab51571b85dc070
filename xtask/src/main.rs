//! The project's own commands, run as `cargo xtask <command>`.
//!
//! `check` runs every check that does not run the product, `advisories` asks for known vulnerabilities, `test` runs every test once, `soak` runs the randomised
//! suites for a given time, `sim` runs the simulator from a seed. `.ci/run` is `check` and then `test`.

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
mod test_binaries;
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
    /// Known vulnerabilities of dependencies. Needs the network: before each release, not in every check.
    Advisories,
    /// Every test, then the session from the README.
    Test(test::Options),
    /// The randomised suites, with new seeds, for a given time.
    Soak(soak::Options),
    /// The simulator from a seed: chain, ledger, signer, players, and every kind of fault.
    Sim(sim::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = Workspace::of_this_run().and_then(|workspace| match arguments.command {
        Command::Check => check::run(&workspace),
        Command::Advisories => check::advisories(&workspace),
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
