//! `bankroll operators program-keys`: keys with which programs read. Each is shown once.

use bankroll_terminal::{self as terminal, Paint, table, whole};
use clap::{Args, Subcommand};
use serde_json::json;

use super::{OperatorArgs, sessions::revoked};
use crate::funds_call::{OwnerArgs, RetryArgs, ask, change, in_path, list, text};

const RIGHTS: [&str; 3] = ["read-money", "read-players", "read-audit-log"];

#[derive(Debug, Subcommand)]
pub enum ProgramKeysCommand {
    /// List the keys of programs
    #[command(after_help = "Examples:\n  bankroll operators program-keys list --dir casino --json")]
    List(OperatorArgs),
    /// Make a key for a program, and print it once
    Create(CreateArgs),
    /// Revoke a key of a program, for ever and at once
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll operators program-keys create reports --right read-money \\
    --days 90 --dir casino

The program sends it as `Authorization: Bearer KEY`. It reads; the books keep a
hash of it, so that it cannot be shown again.")]
pub struct CreateArgs {
    /// What it is for
    #[arg(value_name = "LABEL")]
    label: String,
    /// What the program may read; may occur several times
    #[arg(long, value_name = "RIGHT", required = true, value_parser = RIGHTS)]
    right: Vec<String>,
    /// For how many days it is good [default: until it is revoked]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=3_650, "the number of days"))]
    days: Option<u32>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  bankroll operators program-keys revoke 0123456789abcdef --dir casino")]
pub struct RevokeArgs {
    /// The id of the key
    #[arg(value_name = "ID")]
    program_key: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn run(command: &ProgramKeysCommand, json: bool) -> anyhow::Result<()> {
    match command {
        ProgramKeysCommand::List(args) => list_all(args, json),
        ProgramKeysCommand::Create(args) => create(args, json),
        ProgramKeysCommand::Revoke(args) => {
            revoked(&args.by, &args.retry, &format!("/v1/program-keys/{}", in_path(&args.program_key)), json)
        }
    }
}

fn list_all(args: &OperatorArgs, json: bool) -> anyhow::Result<()> {
    let answer = ask(args.by.connect()?, "/v1/program-keys")?;
    if json {
        return terminal::answer_json(&answer);
    }
    let keys = list(&answer, "program_keys")?;
    if keys.is_empty() {
        return terminal::answer("no program has a key\n");
    }
    let mut rows = table(&["KEY", "LABEL", "RIGHTS", "STATUS"], &[]);
    for key in keys {
        let rights: Vec<String> = list(key, "rights")?.iter().map(text).collect();
        let status = match (key["revoked_at"].is_null(), key["expires_at"].as_str()) {
            (false, _) => "revoked".to_owned(),
            (true, Some(until)) => format!("until {until}"),
            (true, None) => "valid".to_owned(),
        };
        rows.add_row([text(&key["id"]), text(&key["label"]), rights.join(", "), status]);
    }
    terminal::answer(&rows.trim_fmt())
}

fn create(args: &CreateArgs, json: bool) -> anyhow::Result<()> {
    let rights: Vec<String> = args.right.iter().map(|right| right.replace('-', "_")).collect();
    let mut body = json!({ "label": args.label, "rights": rights });
    if let Some(days) = args.days {
        body["lifetime_seconds"] = json!(u64::from(days).saturating_mul(86_400));
    }
    let answer = change(args.by.connect()?, "POST", "/v1/program-keys", Some(&body), &args.retry)?;
    if json {
        return terminal::answer_json(&answer);
    }
    let id = text(&answer["program_key"]["id"]);
    terminal::answer(&match answer["key"].as_str() {
        Some(key) => format!("{} {id}; it is shown this once:\n{key}\n", Paint::stdout().good("made key")),
        None => format!("key {id} was made before, and is not shown again: revoke it and make another\n"),
    })
}
