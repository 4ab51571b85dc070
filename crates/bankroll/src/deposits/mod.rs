//! `bankroll deposits`: payments that were seen on chain, and what became of them; and what people decide about those
//! that wait. `list` and `show` only read the books; the others are clients of the Funds API.

mod decide;
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
  bankroll deposits list --dir casino --waiting
  bankroll deposits release eip155:1:0x5f3a...:native:0 --dir casino \\
    --reason \"the sender was checked\"

States, in the order of a deposit's life:
  seen       in a block, not deep enough yet
  final      deep enough; the books credit it next
  credited   booked for its player or the house
  suspense   booked, and belongs to no known player
  held       people must decide before it is credited
  refused    people refused it; or the books did not credit it, and say why
  orphaned   the chain dropped it before it was credited
  reversed   the chain dropped it, and the books took it back";

#[derive(Debug, Subcommand)]
pub enum DepositsCommand {
    /// List deposits, newest first
    List(list::DepositListArgs),
    /// Show one deposit: state, confirmations, sender, player
    Show(show::DepositShowArgs),
    /// Hold a deposit before it is credited, at once
    Hold(decide::DepositHoldArgs),
    /// Propose to let a held deposit through
    Release(decide::DepositReleaseArgs),
    /// Propose to believe a deposit that one RPC node alone vouches for
    Confirm(decide::DepositConfirmArgs),
    /// Propose that no player gets a deposit
    Refuse(decide::DepositRefuseArgs),
    /// Propose whose a deposit in suspense is
    Assign(decide::DepositAssignArgs),
}

pub fn run(command: &DepositsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        DepositsCommand::List(args) => list::run(args, json)?,
        DepositsCommand::Show(args) => show::run(args, json)?,
        DepositsCommand::Hold(args) => decide::hold(args, json)?,
        DepositsCommand::Release(args) => decide::release(args, json)?,
        DepositsCommand::Confirm(args) => decide::confirm(args, json)?,
        DepositsCommand::Refuse(args) => decide::refuse(args, json)?,
        DepositsCommand::Assign(args) => decide::assign(args, json)?,
    }
    Ok(Exit::Ok)
}

fn parse_stage(text: &str) -> Result<DepositStage, String> {
    let known = DepositStage::ALL.into_iter().find(|stage| stage.as_str() == text);
    known.ok_or_else(|| format!("the states are {}", DepositStage::ALL.map(DepositStage::as_str).join(", ")))
}
