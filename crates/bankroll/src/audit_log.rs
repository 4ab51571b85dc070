//! `bankroll audit-log`: what people did, and whether the list is what was written.

use anyhow::Context;
use bankroll_ledger::Name;
use bankroll_operators::{ActHash, Operators};
use bankroll_roles::requests::{FundsCall, FundsClient};
use bankroll_terminal::{self as terminal, Exit, Paint, UnsoundError, table, whole};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::funds_call::{OwnerArgs, ask, in_path, list, text};

pub const EXAMPLES: &str = "\
Examples:
  bankroll audit-log list --dir casino
  bankroll audit-log list --person omar --dir casino
  bankroll audit-log verify --dir casino";

#[derive(Debug, Subcommand)]
pub enum AuditLogCommand {
    /// List privileged acts, the newest first
    List(LogListArgs),
    /// Fetch the whole log and check every hash, signature and right
    Verify(LogVerifyArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll audit-log list --dir casino
  bankroll audit-log list --person omar --below 100 --limit 10 --json")]
pub struct LogListArgs {
    /// Only what this person did
    #[arg(long, value_name = "NAME")]
    person: Option<Name>,
    /// Only entries below this number
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=4_294_967_295, "the number of an entry"))]
    below: Option<u32>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<u32>(1..=1_000, "the number of entries"))]
    limit: u32,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll audit-log verify --dir casino

The entries are verified on this machine: the hash of each, the signature over
the request that it came from, and whether its author could do it then.")]
pub struct LogVerifyArgs {
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn run(command: &AuditLogCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        AuditLogCommand::List(args) => list_all(args, json),
        AuditLogCommand::Verify(args) => verify(args, json),
    }
    .map(|()| Exit::Ok)
}

fn list_all(args: &LogListArgs, json: bool) -> anyhow::Result<()> {
    let person = args.person.as_ref().map(|name| format!("&person={}", in_path(name.as_str()))).unwrap_or_default();
    let below = args.below.map(|below| format!("&below={below}")).unwrap_or_default();
    let answer = ask(args.by.connect()?, &format!("/v1/audit-log?limit={}{person}{below}", args.limit))?;
    if json {
        return terminal::answer_json(&answer);
    }
    let mut rows = table(&["ENTRY", "AT", "BY", "ACT", "PROVEN BY"], &[0]);
    for entry in list(&answer, "entries")? {
        let [number, at, author, proof] = ["number", "at", "author", "proof"].map(|field| text(&entry[field]));
        rows.add_row([number, at, author, act(&entry["act"]), proof]);
    }
    let more = answer["next"].as_u64().map(|next| format!("\nmore: --below {next}\n")).unwrap_or_default();
    terminal::answer(&format!("{}{more}", rows.trim_fmt()))
}

/// One act in a few words: its name, and what it is about.
fn act(act: &Value) -> String {
    let name = text(&act["act"]).replace('_', " ");
    let about = ["person", "player", "proposal", "address", "session", "id", "resource", "deposit"];
    let about = about.into_iter().map(|field| &act[field]).find(|value| value.is_string());
    match (about, act["content"]["kind"].as_str()) {
        (Some(about), Some(kind)) => format!("{name} {} {}", text(about), kind.replace('_', " ")),
        (Some(about), None) => format!("{name} {}", text(about)),
        (None, _) => name,
    }
}

fn verify(args: &LogVerifyArgs, json: bool) -> anyhow::Result<()> {
    let client = args.by.connect()?;
    let entries = fetch(&client);
    client.close();
    let entries = entries?;
    let pairs = entries.iter().map(|(text, hash)| (text.as_str(), *hash));
    let operators = Operators::replay(pairs).map_err(|error| UnsoundError(error.to_string()))?;
    let (count, head) = (operators.entries(), hex::encode(operators.head().0));
    if json {
        return terminal::answer_json(&json!({ "entries": count, "people": operators.people().count(), "head": head }));
    }
    let good = Paint::stdout().good("sound:");
    terminal::answer(&format!("{good} {count} entries, {} people\nhead {head}\n", operators.people().count()))
}

/// All entries, the first one first: their texts and hashes.
fn fetch(client: &FundsClient) -> anyhow::Result<Vec<(String, ActHash)>> {
    let mut found = Vec::new();
    let mut below = String::new();
    loop {
        let path = format!("/v1/audit-log?limit=1000{below}");
        let page = client.call(FundsCall { method: "GET", path: &path, idempotency_key: None, body: None })?;
        for entry in list(&page, "entries")? {
            let text = entry["text"].as_str().context("this key may not see players, so it gets no texts to verify")?;
            let mut hash = [0; 32];
            hex::decode_to_slice(entry["hash"].as_str().unwrap_or_default(), &mut hash)?;
            found.push((text.to_owned(), ActHash(hash)));
        }
        match page["next"].as_u64() {
            Some(next) => below = format!("&below={next}"),
            None => break,
        }
    }
    found.reverse();
    Ok(found)
}
