//! `bankroll registry server-keys`, beyond listing and adding: an end, a limit, a revocation.

use bankroll_ledger::{Amount, Time};
use bankroll_orders::Address;
use bankroll_terminal as terminal;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::{EntriesArgs, entries::ServerKeyAddArgs, listing::EntryKind, report};
use crate::funds_call::{OwnerArgs, RetryArgs, change};

#[derive(Debug, Subcommand)]
pub enum ServerKeysCommand {
    /// List the keys of game servers
    #[command(after_help = "Examples:\n  bankroll registry server-keys list --dir casino --json")]
    List(EntriesArgs),
    /// Allow a key to register and act for a game server
    Add(ServerKeyAddArgs),
    /// Change the end or the limit of a key of a game server
    Update(KeyUpdateArgs),
    /// Revoke a key of a game server, for ever
    Revoke(KeyRevokeArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll registry server-keys revoke \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 --dir casino

Its sessions are refused from the answer on.")]
pub struct KeyRevokeArgs {
    /// The address of the key
    #[arg(value_name = "ADDRESS")]
    address: Address,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(override_usage = "bankroll registry server-keys update <ADDRESS> [OPTIONS]\n        \
    [--valid-until <TIME>|--no-end] [--spend-limit <UNITS>|--no-limit]")]
#[command(after_help = "\
Examples:
  bankroll registry server-keys update --valid-until 2026-12-01T00:00:00Z \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 --dir casino
  bankroll registry server-keys update --spend-limit 1000000000000000000 \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 --dir casino

A rotation: add the new key, register with it, and let the old one end here.
Until then both are good.")]
pub struct KeyUpdateArgs {
    /// The address of the key
    #[arg(value_name = "ADDRESS")]
    address: Address,
    #[command(flatten)]
    what: UpdatedArgs,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct UpdatedArgs {
    /// It is good until this time (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = terminal::when::parse)]
    valid_until: Option<Time>,
    /// It is good until it is revoked
    #[arg(long, conflicts_with = "valid_until")]
    no_end: bool,
    /// What it may take from players in a minute, in base units
    #[arg(long, value_name = "UNITS")]
    spend_limit: Option<Amount>,
    /// It may take as much as it wants
    #[arg(long, conflicts_with = "spend_limit")]
    no_limit: bool,
}

pub fn update(args: &KeyUpdateArgs, json: bool) -> anyhow::Result<()> {
    let UpdatedArgs { valid_until, no_end, spend_limit, no_limit } = &args.what;
    let mut body = Map::new();
    // What is not named stays as it is; null takes a value away.
    if valid_until.is_some() || *no_end {
        body.insert("valid_until".into(), json!(valid_until.map(terminal::when::show)));
    }
    if spend_limit.is_some() || *no_limit {
        body.insert("spend_limit".into(), json!(spend_limit.map(|limit| limit.to_string())));
    }
    let path = of_key(args.address);
    let answer = change(args.owner.connect()?, "PATCH", &path, Some(&Value::Object(body)), &args.retry)?;
    report("changed", &answer, json)
}

pub fn revoke(args: &KeyRevokeArgs, json: bool) -> anyhow::Result<()> {
    let path = of_key(args.address);
    let answer = change(args.owner.connect()?, "DELETE", &path, None, &args.retry)?;
    report("revoked", &answer, json)
}

fn of_key(address: Address) -> String {
    format!("{}/{}", EntryKind::ServerKeys.path(), address.lower_hex())
}
