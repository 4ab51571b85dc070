//! `bankroll players sign-in`: as the player, with the key of a wallet.

use std::path::PathBuf;

use bankroll_terminal::{self as terminal, Paint};
use clap::Args;
use serde_json::json;

use crate::{
    funds_call::{connect, sign_in, text},
    location::LocationArgs,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll players sign-in --key player.key --dir casino
  bankroll players sign-in --key player.key --dir casino --token

The wallet signs a message of Sign-In with Ethereum (EIP-4361). From then on
payments from it are the player's; it cannot become another player's. Real
players sign in a browser; a key file is for tests and for play money. Who has
the token can read the player's accounts until it expires; a payout needs the
wallet's own signature.")]
pub struct PlayerSignInArgs {
    /// The key file of the wallet
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Print the token of the session, and nothing else
    #[arg(long)]
    token: bool,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &PlayerSignInArgs, json: bool) -> anyhow::Result<()> {
    let client = connect(&args.location, &args.key)?;
    let signed_in = sign_in(&client, &args.location.load()?.config.api);
    client.close();
    let (session, player) = signed_in?;
    let field = |field: &str| text(&session[field]);
    match () {
        () if json => terminal::answer_json(&json!({
            "player": player["player"], "session": session["session"], "expires_at": session["expires_at"],
            "token": args.token.then(|| session["token"].clone()),
        })),
        () if args.token => terminal::answer(&format!("{}\n", field("token"))),
        () => terminal::answer(&format!(
            "{} {}\n  payments from this wallet are theirs from now on\n  session {}, until {}; --token prints its \
             token\n",
            Paint::stdout().good("signed in as player"),
            text(&player["player"]),
            field("session"),
            field("expires_at"),
        )),
    }
}
