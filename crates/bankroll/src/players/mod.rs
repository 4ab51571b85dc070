//! `bankroll players`: a game server opens a player's accounts, a player proves a wallet, an operator looks and freezes.

mod open;
mod sign_in;
mod view;

use bankroll_terminal::Exit;
use clap::Subcommand;

pub const EXAMPLES: &str = "\
Examples:
  bankroll players open 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 \\
    --key arena.key --dir casino
  bankroll players sign-in --key player.key --dir casino";

#[derive(Debug, Subcommand)]
pub enum PlayersCommand {
    /// Open a player's accounts at a game server, and say what they pay and where
    Open(open::PlayerOpenArgs),
    /// Sign in with a wallet: from then on its payments are the player's
    SignIn(sign_in::PlayerSignInArgs),
    /// Show a player, as an operator; the audit log notes it
    Show(view::PlayerShowArgs),
    /// Freeze a player at once: no spawn and no payout
    Freeze(view::PlayerFreezeArgs),
    /// Propose to lift the freeze of a player
    Unfreeze(view::PlayerUnfreezeArgs),
}

pub fn run(command: &PlayersCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        PlayersCommand::Open(args) => open::run(args, json)?,
        PlayersCommand::SignIn(args) => sign_in::run(args, json)?,
        PlayersCommand::Show(args) => view::show(args, json)?,
        PlayersCommand::Freeze(args) => view::freeze(args, json)?,
        PlayersCommand::Unfreeze(args) => view::unfreeze(args, json)?,
    }
    Ok(Exit::Ok)
}
