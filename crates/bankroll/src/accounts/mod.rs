//! `bankroll accounts`: shows accounts. It reads the books while a writer may be running, or asks the Funds API with a
//! caller's key; it changes nothing.

mod by_api;
mod list;
mod show;

use bankroll_ledger::{Account, Side};
use bankroll_terminal::{Assets, Exit};
use clap::Subcommand;
use serde_json::{Value, json};

pub use show::find;

pub const EXAMPLES: &str = "\
Examples:
  bankroll accounts list --dir bankroll-demo --kind funds --non-zero
  bankroll accounts show arena/world/1 --dir bankroll-demo";

#[derive(Debug, Subcommand)]
pub enum AccountsCommand {
    /// List accounts, in the order of their numbers
    List(list::AccountListArgs),
    /// Show one account: balance, holds, who may do what with it
    Show(show::AccountShowArgs),
}

pub fn run(command: &AccountsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        AccountsCommand::List(args) => list::run(args, json)?,
        AccountsCommand::Show(args) => show::run(args, json)?,
    }
    Ok(Exit::Ok)
}

/// An account for programs. Amounts are strings: a JSON number is a double to most readers.
pub fn account_json(account: &Account, assets: &Assets) -> Value {
    let name = &account.name;
    let asset = assets.get(name.asset);
    json!({
        "id": account.id,
        "name": name.to_string(),
        "server": name.scope.to_string(),
        "kind": name.kind,
        "owner": name.owner,
        "asset": {
            "id": name.asset,
            "chain": asset.map(|asset| &asset.chain),
            "symbol": asset.map(|asset| &asset.symbol),
            "decimals": asset.map(|asset| asset.decimals),
        },
        "side": match name.kind.side() { Side::Credit => "credit", Side::Debit => "debit" },
        "balance": account.balance,
        "held": account.held,
        "available": account.available(),
        "balance_decimal": assets.decimal(name.asset, account.balance),
        "held_decimal": assets.decimal(name.asset, account.held),
        "available_decimal": assets.decimal(name.asset, account.available()),
    })
}
