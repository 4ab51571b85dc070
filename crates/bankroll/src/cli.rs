//! The command line: the commands, with an example for each.

use bankroll_bench as bench;
use bankroll_demo as demo;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    accept_loss, accounts, alerts, audit, audit_log, balance, chain, completions, config, deposits, doctor, events,
    explain, export, hand, head, help_layout, init, keys, migrate_books, nodes, operators, players, proposals, rebuild,
    receipt, reconcile, registry, search, serve, servers, signer, statement, transfer, webhooks, withdrawals,
};

/// The exit codes of every command, for scripts.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed, or a check of `doctor` is red
  2  wrong arguments or configuration
  3  not found: no ledger, no such account, nothing found by search or explain
  4  the books are unsound: they diverge from the journal or from a wallet; or a hand, receipt or
     head does not verify

Examples:
  bankroll demo                      a game at full speed on play money, then the books recomputed
  bankroll serve --dir casino        a node that runs until it is stopped
  bankroll init --dir casino         a folder with a configuration and empty books
  bankroll accounts list --dir casino
  bankroll statement arena/world/1 --dir bankroll-demo
  bankroll explain 0x63fa... --dir casino
  bankroll audit --dir casino";

/// The back office of real-money games.
#[derive(Debug, Parser)]
#[command(name = "bankroll", version, after_help = EXIT_CODES, arg_required_else_help = true)]
#[command(max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Print JSON on standard output, and errors as JSON on standard error
    #[arg(long, global = true)]
    pub json: bool,
}

impl Cli {
    /// Reads the arguments of this process; every help is laid out.
    pub fn read() -> Result<Self, clap::Error> {
        let matches = with_negative_numbers(help_layout::laid_out(Self::command())).try_get_matches()?;
        Self::from_arg_matches(&matches)
    }
}

/// `--limit -5` is a wrong limit, not an unknown flag `-5`: the answer then names the range.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let takes_value = arg.get_action().takes_values();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    });
    command.mut_subcommands(with_negative_numbers)
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play a game on play money, at full speed, and prove that nothing was lost
    Demo(demo::DemoArgs),
    /// Run a node: hold the books or stand by, and serve requests of other roles
    Serve(serve::ServeArgs),
    /// Create the certificates by which nodes recognise each other
    #[command(subcommand, after_help = nodes::EXAMPLES)]
    Nodes(nodes::NodesCommand),
    /// Create a folder with a configuration and empty books
    Init(init::InitArgs),
    /// Move books from a folder to a Postgres database, and prove that they are the same
    MigrateBooks(migrate_books::MigrateBooksArgs),
    /// Make everything again that follows from the journal, after a page was damaged
    Rebuild(rebuild::RebuildArgs),
    /// Show and change the chains, assets, wallets and keys of a deployment
    #[command(subcommand, after_help = registry::EXAMPLES)]
    Registry(registry::RegistryCommand),
    /// Show, pause and register game servers, and open their sessions
    #[command(subcommand, after_help = servers::EXAMPLES)]
    Servers(servers::ServersCommand),
    /// Open accounts for players, sign in as one, show and freeze them
    #[command(subcommand, after_help = players::EXAMPLES)]
    Players(players::PlayersCommand),
    /// Show and change the people who run the deployment, and keys of programs
    #[command(subcommand, after_help = operators::EXAMPLES)]
    Operators(operators::OperatorsCommand),
    /// Propose and confirm acts that need several people
    #[command(subcommand, after_help = proposals::EXAMPLES)]
    Proposals(proposals::ProposalsCommand),
    /// List and verify what people did
    #[command(subcommand, after_help = audit_log::EXAMPLES)]
    AuditLog(audit_log::AuditLogCommand),
    /// Show accounts
    #[command(subcommand, after_help = accounts::EXAMPLES)]
    Accounts(accounts::AccountsCommand),
    /// Show the balance of an account, now or at a past time
    Balance(balance::BalanceArgs),
    /// List the entries of an account, each with the balance after it
    Statement(statement::StatementArgs),
    /// Show deposits: seen, final, credited, in suspense, reversed
    #[command(subcommand, after_help = deposits::EXAMPLES)]
    Deposits(deposits::DepositsCommand),
    /// Show payouts: waiting, sent, in a block, paid, failed
    #[command(subcommand, after_help = withdrawals::EXAMPLES)]
    Withdrawals(withdrawals::WithdrawalsCommand),
    /// Move money between two accounts of a game server, as that server
    Transfer(transfer::TransferArgs),
    /// Show events, as they happen or later, and have them delivered again
    #[command(subcommand, after_help = events::EXAMPLES)]
    Events(events::EventsCommand),
    /// Manage where events are delivered to, and receive them on this machine
    #[command(subcommand, after_help = webhooks::EXAMPLES)]
    Webhooks(webhooks::WebhooksCommand),
    /// Find records by key, wallet, transaction or another reference
    Search(search::SearchArgs),
    /// Tell the story of a wallet, a transaction, a deposit, a payout or a key
    Explain(explain::ExplainArgs),
    /// Write a statement or the whole journal to standard output
    Export(export::ExportArgs),
    /// Prove that a record is in the journal, and check such a proof offline
    Receipt(receipt::ReceiptArgs),
    /// Show a signed head of the journal, and check that it continues one you kept
    Head(head::HeadArgs),
    /// Recompute the books from the journal, and report the first difference
    Audit(audit::AuditArgs),
    /// Compare what each wallet holds on its chain with the books
    Reconcile(reconcile::ReconcileArgs),
    /// Let the books go on without lost records, and record who accepted that
    AcceptLoss(accept_loss::AcceptLossArgs),
    /// Check a folder, its chain and its signer, and say how to fix what is wrong
    Doctor(doctor::DoctorArgs),
    /// Show what a person must look at, acknowledge it and close it
    #[command(subcommand, after_help = alerts::EXAMPLES)]
    Alerts(alerts::AlertsCommand),
    /// Show or check the configuration
    #[command(subcommand, after_help = config::EXAMPLES)]
    Config(config::ConfigCommand),
    /// Run benchmarks
    #[command(subcommand, after_help = bench::EXAMPLES)]
    Bench(bench::BenchCommand),
    /// Play and check verifiable hands of poker
    #[command(subcommand, after_help = hand::EXAMPLES)]
    Hand(hand::HandCommand),
    /// Run the signer: it keeps the keys and signs payouts within its limits
    #[command(subcommand, after_help = bankroll_signer::cli::EXAMPLES)]
    Signer(signer::SignerCommand),
    /// Create seeds, public keys of accounts, and keys of game servers
    #[command(subcommand, after_help = keys::EXAMPLES)]
    Keys(keys::KeysCommand),
    /// Run a simulated chain for any Ethereum tool
    Chain(chain::ChainArgs),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
}
