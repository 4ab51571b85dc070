//! `bankroll signer show`: wallets, rules and signed orders. Works while the signer runs, and needs no password.

use std::{
    fmt::Write,
    fs,
    io::ErrorKind,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use bankroll_ledger::Amount;
use bankroll_signer::{
    cli::{SignerPrograms, memory_error, read_config, shown},
    config::SignerConfig,
    memory::{MemoryEntry, MemorySnapshot},
};
use bankroll_terminal::{decimal, plain, whole};
use clap::Args;
use serde_json::{Value, json};

use super::{
    order_text::{OrderText, gwei, time_text},
    print,
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

pub fn run(args: &SignerShowArgs, json: bool, programs: &SignerPrograms) -> anyhow::Result<()> {
    let config = read_config(&args.dir, programs)?;
    let snapshot = MemorySnapshot::read(&config.memory, args.entries);
    let snapshot = snapshot.map_err(|error| memory_error(error, &args.dir, programs))?;
    let warnings: Vec<String> = config.wallets.iter().filter_map(|(_, file)| key_file_warning(file)).collect();
    let mut value = value(&config, &snapshot);
    value["warnings"] = json!(warnings);
    print(json, &value, &text(&config, &snapshot, &warnings)?)
}

/// The password protects the key only against those who cannot guess it at leisure.
fn key_file_warning(file: &Path) -> Option<String> {
    /// The rights of the group and of all other users.
    const OTHERS: u32 = 0o077;
    let shown = shown(file);
    match fs::metadata(file) {
        Ok(found) if found.permissions().mode() & OTHERS == 0 => None,
        Ok(_) => Some(format!("the key file {shown} is open to other users; run `chmod 600 {shown}`")),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(format!("the key file {shown} is missing")),
        Err(error) => Some(format!("the key file {shown} cannot be read: {}", plain(&error.to_string()))),
    }
}

fn value(config: &SignerConfig, snapshot: &MemorySnapshot) -> Value {
    let newest = snapshot.newest.iter().map(
        |(seq, at, entry)| json!({ "seq": seq, "at": time_text(*at), "kind": kind(entry), "text": describe(entry) }),
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

fn text(config: &SignerConfig, snapshot: &MemorySnapshot, warnings: &[String]) -> anyhow::Result<String> {
    let mut text = String::new();
    for warning in warnings {
        writeln!(text, "warning {warning}")?;
    }
    for wallet in &config.policy.wallets {
        writeln!(text, "wallet  {wallet}")?;
    }
    let window = hours(config.policy.window / 1_000_000);
    for (id, rules) in &config.policy.chains {
        let (price, priority) = (gwei(rules.max_price), gwei(rules.max_priority));
        let (gas, fees) = (rules.max_gas, coins(rules.fees_per_window));
        writeln!(text, "chain   {id}: at most {gas} gas at {price} gwei ({priority} gwei priority)")?;
        writeln!(text, "  fees: at most {fees} in {window}")?;
        if let Some(limits) = &rules.native {
            let (payout, total) = (coins(limits.per_payout), coins(limits.per_window));
            writeln!(text, "  coin: at most {payout} per payout, {total} in {window}")?;
        }
        for (token, limits) in &rules.tokens {
            let (payout, total) = (limits.per_payout, limits.per_window);
            writeln!(text, "  {token}: at most {payout} base units per payout, {total} in {window}")?;
        }
    }
    let entries = if snapshot.head.count == 1 { "entry" } else { "entries" };
    writeln!(text, "memory  {} {entries}, verified; {}", snapshot.head.count, snapshot.head)?;
    if let Some(why) = snapshot.stopped {
        writeln!(text, "STOPPED {why}")?;
    }
    for (seq, at, entry) in &snapshot.newest {
        writeln!(text, "\n{seq}  {}  {}\n{}", time_text(*at), kind(entry), describe(entry))?;
    }
    Ok(text.trim_end().to_owned())
}

/// An amount of the native coin: `1 coin`, `0.5 coins`.
fn coins(amount: Amount) -> String {
    let number = decimal(amount, 18);
    let noun = if number == "1" { "coin" } else { "coins" };
    format!("{number} {noun}")
}

/// `24 h`; `90 s` if these are not whole hours.
fn hours(seconds: u64) -> String {
    if seconds.is_multiple_of(3_600) { format!("{} h", seconds / 3_600) } else { format!("{seconds} s") }
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
        MemoryEntry::Promised { order, .. } => OrderText(order).to_string(),
        MemoryEntry::Signed { promise, transaction } => {
            format!("the promise of entry {promise}: transaction 0x{}", hex::encode(transaction.hash))
        }
        MemoryEntry::Revoked(intent) => format!("intent {intent} is never signed"),
        MemoryEntry::Stopped(why) => why.to_string(),
    }
}
