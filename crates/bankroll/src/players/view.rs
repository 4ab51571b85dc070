//! `bankroll players show`, `freeze` and `unfreeze`: as a person who runs the deployment.

use bankroll_orders::Address;
use bankroll_terminal::{self as terminal, Paint};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    funds_call::{OwnerArgs, RetryArgs, ask, change, list, text},
    proposals::propose,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll players show --dir casino \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

The audit log notes that you looked. Who may not see players in full gets
redacted wallets: 0xf39f...2266.")]
pub struct PlayerShowArgs {
    /// A wallet of the player
    #[arg(value_name = "ADDRESS")]
    address: Address,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll players freeze --reason \"stolen wallet\" --dir casino \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

At once: the player cannot spawn and is not paid.")]
pub struct PlayerFreezeArgs {
    /// A wallet of the player
    #[arg(value_name = "ADDRESS")]
    address: Address,
    /// Why, for the people who decide on lifting it
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll players unfreeze --dir casino \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

A proposal, which others confirm (`bankroll proposals confirm`). Name the wallet
that was frozen.")]
pub struct PlayerUnfreezeArgs {
    /// The wallet that was frozen
    #[arg(value_name = "ADDRESS")]
    address: Address,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn show(args: &PlayerShowArgs, json: bool) -> anyhow::Result<()> {
    let player = ask(args.by.connect()?, &format!("/v1/players/{}", args.address.lower_hex()))?;
    if json { terminal::answer_json(&player) } else { terminal::answer(&sheet(&player)?) }
}

pub fn freeze(args: &PlayerFreezeArgs, json: bool) -> anyhow::Result<()> {
    let path = format!("/v1/players/{}/freeze", args.address.lower_hex());
    let body = json!({ "reason": args.reason });
    let answer = change(args.by.connect()?, "POST", &path, Some(&body), &args.retry)?;
    if json {
        return terminal::answer_json(&answer);
    }
    terminal::answer(&format!("{} {}\n", Paint::stdout().good("frozen"), text(&answer["player"])))
}

pub fn unfreeze(args: &PlayerUnfreezeArgs, json: bool) -> anyhow::Result<()> {
    let content = json!({ "kind": "unfreeze_player", "player": args.address.lower_hex() });
    propose(&args.by, &args.retry, &content, json)
}

fn sheet(player: &Value) -> anyhow::Result<String> {
    let wallets: Vec<String> = list(player, "wallets")?.iter().map(text).collect();
    let mut lines = format!("player   {}\nwallets  {}\n", text(&player["player"]), wallets.join(" "));
    for (title, field) in [("excluded until", "excluded_until"), ("frozen:", "frozen")] {
        lines += &player[field].as_str().map(|value| format!("{title} {value}\n")).unwrap_or_default();
    }
    for account in list(player, "accounts")? {
        let [name, balance, held] = ["account", "balance", "held"].map(|field| text(&account[field]));
        lines += &format!("account  {name}: {balance} ({held} held)\n");
    }
    Ok(lines)
}
