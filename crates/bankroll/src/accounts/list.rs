//! `bankroll accounts list`.

use std::path::PathBuf;

use crate::wallet_name::wallet_name;
use bankroll_ledger::{Account, AccountId, AccountKind, Name, Scope};
use bankroll_store::AccountFilter;
use bankroll_terminal::{self as terminal, Assets, Paint, Width, table};
use clap::Args;
use serde_json::{Value, json};

use super::{account_json, by_api};
use crate::location::LocationArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll accounts list --dir bankroll-demo
  bankroll accounts list --server arena --kind funds --non-zero
  bankroll accounts list --server @house
  bankroll accounts list --owner 0x63fa...
  bankroll accounts list --server arena --key arena.key
  bankroll accounts list --limit 1000 --after 1000 --json

Addresses are shortened; --wide and --json have them whole. `accounts show`, `statement`
and `balance` take the ID as well as the name.")]
pub struct AccountListArgs {
    #[command(flatten)]
    pub location: LocationArgs,
    /// Ask the Funds API with this key file, instead of reading the books
    #[arg(long, value_name = "FILE", conflicts_with_all = ["non_zero", "wide"])]
    key: Option<PathBuf>,
    /// Only accounts of this game server; @house for the operator's own
    #[arg(long, value_name = "SERVER")]
    pub server: Option<Scope>,
    /// Only accounts of this kind: funds, world, custody, ...
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub kind: Option<AccountKind>,
    /// Only accounts of this player or wallet
    #[arg(long, value_name = "OWNER", value_parser = wallet_name)]
    pub owner: Option<Name>,
    /// Only accounts whose balance or held amount is not zero
    #[arg(long)]
    non_zero: bool,
    /// Show whole addresses, and amounts in base units too
    #[arg(long)]
    wide: bool,
    /// Maximum number of accounts
    #[arg(
        long, value_name = "N", default_value_t = 50,
        value_parser = terminal::whole::<u32>(1..=1_000_000, "the limit")
    )]
    pub limit: u32,
    /// Continue after the account with this number
    #[arg(long, value_name = "ID", value_parser = terminal::whole::<u64>(0..=u64::MAX, "the number of an account"))]
    pub after: Option<u64>,
}

fn kind(text: &str) -> Result<AccountKind, String> {
    let all = || AccountKind::ALL.map(AccountKind::as_str).join(", ");
    text.parse().map_err(|_| format!("the kinds are {}", all()))
}

pub fn run(args: &AccountListArgs, json: bool) -> anyhow::Result<()> {
    if let Some(key) = &args.key {
        return by_api::list(args, key, json);
    }
    let reader = args.location.reader()?;
    let assets = Assets::new(reader.assets()?);
    let filter = AccountFilter {
        scope: args.server.as_ref().map(ToString::to_string),
        kind: args.kind,
        owner: args.owner.clone(),
        non_zero: args.non_zero,
        after: args.after.map(AccountId),
    };
    let limit = args.limit as usize;
    // One more than requested, to know whether there are more.
    let mut accounts = reader.accounts(&filter, limit + 1)?;
    let more = accounts.len() > limit;
    accounts.truncate(limit);
    let next = accounts.last().map(|account| account.id).filter(|_| more);
    if json {
        let all: Vec<Value> = accounts.iter().map(|account| account_json(account, &assets)).collect();
        return terminal::answer_json(&json!({ "accounts": all, "next_after": next }));
    }
    terminal::answer(&text(&accounts, &assets, next, Width::of_flag(args.wide)))
}

fn text(accounts: &[Account], assets: &Assets, next: Option<AccountId>, width: Width) -> String {
    if accounts.is_empty() {
        return "no accounts match".into();
    }
    let holding = accounts.iter().any(|account| !account.held.is_zero());
    let header = ["ID", "ACCOUNT", "BALANCE", "HELD", "BASE UNITS", "HELD (BASE UNITS)"];
    let is_shown = |column: usize| match column {
        3 => holding,
        4 => width.is_wide(),
        5 => width.is_wide() && holding,
        _ => true,
    };
    let shown: Vec<usize> = (0..header.len()).filter(|column| is_shown(*column)).collect();
    let header: Vec<&str> = shown.iter().map(|column| header[*column]).collect();
    let mut table = table(&header, &[0, 2, 3, 4, 5]);
    for account in accounts {
        let name = &account.name;
        let row = [
            account.id.to_string(),
            width.fit_to(&name.to_string(), 40),
            assets.with_symbol(name.asset, account.balance),
            assets.decimal(name.asset, account.held),
            account.balance.to_string(),
            account.held.to_string(),
        ];
        table.add_row(shown.iter().map(|column| &row[*column]));
    }
    let hint = next.map(|id| Paint::stdout().quiet(&format!("\nmore: --after {id}")));
    format!("{}{}", table.trim_fmt(), hint.unwrap_or_default())
}
