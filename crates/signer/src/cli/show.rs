//! `bankroll-signer show`: wallets, rules, and what was signed. Reads beside a signer that runs, and needs no password.

use std::{fmt::Write, path::PathBuf};

use bankroll_orders::moment;
use clap::Args;
use serde_json::{Value, json};

use super::say;
use crate::{
    config::Config,
    memory::{Entry, Past},
};

/// What to show.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll signer show --dir signer
  bankroll signer show --dir signer --entries 100 --json")]
pub struct ShowArgs {
    /// The signer's folder
    #[arg(long, value_name = "DIR", default_value = "signer")]
    dir: PathBuf,
    /// How many of the newest entries of the memory
    #[arg(long, value_name = "N", default_value_t = 10)]
    entries: u64,
}

pub fn run(args: &ShowArgs, json: bool) -> anyhow::Result<()> {
    let config = Config::read(&args.dir)?;
    let past = Past::read(&config.memory, args.entries)?;
    say(json, &value(&config, &past), &text(&config, &past)?)
}

fn value(config: &Config, past: &Past) -> Value {
    let entries: Vec<Value> = past
        .newest
        .iter()
        .map(|(seq, at, entry)| json!({ "seq": seq, "at": moment(*at), "kind": kind(entry), "text": told(entry) }))
        .collect();
    json!({
        "wallets": config.policy.wallets,
        "chains": config.policy.chains.keys().collect::<Vec<_>>(),
        "memory": { "id": past.id.to_string(), "entries": past.head.count, "hash": hex::encode(past.head.hash) },
        "history_of": past.wallets,
        "stopped": past.stopped.map(|why| why.to_string()),
        "newest": entries,
    })
}

fn text(config: &Config, past: &Past) -> anyhow::Result<String> {
    let mut text = String::new();
    for wallet in &config.policy.wallets {
        writeln!(text, "wallet  {wallet}")?;
    }
    for (id, rules) in &config.policy.chains {
        writeln!(
            text,
            "chain   {id}: gas at most {} at {} ({} priority), fees {} in {} s",
            rules.max_gas,
            rules.max_price,
            rules.max_priority,
            rules.fees_per_window,
            config.policy.window / 1_000_000,
        )?;
        let native = rules.native.iter().map(|limits| ("coin".to_owned(), limits));
        for (asset, limits) in native.chain(rules.tokens.iter().map(|(token, limits)| (token.to_string(), limits))) {
            writeln!(text, "  {asset}: {} a payout, {} in all", limits.per_payout, limits.per_window)?;
        }
    }
    writeln!(text, "memory  {} entries, verified; {}", past.head.count, past.head)?;
    if let Some(why) = past.stopped {
        writeln!(text, "STOPPED {why}")?;
    }
    for (seq, at, entry) in &past.newest {
        writeln!(text, "\n{seq}  {}  {}\n{}", moment(*at), kind(entry), told(entry))?;
    }
    Ok(text.trim_end().to_owned())
}

const fn kind(entry: &Entry) -> &'static str {
    match entry {
        Entry::Wallet(_) => "wallet",
        Entry::Promised { .. } => "promised",
        Entry::Signed { .. } => "signed",
        Entry::Renounced(_) => "renounced",
        Entry::Stopped(_) => "stopped",
    }
}

fn told(entry: &Entry) -> String {
    match entry {
        Entry::Wallet(wallet) => format!("the history of {wallet} begins"),
        Entry::Promised { order, .. } => order.to_string(),
        Entry::Signed { promise, transaction } => {
            format!("what was promised in {promise}: transaction 0x{}", hex::encode(transaction.hash))
        }
        Entry::Renounced(intent) => format!("intent {intent} is never signed"),
        Entry::Stopped(why) => why.to_string(),
    }
}
