//! `bankroll withdrawals`: requests payouts, and shows how far each is. A node may be running.

mod json;
mod list;
mod request;
mod show;
mod text;

use bankroll_terminal::Exit;
use bankroll_withdrawals::views::PayoutStage;
use clap::Subcommand;

pub use json::payout_json;
pub use text::{PayoutDetails, state_words};

pub const EXAMPLES: &str = "\
Examples:
  bankroll withdrawals request --key player.key --dir casino \\
    --id leave-1 --amount 0.009 --max-fee 0.001
  bankroll withdrawals list --dir casino --state waiting
  bankroll withdrawals list --dir casino --player 0x63fa...
  bankroll withdrawals show wd-2f6e... --dir casino

States, in the order of a payout's life:
  awaiting_approval  an operator must approve it
  waiting            approved; it has no nonce yet, and says why if it cannot go on
  signing            it has a nonce, and the signer is asked
  sent               signed, and sent until a block has it
  mined              in a block, not deep enough yet
  settling           proven on the chain; the books settle it next
  unknown            its nonce is used by an unknown transaction: needs an operator
  paid               done
  failed             not paid; the money was released";

#[derive(Debug, Subcommand)]
pub enum WithdrawalsCommand {
    /// Request a payout of a player's own funds, signed by their wallet
    Request(request::WithdrawalRequestArgs),
    /// List payouts, newest first
    List(list::WithdrawalListArgs),
    /// Show one payout: state, destination, nonce, attempts, why it waits
    Show(show::WithdrawalShowArgs),
}

pub fn run(command: &WithdrawalsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        WithdrawalsCommand::Request(args) => request::run(args, json)?,
        WithdrawalsCommand::List(args) => list::run(args, json)?,
        WithdrawalsCommand::Show(args) => show::run(args, json)?,
    }
    Ok(Exit::Ok)
}

fn parse_stage(text: &str) -> Result<PayoutStage, String> {
    let known = PayoutStage::ALL.into_iter().find(|stage| stage.as_str() == text);
    known.ok_or_else(|| format!("the states are {}", PayoutStage::ALL.map(PayoutStage::as_str).join(", ")))
}
