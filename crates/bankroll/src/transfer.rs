//! `bankroll transfer`: moves money between two accounts of a game server, as that server.

use std::path::PathBuf;

use bankroll_ledger::{AccountName, Amount, Name};
use bankroll_terminal::{self as terminal, Exit, Paint};
use clap::Args;
use serde_json::json;

use crate::{
    funds_call::{RetryArgs, change, connect_for, in_path, list, text},
    location::LocationArgs,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll transfer arena/world/1 arena/ecosystem/1 1500 --server arena \\
    --key arena.key --dir casino
  ... --id payout-of-round-7    the same id again moves nothing twice

The amount is in base units. A node may run meanwhile: the command asks it.")]
pub struct TransferArgs {
    /// The account that pays
    #[arg(value_name = "FROM")]
    from: AccountName,
    /// The account that receives
    #[arg(value_name = "TO")]
    to: AccountName,
    /// How much, in base units
    #[arg(value_name = "AMOUNT")]
    amount: Amount,
    /// The game server that both accounts belong to
    #[arg(long, value_name = "NAME")]
    server: Name,
    /// The key file of the server
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &TransferArgs, json: bool) -> anyhow::Result<Exit> {
    let body = json!({
        "from": args.from.to_string(), "to": args.to.to_string(), "amount": args.amount.to_string(),
    });
    let path = format!("/v1/servers/{}/transfer", in_path(args.server.as_str()));
    let client = connect_for(&args.location, &args.key, &args.server)?;
    let answer = change(client, "POST", &path, Some(&body), &args.retry)?;
    if json {
        terminal::answer_json(&answer)?;
        return Ok(Exit::Ok);
    }
    let mut lines = format!("{} {}\n", Paint::stdout().good("recorded"), text(&answer["record"]));
    for posting in list(&answer, "postings")? {
        let [from, to, amount] = ["from", "to", "amount"].map(|field| text(&posting[field]));
        let [left, now] = ["from_balance", "to_balance"].map(|field| text(&posting[field]));
        lines += &format!("  moved {amount}\n  from {from}, which has {left}\n  to   {to}, which has {now}\n");
    }
    terminal::answer(&lines)?;
    Ok(Exit::Ok)
}
