//! `bankroll players`: a game server opens a player's accounts, and a player proves a wallet.

mod open;
mod sign_in;

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
}

pub fn run(command: &PlayersCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        PlayersCommand::Open(args) => open::run(args, json)?,
        PlayersCommand::SignIn(args) => sign_in::run(args, json)?,
    }
    Ok(Exit::Ok)
}
