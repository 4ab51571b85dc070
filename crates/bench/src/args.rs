//! The command line of `bankroll bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    BenchOptions,
    deposits::{self, DepositsBench},
};

pub const EXAMPLES: &str = "\
Examples:
  bankroll bench ledger --quick
  bankroll bench http --quick
  bankroll bench events --quick
  bankroll bench deposits --quick
  bankroll bench reading --quick
  bankroll bench poker --quick";

const LEDGER_EXAMPLES: &str = "\
Examples:
  bankroll bench ledger --quick           under 45 seconds
  bankroll bench ledger --json > a.json   the long one, for comparing
  bankroll bench ledger --quick --postgres postgres://bankroll@127.0.0.1:5432";

const READING_EXAMPLES: &str = "\
Examples:
  bankroll bench reading --quick              300,000 entries in one account
  bankroll bench reading                      ten million
  bankroll bench reading --entries 1000000 --json";

const HTTP_EXAMPLES: &str = "\
Examples:
  bankroll bench http --quick           under 20 seconds
  bankroll bench http --json > a.json   the long one, for comparing";

const EVENTS_EXAMPLES: &str = "\
Examples:
  bankroll bench events --quick           under 20 seconds
  bankroll bench events --json > a.json   the long one, for comparing";

const DEPOSITS_EXAMPLES: &str = "\
Examples:
  bankroll bench deposits --quick           1,000 blocks
  bankroll bench deposits --json > a.json   5,000 blocks, for comparing
  bankroll bench deposits --blocks 20000";

const POKER_EXAMPLES: &str = "\
Examples:
  bankroll bench poker            the best of fifty runs
  bankroll bench poker --quick    the best of three
  bankroll bench poker --json";

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Durable transfers per second and their latency, compared with the database alone
    #[command(after_help = LEDGER_EXAMPLES)]
    Ledger(BenchArgs),
    /// Durable transfers per second over HTTP, compared with the ledger alone
    #[command(after_help = HTTP_EXAMPLES)]
    Http(HttpBenchArgs),
    /// Durable transfers per second with and without slow consumers of events
    #[command(after_help = EVENTS_EXAMPLES)]
    Events(HttpBenchArgs),
    /// Blocks read per second, and the time from a new block to the row of its deposit
    #[command(after_help = DEPOSITS_EXAMPLES)]
    Deposits(DepositsBenchArgs),
    /// One measurement of `bench deposits`, in a process of its own
    #[command(hide = true)]
    DepositsCell,
    /// Cost of shuffling, proving, verifying and evaluating hands on one core
    #[command(after_help = POKER_EXAMPLES)]
    Poker(PokerBenchArgs),
    /// Cost of reading the history of one hot account, also for the writer
    #[command(after_help = READING_EXAMPLES)]
    Reading(ReadingArgs),
}

#[derive(Debug, Args)]
pub struct ReadingArgs {
    #[command(flatten)]
    bench: BenchArgs,
    /// Number of entries in the account [default: 10,000,000, or 300,000 with --quick]
    #[arg(
        long, value_name = "N",
        value_parser = bankroll_terminal::whole::<u64>(10_000..=100_000_000, "the number of entries")
    )]
    entries: Option<u64>,
}

#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Shorter runs: under 45 seconds in all
    #[arg(long)]
    quick: bool,
    /// Measure only the effect of growth; with --postgres, on that server
    #[arg(long)]
    growth_only: bool,
    /// Also measure on this Postgres server, in databases that are removed afterwards: postgres://user@host:port
    #[arg(long, value_name = "URL")]
    postgres: Option<String>,
    /// Where to create the temporary folder for the books, which is removed afterwards [default: .]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl BenchArgs {
    fn options(self, json: bool) -> BenchOptions {
        let Self { quick, growth_only, postgres, dir } = self;
        BenchOptions { quick, growth_only, postgres, json, dir }
    }
}

#[derive(Debug, Args)]
pub struct HttpBenchArgs {
    /// Shorter runs: under 20 seconds in all
    #[arg(long)]
    quick: bool,
    /// Where to create the temporary folder for the books, which is removed afterwards [default: .]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl HttpBenchArgs {
    fn options(self, json: bool) -> BenchOptions {
        let Self { quick, dir } = self;
        BenchOptions { quick, growth_only: false, postgres: None, json, dir }
    }
}

#[derive(Debug, Args)]
pub struct DepositsBenchArgs {
    /// 1,000 blocks instead of 5,000
    #[arg(long)]
    quick: bool,
    /// Number of blocks [default: 5,000, or 1,000 with --quick]
    #[arg(
        long, value_name = "N",
        value_parser = bankroll_terminal::whole::<u64>(10..=100_000, "the number of blocks")
    )]
    blocks: Option<u64>,
    /// Where to create the temporary folder for the books, which is removed afterwards [default: .]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Where to keep the file with the blocks, for the next run [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
}

impl DepositsBenchArgs {
    fn parts(self, json: bool) -> (DepositsBench, BenchOptions) {
        let Self { quick, blocks, dir, replay } = self;
        let blocks = blocks.unwrap_or(if quick { 1_000 } else { 5_000 });
        let bench = DepositsBench { blocks, replay: replay.unwrap_or_else(std::env::temp_dir) };
        (bench, HttpBenchArgs { quick, dir }.options(json))
    }
}

#[derive(Debug, Args)]
pub struct PokerBenchArgs {
    /// The best of three runs instead of fifty
    #[arg(long)]
    quick: bool,
}

/// Runs a benchmark and prints its report.
///
/// # Errors
/// If the books cannot be created, or are not sound afterwards.
pub fn run(command: BenchCommand, json: bool) -> anyhow::Result<()> {
    match command {
        BenchCommand::Ledger(args) => super::run_ledger(&args.options(json)),
        BenchCommand::Http(args) => super::run_http(&args.options(json)),
        BenchCommand::Events(args) => super::run_events(&args.options(json)),
        BenchCommand::Deposits(args) => {
            let (bench, options) = args.parts(json);
            super::run_deposits(&bench, &options)
        }
        BenchCommand::DepositsCell => deposits::run_cell(),
        BenchCommand::Poker(args) => super::poker::run(args.quick, json),
        BenchCommand::Reading(args) => super::run_reading(&args.bench.options(json), args.entries),
    }
}
