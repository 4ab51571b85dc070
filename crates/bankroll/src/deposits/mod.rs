//! `bankroll deposits`: payments that were seen on chain, and what became of them. Reads only; a writer may be running.

mod json;
mod list;
mod show;
mod text;

use bankroll_deposits::DepositStage;
use bankroll_terminal::Exit;
use clap::Subcommand;

pub use json::deposit_json;
pub use text::{coins, details, state_words};

pub const EXAMPLES: &str = "\
Examples:
  bankroll deposits list --dir casino --state seen
  bankroll deposits list --dir casino --player 0x63fa...
  bankroll deposits list --dir casino --player 0x63fa... --wait 60
  bankroll deposits show 0x5f3a... --dir casino

States, in the order of a deposit's life:
  seen       in a block, not deep enough yet
  final      deep enough; the books credit it next
  credited   booked for its player or the house
  suspense   booked, and belongs to no known player
  held       needs an operator before it is credited
  refused    the books did not credit it, and say why
  orphaned   the chain dropped it before it was credited
  reversed   the chain dropped it, and the books took it back";

#[derive(Debug, Subcommand)]
pub enum DepositsCommand {
    /// List deposits, newest first
    List(list::DepositListArgs),
    /// Show one deposit: state, confirmations, sender, player
    Show(show::DepositShowArgs),
}

pub fn run(command: &DepositsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        DepositsCommand::List(args) => list::run(args, json)?,
        DepositsCommand::Show(args) => show::run(args, json)?,
    }
    Ok(Exit::Ok)
}

fn parse_stage(text: &str) -> Result<DepositStage, String> {
    let known = DepositStage::ALL.into_iter().find(|stage| stage.as_str() == text);
    known.ok_or_else(|| format!("the states are {}", DepositStage::ALL.map(DepositStage::as_str).join(", ")))
}
