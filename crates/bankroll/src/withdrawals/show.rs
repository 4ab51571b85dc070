//! `bankroll withdrawals show`.

use bankroll_store::Reader;
use bankroll_terminal::{self as terminal, Assets, NotFound, Paint};
use bankroll_withdrawals::views::{self, PayoutView};
use clap::Args;
use serde_json::{Value, json};

use super::{PayoutDetails, payout_json};
use crate::{location::LocationArgs, wait::WaitArgs};

/// Payouts that one value can name.
const FOUND_MAX: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll withdrawals show wd-2f6e...
  bankroll withdrawals show exit-0-2-000024278     the game server's own name for it
  bankroll withdrawals show 0x5f3a... --json       one of its transactions
  bankroll withdrawals show leave-1 --wait 60      until it is paid or failed

`bankroll explain` also shows the records of the payout in the books.")]
pub struct WithdrawalShowArgs {
    /// The payout's id, the id of its request, or one of its transactions
    #[arg(value_name = "ID|TX")]
    what: String,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &WithdrawalShowArgs, json: bool) -> anyhow::Result<()> {
    let reader = args.location.reader()?;
    let (found, at_rest) =
        args.wait.read(|| payouts(args, &reader), |found| found.iter().all(|payout| payout.stage.is_final()))?;
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
    if json {
        terminal::answer_json(&json!({ "withdrawals": all }))?
    } else {
        terminal::answer(&text)?
    }
    args.wait.verdict(at_rest)
}

fn payouts(args: &WithdrawalShowArgs, reader: &Reader) -> anyhow::Result<Vec<PayoutView>> {
    Ok(if views::has_tables(reader)? { views::find_payouts(reader, &args.what, FOUND_MAX)? } else { Vec::new() })
}
