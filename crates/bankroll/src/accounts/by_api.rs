//! Accounts as a game server or the owner sees them: by the Funds API, for machines that have no books.

use std::path::Path;

use bankroll_ledger::{AccountName, Scope};
use bankroll_terminal::{self as terminal, UsageError, table};
use serde_json::Value;

use super::list::AccountListArgs;
use crate::{
    funds_call::{ask, connect, in_path, list as entries, text},
    location::LocationArgs,
};

pub fn list(args: &AccountListArgs, key: &Path, json: bool) -> anyhow::Result<()> {
    let Some(Scope::Server(server)) = &args.server else {
        return Err(UsageError("with --key name a game server: --server arena".into()).into());
    };
    let owner = args.owner.as_ref().map(ToString::to_string);
    let filters = [
        ("kind", args.kind.map(|kind| kind.as_str().to_owned())),
        ("owner", owner),
        ("after", args.after.map(|after| after.to_string())),
        ("limit", Some(args.limit.to_string())),
    ];
    let filters = filters.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", in_path(&value?))));
    let path = format!("/v1/servers/{}/accounts?{}", in_path(server.as_str()), filters.collect::<Vec<_>>().join("&"));
    let answer = ask(connect(&args.location, key)?, &path)?;
    if json {
        return terminal::answer_json(&answer);
    }
    let accounts = entries(&answer, "accounts")?;
    let more = answer["next"].as_str().map(|next| format!("\nmore: --after {next}")).unwrap_or_default();
    terminal::answer(&format!("{}{more}", rows(accounts)))
}

pub fn show(name: &AccountName, location: &LocationArgs, key: &Path, json: bool) -> anyhow::Result<()> {
    let Scope::Server(server) = &name.scope else {
        return Err(UsageError("the Funds API shows accounts of game servers; --key is for those".into()).into());
    };
    let path = format!("/v1/servers/{}/accounts/{}", in_path(server.as_str()), in_path(&name.to_string()));
    let answer = ask(connect(location, key)?, &path)?;
    if json { terminal::answer_json(&answer) } else { terminal::answer(&rows(&[answer])) }
}

/// In base units: the API does not say how many of them make a coin.
fn rows(accounts: &[Value]) -> String {
    if accounts.is_empty() {
        return "no accounts match".into();
    }
    let mut table = table(&["ACCOUNT", "BALANCE", "HELD", "AVAILABLE"], &[1, 2, 3]);
    for account in accounts {
        table.add_row(["account", "balance", "held", "available"].map(|field| text(&account[field])));
    }
    table.trim_fmt()
}
