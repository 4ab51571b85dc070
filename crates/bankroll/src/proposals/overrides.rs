//! Proposals about money: the ledger carries them out as an override of its rules.

use bankroll_ledger::{AccountName, Amount};
use clap::Args;
use serde_json::json;

use super::propose;
use crate::funds_call::{OwnerArgs, RetryArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll proposals create reverse --record rec_1204 \\
    --reason \"booked twice\" --dir casino

What was spent meanwhile becomes its owner's debt.")]
pub struct ReverseArgs {
    /// The record: rec_ and its number
    #[arg(long, value_name = "RECORD", value_parser = record)]
    record: String,
    /// Why, for the people who confirm
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "bankroll proposals create transfer --from <ACCOUNT> --to <ACCOUNT>\n        --amount <UNITS> --reason <TEXT> [OPTIONS]"
)]
#[command(after_help = "\
Examples:
  bankroll proposals create transfer --dir casino --reason \"goodwill\" \\
    --from @house/house/1 --amount 500 \\
    --to arena/funds/1/0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")]
pub struct TransferProposalArgs {
    /// The account that pays
    #[arg(long, value_name = "ACCOUNT")]
    from: AccountName,
    /// The account that gets it
    #[arg(long, value_name = "ACCOUNT")]
    to: AccountName,
    /// How much, in base units
    #[arg(long, value_name = "UNITS")]
    amount: Amount,
    /// Why, for the people who confirm
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn reverse(args: &ReverseArgs, json: bool) -> anyhow::Result<()> {
    let content = json!({ "kind": "reverse", "record": args.record, "reason": args.reason });
    propose(&args.by, &args.retry, &content, json)
}

pub fn transfer(args: &TransferProposalArgs, json: bool) -> anyhow::Result<()> {
    let (from, to) = (args.from.to_string(), args.to.to_string());
    let amount = args.amount.to_string();
    let content = json!({ "kind": "transfer", "from": from, "to": to, "amount": amount, "reason": args.reason });
    propose(&args.by, &args.retry, &content, json)
}

fn record(text: &str) -> Result<String, String> {
    let number = text.strip_prefix("rec_").and_then(|digits| digits.parse::<u64>().ok());
    let is_one = number.is_some_and(|number| text == format!("rec_{number}"));
    if is_one { Ok(text.to_owned()) } else { Err("a record is written rec_1204".to_owned()) }
}
