//! `bankroll withdrawals`: requests payouts.

mod request;

use bankroll_terminal::Exit;
use clap::Subcommand;

pub const EXAMPLES: &str = "\
Examples:
  bankroll withdrawals request --player 0xf39f... --amount 0.009 --id leave-1";

#[derive(Debug, Subcommand)]
pub enum WithdrawalsCommand {
    /// Request a payout of a player's funds to their address
    Request(request::WithdrawalRequestArgs),
}

pub fn run(command: &WithdrawalsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        WithdrawalsCommand::Request(args) => request::run(args, json)?,
    }
    Ok(Exit::Ok)
}
