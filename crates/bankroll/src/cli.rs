//! The command line: what there is to say, with an example for each command.

use bankroll_bench as bench;
use bankroll_demo as demo;
use clap::{Parser, Subcommand};

use crate::{
    accounts, audit, balance, chain, completions, config, doctor, explain, export, hand, init, migrate_books, nodes,
    receipt, search, serve, statement,
};

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
  bankroll serve --dir casino        a node that runs until it is told to stop
  bankroll init --dir casino         a folder with a configuration and empty books
  bankroll accounts list --dir casino
  bankroll statement arena/world/1 --dir bankroll-demo
  bankroll explain 0xab12 --dir casino
  bankroll audit --dir casino";

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
    /// Run a node: hold the books or stand by, take in what other roles hand over
    Serve(serve::ServeArgs),
    /// Make certificates, by which nodes know each other
    #[command(subcommand, after_help = nodes::EXAMPLES)]
    Nodes(nodes::NodesCommand),
    /// Make a folder with a configuration and empty books
    Init(init::InitArgs),
    /// Move books from a folder to a Postgres database, and prove them the same there
    MigrateBooks(migrate_books::MigrateBooksArgs),
    /// Look at accounts
    #[command(subcommand, after_help = accounts::EXAMPLES)]
    Accounts(accounts::AccountsCommand),
    /// Where an account stands, or stood at a time
    Balance(balance::BalanceArgs),
    /// Line by line, how an account got where it stands
    Statement(statement::StatementArgs),
    /// Find records by key, wallet, transaction or another reference
    Search(search::SearchArgs),
    /// One timeline of all that happened to a key, a wallet or a transaction
    Explain(explain::ExplainArgs),
    /// Write a statement or the whole journal to standard output
    Export(export::ExportArgs),
    /// Proof that a record is in the journal, and its check without any books
    Receipt(receipt::ReceiptArgs),
    /// Compute the books again from the journal, and name the first difference
    Audit(audit::AuditArgs),
    /// Say what is wrong with a folder, and how to mend it
    Doctor(doctor::DoctorArgs),
    /// Look at the configuration
    #[command(subcommand, after_help = config::EXAMPLES)]
    Config(config::ConfigCommand),
    /// Measure
    #[command(subcommand, after_help = bench::EXAMPLES)]
    Bench(bench::BenchCommand),
    /// Play hands of poker that anybody can check, and check them
    #[command(subcommand, after_help = hand::EXAMPLES)]
    Hand(hand::HandCommand),
    /// Keep keys, and sign payouts by rules and a memory of their own
    #[command(subcommand, after_help = bankroll_signer::cli::EXAMPLES)]
    Signer(bankroll_signer::cli::SignerCommand),
    /// Run a simulated chain that any tool for Ethereum can talk to
    Chain(chain::ChainArgs),
    /// Print the completions of a shell
    Completions(completions::CompletionsArgs),
}
