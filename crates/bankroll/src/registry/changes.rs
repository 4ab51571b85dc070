//! `bankroll registry changes`.

use bankroll_terminal::{self as terminal, table, whole};
use clap::Args;
use serde_json::Value;

use crate::funds_call::{OwnerArgs, ask, in_path, list, text};

/// The fields that name an entry, the first that it has.
const NAMES: [&str; 6] = ["name", "id", "symbol", "owner", "wallet", "address"];

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll registry changes --dir casino
  bankroll registry changes --before 2026-03-01T00:00:00Z --limit 10 --json")]
pub struct ChangesArgs {
    /// Only changes before this time (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = terminal::when::parse)]
    before: Option<bankroll_ledger::Time>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<u32>(1..=1_000, "the number of changes"))]
    limit: u32,
    #[command(flatten)]
    owner: OwnerArgs,
}

pub fn run(args: &ChangesArgs, json: bool) -> anyhow::Result<()> {
    let before = args.before.map(|at| format!("&before={}", in_path(&terminal::when::show(at)))).unwrap_or_default();
    let path = format!("/v1/registry/changes?limit={}{before}", args.limit);
    let answer = ask(args.owner.connect()?, &path)?;
    if json {
        return terminal::answer_json(&answer);
    }
    let changes = list(&answer, "entries")?;
    if changes.is_empty() {
        return terminal::answer("the registry has no changes\n");
    }
    let mut rows = table(&["AT", "BY", "CHANGED"], &[]);
    for change in changes {
        let mut first = [text(&change["at"]), text(&change["by"])];
        for entry in list(change, "changes")? {
            let [at, by] = std::mem::take(&mut first);
            rows.add_row([at, by, entry_text(entry)]);
        }
    }
    terminal::answer(&rows.trim_fmt())
}

/// One written entry: its kind, its name, and the revision or version that it has now.
pub fn entry_text(entry: &Value) -> String {
    let Some((kind, fields)) = entry.as_object().and_then(|entry| entry.iter().next()) else {
        return text(entry);
    };
    let fields = if kind == "player_wallet" { &fields["wallet"] } else { fields };
    // A key of a server is known by its address, though it has the server's name, too.
    let name = NAMES.into_iter().map(|field| &fields[field]).find(|value| value.is_string());
    let mut line = format!("{} {}", kind.replace('_', " "), name.map_or_else(|| "-".into(), text));
    if let Some(server) = fields["server"].as_str() {
        line += &format!(" of {server}");
    }
    if !fields["revoked_at"].is_null() {
        line += ", revoked";
    }
    line + &state_text(fields)
}

/// Of a server: its version, and what is paused.
fn state_text(fields: &Value) -> String {
    let version = fields["version"].as_u64().map(|version| format!(", version {version}"));
    let pauses = fields["pauses"].as_object().into_iter().flatten();
    let paused: Vec<&str> = pauses.filter(|(_, is_on)| **is_on == true).map(|(kind, _)| kind.as_str()).collect();
    let paused = (!paused.is_empty()).then(|| format!(", paused: {}", paused.join(", ")));
    version.into_iter().chain(paused).collect()
}
