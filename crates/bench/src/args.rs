//! `bankroll bench`: what can be measured, as the command line says it.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Options;

pub const EXAMPLES: &str = "\
Examples:
  bankroll bench ledger --quick           under 45 seconds
  bankroll bench ledger --json > a.json   the long one, for comparing
  bankroll bench ledger --quick --postgres postgres://bankroll@127.0.0.1:5432
  bankroll bench reading --quick          300,000 entries in one account; ten million without --quick
  bankroll bench poker                    what the proofs and the evaluation of a hand cost";

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Durable transfers a second and their latency, beside what the database alone does
    #[command(after_help = EXAMPLES)]
    Ledger(BenchArgs),
    /// What shuffling, proving, verifying and evaluating hands cost on one core
    #[command(after_help = EXAMPLES)]
    Poker(PokerBenchArgs),
    /// What it costs to read the past of one hot account, and what that costs the writer
    #[command(after_help = EXAMPLES)]
    Reading(ReadingArgs),
}

#[derive(Debug, Args)]
pub struct ReadingArgs {
    #[command(flatten)]
    bench: BenchArgs,
    /// How many entries the account has [default: 10,000,000, or 300,000 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10_000..=100_000_000))]
    entries: Option<u64>,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Shorter runs: under 45 seconds in all
    #[arg(long)]
    quick: bool,
    /// Measure nothing but what growth costs; with --postgres, there
    #[arg(long)]
    growth_only: bool,
    /// Measure Postgres books too, in databases made on this server and removed afterwards: postgres://user@host:port
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Where to put the books; a temporary folder below it is removed afterwards [default: .]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl BenchArgs {
    fn options(self, json: bool) -> Options {
        let Self { quick, growth_only, postgres, dir } = self;
        Options { quick, growth_only, postgres, json, dir }
    }
}

#[derive(Debug, Args)]
pub struct PokerBenchArgs {
    /// The best of three runs instead of fifty
    #[arg(long)]
    quick: bool,
}

/// Measures, and prints the report.
///
/// # Errors
/// If the books cannot be made, or are not sound afterwards.
pub fn run(command: BenchCommand, json: bool) -> anyhow::Result<()> {
    match command {
        BenchCommand::Ledger(args) => super::run_ledger(&args.options(json)),
        BenchCommand::Poker(args) => super::poker::run(args.quick, json),
        BenchCommand::Reading(args) => super::run_reading(&args.bench.options(json), args.entries),
    }
}
