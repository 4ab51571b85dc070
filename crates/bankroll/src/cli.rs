//! The command line: what there is to say, with an example for each command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::{accounts, completions, config, demo, doctor, hand, init};

/// What every command ends with, for scripts.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed, or a check of `doctor` is red
  2  wrong arguments or configuration
  3  not found: no ledger, no such account
  4  the books are unsound: they diverge from the journal; or a hand does not verify

Examples:
  bankroll demo                      a game at full speed on play money, then the books recomputed
  bankroll init --dir casino         a folder with a configuration and empty books
  bankroll accounts list --dir casino
  bankroll doctor --dir casino --full";

/// The back office of real-money games.
#[derive(Debug, Parser)]
#[command(name = "bankroll", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Print JSON on standard output, and errors as JSON on standard error
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play a game on play money, at full speed, and prove that nothing was lost
    Demo(demo::DemoArgs),
    /// Make a folder with a configuration and empty books
    Init(init::InitArgs),
    /// Look at accounts
    #[command(subcommand, after_help = accounts::EXAMPLES)]
    Accounts(accounts::AccountsCommand),
    /// Say what is wrong with a folder, and how to mend it
    Doctor(doctor::DoctorArgs),
    /// Look at the configuration
    #[command(subcommand, after_help = config::EXAMPLES)]
    Config(config::ConfigCommand),
    /// Measure
    #[command(subcommand, after_help = BENCH_EXAMPLES)]
    Bench(BenchCommand),
    /// Play hands of poker that anybody can check, and check them
    #[command(subcommand, after_help = hand::EXAMPLES)]
    Hand(hand::HandCommand),
    /// Print the completions of a shell
    Completions(completions::CompletionsArgs),
}

const BENCH_EXAMPLES: &str = "\
Examples:
  bankroll bench ledger --quick           under 45 seconds
  bankroll bench ledger --json > a.json   the long one, for comparing
  bankroll bench poker                    what the proofs and the evaluation of a hand cost";

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Durable transfers a second and their latency, beside what the database alone does
    #[command(after_help = BENCH_EXAMPLES)]
    Ledger(BenchArgs),
    /// What shuffling, proving, verifying and evaluating hands cost on one core
    #[command(after_help = BENCH_EXAMPLES)]
    Poker(PokerBenchArgs),
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Shorter runs: under 45 seconds in all
    #[arg(long)]
    pub quick: bool,
    /// Where to put the books; a temporary folder below it is removed afterwards [default: .]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct PokerBenchArgs {
    /// The best of three runs instead of fifty
    #[arg(long)]
    pub quick: bool,
}
