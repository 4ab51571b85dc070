//! `bankroll balance`: an account's balance, now or at a past time.

use bankroll_ledger::Time;
use bankroll_terminal::{self as terminal, Assets, Exit, Paint, base_units, when};
use clap::Args;
use serde_json::json;

use crate::{
    accounts::{account_json, find},
    location::LocationArgs,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll balance arena/world/1 --dir bankroll-demo
  bankroll balance arena/funds/1/0x63fa... --at 2026-11-15T08:30:00Z
  bankroll balance 3 --at 2026-11-15 --json

A balance at a time is the balance after the last commit at or before it. A TIME
is 2026-11-15T08:30:00Z, a date (its first moment, UTC), or a number since 1970:
10 digits are seconds, 13 milliseconds, 16 microseconds.")]
pub struct BalanceArgs {
    /// The account's number or name
    #[arg(value_name = "ACCOUNT")]
    account: String,
    /// At this time, instead of now
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    at: Option<Time>,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &BalanceArgs, json: bool) -> anyhow::Result<Exit> {
    let reader = args.location.reader()?;
    let assets = Assets::new(reader.assets()?);
    let mut account = find(&reader, &args.account)?;
    let at = args.at.unwrap_or(Time(u64::MAX));
    let standing = reader.balance_at(account.id, at)?;
    (account.balance, account.held) = (standing.balance, standing.held);
    let as_of = args.at.map(when::show);
    if json {
        let mut value = account_json(&account, &assets);
        value["at"] = json!(as_of);
        value["last_record"] = json!(standing.seq);
        terminal::answer_json(&value)?;
        return Ok(Exit::Ok);
    }
    let amount = |amount| format!("{}  ({})", assets.with_symbol(account.name.asset, amount), base_units(amount));
    let paint = Paint::stdout();
    let changed = standing.seq.map_or_else(|| "no changes yet".into(), |seq| format!("record {seq}"));
    terminal::answer(&format!(
        "{} {}\n  balance      {}\n  held         {}\n  available    {}\n  last change  {changed}\n",
        paint.strong(&account.name.to_string()),
        as_of.map_or_else(|| "now".into(), |at| format!("at {at}")),
        amount(account.balance),
        amount(account.held),
        amount(account.available()),
    ))?;
    Ok(Exit::Ok)
}
