//! `bankroll-signer`: the signer as a program of its own.

use std::process::ExitCode;

use bankroll_signer::cli::{self, SignerCommand, SignerExitCode};
use clap::Parser;

/// Holds the keys of Bankroll, its own rules, and a memory of everything it has signed.
#[derive(Debug, Parser)]
#[command(name = "bankroll-signer", version, after_help = cli::EXAMPLES, arg_required_else_help = true)]
struct SignerCli {
    #[command(subcommand)]
    command: SignerCommand,
    /// Print JSON on standard output
    #[arg(long, global = true)]
    json: bool,
}

fn main() -> ExitCode {
    let SignerCli { command, json } = SignerCli::parse();
    let Err(error) = cli::run(&command, json) else { return ExitCode::SUCCESS };
    eprintln!("error: {error}");
    error.chain().skip(1).for_each(|cause| eprintln!("  because: {cause}"));
    let ending = error.chain().find_map(SignerExitCode::of).unwrap_or(SignerExitCode::Failed);
    ExitCode::from(ending as u8)
}
