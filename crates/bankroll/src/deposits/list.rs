//! `bankroll deposits list`.

use crate::wallet_name::wallet_name;
use bankroll_deposits::{
    DepositStage,
    view::{self, DepositFilter, DepositView},
};
use bankroll_ledger::Name;
use bankroll_store::Reader;
use bankroll_terminal::{self as terminal, Assets, NotFound, Paint, Width, table, when};
use clap::Args;
use serde_json::{Value, json};

use super::{coins, deposit_json, parse_stage};
use crate::{location::LocationArgs, wait::WaitArgs};

#[derive(Debug, Args)]
#[command(after_help = super::EXAMPLES)]
pub struct DepositListArgs {
    /// Only deposits in this state
    #[arg(long, value_name = "STATE", value_parser = parse_stage)]
    state: Option<DepositStage>,
    /// Only deposits about which people must decide: held, or in suspense
    #[arg(long, conflicts_with = "state")]
    waiting: bool,
    /// Only deposits credited to this player or sent by this wallet
    #[arg(long, value_name = "WALLET", value_parser = wallet_name)]
    player: Option<Name>,
    /// Show whole hashes and addresses
    #[arg(long)]
    wide: bool,
    /// Maximum number of deposits
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = terminal::whole::<u32>(1..=10_000, "the limit"))]
    limit: u32,
    /// Continue after the deposit of this transaction
    #[arg(long, value_name = "HASH")]
    after: Option<String>,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(args: &DepositListArgs, json: bool) -> anyhow::Result<()> {
    let reader = args.location.reader()?;
    let assets = Assets::new(reader.assets()?);
    let limit = args.limit as usize;
    // With --wait: until a payment is there, and each has been booked or dropped.
    let (mut deposits, at_rest) = args.wait.read(
        || deposits(args, &reader, limit),
        |found| !found.is_empty() && found.iter().all(|deposit| !deposit.stage.is_on_its_way()),
    )?;
    let more = deposits.len() > limit;
    deposits.truncate(limit);
    let next = deposits.last().filter(|_| more).map(|deposit| deposit.tx_hash.clone());
    if json {
        let all: Vec<Value> = deposits.iter().map(|deposit| deposit_json(deposit, &assets)).collect();
        terminal::answer_json(&json!({ "deposits": all, "next_after": next }))?;
    } else {
        terminal::answer(&text(&deposits, &assets, next, Width::of_flag(args.wide)))?;
    }
    args.wait.verdict(at_rest)
}

/// One more than requested, to know whether there are more.
fn deposits(args: &DepositListArgs, reader: &Reader, limit: usize) -> anyhow::Result<Vec<DepositView>> {
    if !view::has_tables(reader)? {
        return Ok(Vec::new());
    }
    let after = args.after.as_deref().map(|hash| place_of(reader, hash)).transpose()?;
    let filter =
        DepositFilter { stage: args.state, waiting: args.waiting, server: None, wallet: args.player.clone(), after };
    Ok(view::list(reader, &filter, limit + 1)?)
}

/// The transaction after which the list goes on.
fn place_of(reader: &Reader, id_or_hash: &str) -> anyhow::Result<String> {
    let found = view::find(reader, id_or_hash)?.pop().map(|deposit| deposit.tx_hash);
    let missing = || NotFound(format!("--after {id_or_hash}: there is no such deposit; leave --after out"));
    Ok(found.ok_or_else(missing)?)
}

fn text(deposits: &[DepositView], assets: &Assets, next: Option<String>, width: Width) -> String {
    if deposits.is_empty() {
        return "no deposits match".into();
    }
    let header = ["SEEN (UTC)", "STATE", "AMOUNT", "FROM", "PLAYER", "TRANSACTION", "BLOCK"];
    let columns = if width.is_wide() { 7 } else { 6 };
    let mut table = table(&header[..columns], &[2, 6]);
    for deposit in deposits {
        let state = match deposit.stage {
            DepositStage::Seen => format!("seen {}/{}", deposit.confirmations.min(deposit.required), deposit.required),
            stage => stage.as_str().to_owned(),
        };
        // Most players pay from the wallet that they are known by.
        let player = match &deposit.wallet {
            Some(wallet) if *wallet == deposit.from && !width.is_wide() => "the sender".to_owned(),
            Some(wallet) => width.fit_to(wallet, 13),
            None => "-".to_owned(),
        };
        let row = [
            when::seconds(deposit.first_seen_at),
            state,
            coins(&deposit.amount, deposit.asset, assets),
            width.fit(&deposit.from),
            player,
            width.fit(&deposit.tx_hash),
            deposit.block.to_string(),
        ];
        table.add_row(&row[..columns]);
    }
    let hint = next.map(|hash| Paint::stdout().quiet(&format!("\nmore: --after {hash}")));
    format!("{}{}", table.trim_fmt(), hint.unwrap_or_default())
}
