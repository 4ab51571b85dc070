//! `bankroll-signer show`: wallets, rules and signed orders. Works while the signer runs, and needs no password.

use std::{
    fmt::Write,
    fs,
    io::ErrorKind,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use bankroll_input::{plain, whole};
use bankroll_orders::format_time;
use clap::Args;
use serde_json::{Value, json};

use super::{hints, print};
use crate::{
    config::SignerConfig,
    memory::{MemoryEntry, MemorySnapshot},
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll signer show --dir signer
  bankroll signer show --dir signer --entries 100 --json")]
pub struct SignerShowArgs {
    /// The signer's folder
    #[arg(long, value_name = "DIR", default_value = "signer")]
    dir: PathBuf,
    /// Number of newest memory entries to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<u64>(0..=1_000_000, "the number of entries"))]
    entries: u64,
}

pub fn run(args: &SignerShowArgs, json: bool, me: &str) -> anyhow::Result<()> {
    let config = hints::config(&args.dir, me)?;
    let snapshot = MemorySnapshot::read(&config.memory, args.entries);
    let snapshot = snapshot.map_err(|error| hints::memory(error, &args.dir, me))?;
    let warnings: Vec<String> = config.wallets.iter().filter_map(|(_, file)| key_file_warning(file)).collect();
    let mut value = value(&config, &snapshot);
    value["warnings"] = json!(warnings);
    let warnings: String = warnings.iter().map(|warning| format!("warning {warning}\n")).collect();
    print(json, &value, &format!("{warnings}{}", text(&config, &snapshot)?))
}

/// The password protects the key only against those who cannot guess it at leisure.
fn key_file_warning(file: &Path) -> Option<String> {
    let shown = hints::shown(file);
    match fs::metadata(file) {
        Ok(found) if found.permissions().mode() & 0o077 == 0 => None,
        Ok(_) => Some(format!("the key file {shown} is open to other users; run `chmod 600 {shown}`")),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(format!("the key file {shown} is missing")),
        Err(error) => Some(format!("the key file {shown} cannot be read: {}", plain(&error.to_string()))),
    }
}

fn value(config: &SignerConfig, snapshot: &MemorySnapshot) -> Value {
    let newest = snapshot.newest.iter().map(
        |(seq, at, entry)| json!({ "seq": seq, "at": format_time(*at), "kind": kind(entry), "text": describe(entry) }),
    );
    json!({
        "wallets": config.policy.wallets,
        "chains": config.policy.chains.keys().collect::<Vec<_>>(),
        "memory": { "id": snapshot.id.to_string(), "entries": snapshot.head.count, "hash": hex::encode(snapshot.head.hash) },
        "history_of": snapshot.wallets,
        "stopped": snapshot.stopped.map(|why| why.to_string()),
        "newest": newest.collect::<Vec<_>>(),
    })
}

fn text(config: &SignerConfig, snapshot: &MemorySnapshot) -> anyhow::Result<String> {
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
            writeln!(text, "  {asset}: {} per payout, {} in total", limits.per_payout, limits.per_window)?;
        }
    }
    writeln!(text, "memory  {} entries, verified; {}", snapshot.head.count, snapshot.head)?;
    if let Some(why) = snapshot.stopped {
        writeln!(text, "STOPPED {why}")?;
    }
    for (seq, at, entry) in &snapshot.newest {
        writeln!(text, "\n{seq}  {}  {}\n{}", format_time(*at), kind(entry), describe(entry))?;
    }
    Ok(text.trim_end().to_owned())
}

const fn kind(entry: &MemoryEntry) -> &'static str {
    match entry {
        MemoryEntry::Wallet(_) => "wallet",
        MemoryEntry::Promised { .. } => "promised",
        MemoryEntry::Signed { .. } => "signed",
        MemoryEntry::Revoked(_) => "revoked",
        MemoryEntry::Stopped(_) => "stopped",
    }
}

fn describe(entry: &MemoryEntry) -> String {
    match entry {
        MemoryEntry::Wallet(wallet) => format!("the history of {wallet} begins"),
        MemoryEntry::Promised { order, .. } => order.to_string(),
        MemoryEntry::Signed { promise, transaction } => {
            format!("the promise of entry {promise}: transaction 0x{}", hex::encode(transaction.hash))
        }
        MemoryEntry::Revoked(intent) => format!("intent {intent} is never signed"),
        MemoryEntry::Stopped(why) => why.to_string(),
    }
}
