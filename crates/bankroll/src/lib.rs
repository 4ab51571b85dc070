//! `bankroll`: the program. Each command is in the module of its name.
//!
//! A library, so that it is compiled while the crates it uses are still being optimised: a program waits for all of them.

mod accept_loss;
mod accounts;
mod alerts;
mod audit;
mod audit_log;
mod balance;
mod chain;
mod cli;
mod completions;
mod config;
mod database_users;
mod deposits;
mod doctor;
mod events;
mod exit;
mod explain;
mod export;
mod funds_call;
mod hand;
mod head;
mod help_layout;
mod init;
mod journal;
mod kept_head;
mod keys;
mod location;
mod migrate_books;
mod nodes;
mod operators;
mod players;
mod proposals;
mod rebuild;
mod receipt;
mod reconcile;
mod registry;
mod search;
mod secret_file;
mod serve;
mod servers;
mod signer;
mod stage_bar;
mod statement;
mod transfer;
mod wait;
mod wallet_name;
mod webhooks;
mod withdrawals;

use std::process::ExitCode;

use bankroll_bench as bench;
use bankroll_demo as demo;
use bankroll_terminal::{Exit, report, report_usage};

use cli::{Cli, Command};
use exit::exit_of;

/// Reads the arguments of this process and carries the command out.
#[must_use]
pub fn main() -> ExitCode {
    let exit = match Cli::read() {
        Ok(Cli { command, json }) => run(command, json).unwrap_or_else(|error| report(&error, json, exit_of)),
        Err(error) => report_usage(&error, std::env::args_os()),
    };
    ExitCode::from(exit as u8)
}

fn run(command: Command, json: bool) -> anyhow::Result<Exit> {
    match command {
        Command::Demo(args) => demo::run(&args, json),
        Command::Serve(args) => serve::run(&args, json),
        Command::Nodes(command) => nodes::run(&command, json),
        Command::Init(args) => init::run(&args, json),
        Command::MigrateBooks(args) => migrate_books::run(&args, json),
        Command::Rebuild(args) => rebuild::run(&args, json),
        Command::Registry(command) => registry::run(&command, json),
        Command::Alerts(command) => alerts::run(&command, json),
        Command::Servers(command) => servers::run(&command, json),
        Command::Players(command) => players::run(&command, json),
        Command::Operators(command) => operators::run(&command, json),
        Command::Proposals(command) => proposals::run(&command, json),
        Command::AuditLog(command) => audit_log::run(&command, json),
        Command::Accounts(command) => accounts::run(&command, json),
        Command::Balance(args) => balance::run(&args, json),
        Command::Statement(args) => statement::run(&args, json),
        Command::Deposits(command) => deposits::run(&command, json),
        Command::Withdrawals(command) => withdrawals::run(&command, json),
        Command::Transfer(args) => transfer::run(&args, json),
        Command::Events(command) => events::run(&command, json),
        Command::Webhooks(command) => webhooks::run(&command, json),
        Command::Search(args) => search::run(&args, json),
        Command::Explain(args) => explain::run(&args, json),
        Command::Export(args) => export::run(&args, json),
        Command::Receipt(args) => receipt::run(&args, json),
        Command::Head(args) => head::run(&args, json),
        Command::Audit(args) => audit::command(&args, json),
        Command::Reconcile(args) => reconcile::run(&args, json),
        Command::AcceptLoss(args) => accept_loss::run(&args, json),
        Command::Doctor(args) => doctor::run(&args, json),
        Command::Config(command) => config::run(&command, json),
        Command::Bench(command) => bench::run(command, json).map(|()| Exit::Ok),
        Command::Hand(command) => hand::run(&command, json),
        Command::Signer(command) => signer::run(&command, json),
        Command::Keys(command) => keys::run(&command, json),
        Command::Chain(args) => chain::run(&args, json),
        Command::Completions(args) => completions::run(&args, json),
    }
}
