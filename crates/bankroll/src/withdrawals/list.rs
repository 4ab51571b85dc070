//! `bankroll withdrawals list`.

use crate::wallet_name::wallet_name;
use bankroll_ledger::Name;
use bankroll_terminal::{self as terminal, Assets, NotFound, Paint, Width, table};
use bankroll_withdrawals::views::{self, PayoutFilter, PayoutStage, PayoutView};
use clap::Args;
use serde_json::{Value, json};

use super::{PayoutDetails, parse_stage, payout_json};
use crate::location::LocationArgs;

#[derive(Debug, Args)]
#[command(after_help = super::EXAMPLES)]
pub struct WithdrawalListArgs {
    /// Only payouts in this state
    #[arg(long, value_name = "STATE", value_parser = parse_stage)]
    state: Option<PayoutStage>,
    /// Only payouts of this player
    #[arg(long, value_name = "WALLET", value_parser = wallet_name)]
    player: Option<Name>,
    /// Show whole addresses and transactions
    #[arg(long)]
    wide: bool,
    /// Maximum number of payouts
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = terminal::whole::<u32>(1..=10_000, "the limit"))]
    limit: u32,
    /// Continue after this payout
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &WithdrawalListArgs, json: bool) -> anyhow::Result<()> {
    let reader = args.location.reader()?;
    let assets = Assets::new(reader.assets()?);
    let limit = args.limit as usize;
    let mut payouts = Vec::new();
    if views::has_tables(&reader)? {
        if let Some(id) = &args.after
            && !views::find_payouts(&reader, id, 2)?.iter().any(|payout| payout.intent.0.as_str() == id)
        {
            return Err(NotFound(format!("--after {id}: there is no such payout; leave --after out")).into());
        }
        let filter = PayoutFilter {
            stage: args.state,
            server: None,
            players: args.player.iter().cloned().collect(),
            after: args.after.clone(),
        };
        // One more than requested, to know whether there are more.
        payouts = views::list_payouts(&reader, &filter, limit + 1)?;
    }
    let more = payouts.len() > limit;
    payouts.truncate(limit);
    let next = payouts.last().filter(|_| more).map(|payout| payout.intent.to_string());
    if json {
        let mut all: Vec<Value> = Vec::new();
        for payout in payouts {
            all.push(payout_json(&PayoutDetails::read(&reader, payout)?, &assets));
        }
        return terminal::answer_json(&json!({ "withdrawals": all, "next_after": next }));
    }
    terminal::answer(&text(&payouts, &assets, next, Width::of_flag(args.wide)))
}

fn text(payouts: &[PayoutView], assets: &Assets, next: Option<String>, width: Width) -> String {
    if payouts.is_empty() {
        return "no payouts match".into();
    }
    let header = ["ID", "STATE", "AMOUNT", "TO", "NONCE", "BLOCK", "TRANSACTION"];
    let columns = if width.is_wide() { 7 } else { 5 };
    let mut table = table(&header[..columns], &[2, 4, 5]);
    let mut waiting = Vec::new();
    for payout in payouts {
        let job = payout.job.as_ref();
        let hash = payout.final_tx_hash.as_deref().or_else(|| job.and_then(|job| job.tx_hash.as_deref()));
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let row = [
            payout.intent.to_string(),
            stage_word(payout.stage, width).to_owned(),
            assets.with_symbol(payout.asset, payout.amount),
            width.fit(&payout.to.to_string()),
            number(job.and_then(|job| job.nonce)),
            number(job.and_then(|job| job.block.as_ref()).map(|block| block.number)),
            hash.unwrap_or("-").to_owned(),
        ];
        table.add_row(&row[..columns]);
        if payout.stage == PayoutStage::Waiting
            && let Some(why) = job.and_then(|job| job.waits.as_deref())
            && !waiting.contains(&why)
        {
            waiting.push(why);
        }
    }
    let waiting: String = waiting.iter().map(|why| format!("\nwaiting: {why}")).collect();
    let hint = next.map(|id| Paint::stdout().quiet(&format!("\nmore: --after {id}")));
    format!("{}{waiting}{}", table.trim_fmt(), hint.unwrap_or_default())
}

/// The state, short enough for a line of the table.
fn stage_word(stage: PayoutStage, width: Width) -> &'static str {
    match stage {
        PayoutStage::AwaitingApproval if !width.is_wide() => "to approve",
        stage => stage.as_str(),
    }
}
