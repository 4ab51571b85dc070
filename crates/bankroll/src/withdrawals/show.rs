//! `bankroll withdrawals show`.

use bankroll_terminal::{self as terminal, Assets, NotFound, Paint};
use bankroll_withdrawals::views;
use clap::Args;
use serde_json::{Value, json};

use super::{PayoutDetails, payout_json};
use crate::location::LocationArgs;

/// Payouts that one value can name.
const FOUND_MAX: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll withdrawals show wd-2f6e...
  bankroll withdrawals show exit-0-2-000024278     the game server's own name for it
  bankroll withdrawals show 0x5f3a... --json       one of its transactions

`bankroll explain` also shows the records of the payout in the books.")]
pub struct WithdrawalShowArgs {
    /// The payout's id, the id of its request, or one of its transactions
    #[arg(value_name = "ID|TX")]
    what: String,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &WithdrawalShowArgs, json: bool) -> anyhow::Result<()> {
    let reader = args.location.reader()?;
    let found =
        if views::has_tables(&reader)? { views::find_payouts(&reader, &args.what, FOUND_MAX)? } else { Vec::new() };
    if found.is_empty() {
        let message = format!("there is no payout {}; `bankroll withdrawals list` shows all", args.what);
        return Err(NotFound(message).into());
    }
    let assets = Assets::new(reader.assets()?);
    let (mut all, mut text): (Vec<Value>, String) = (Vec::new(), String::new());
    for payout in found {
        let details = PayoutDetails::read(&reader, payout)?;
        if json {
            all.push(payout_json(&details, &assets));
        } else {
            text.push_str(&details.text(&assets, Paint::stdout())?);
        }
    }
    if json { terminal::answer_json(&json!({ "withdrawals": all })) } else { terminal::answer(&text) }
}
