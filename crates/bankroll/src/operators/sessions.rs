//! Sessions and keys of people: listed, and stopped at once.

use bankroll_orders::Address;
use bankroll_terminal::{self as terminal, Paint, table};
use clap::Args;

use super::OperatorArgs;
use crate::funds_call::{OwnerArgs, RetryArgs, ask, change, in_path, list, text};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll operators revoke-key --dir casino --key other.key \\
    0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

Its sessions stop with the answer. Never the last key of the last owner.")]
pub struct RevokeKeyArgs {
    /// The address of the key
    #[arg(value_name = "ADDRESS")]
    address: Address,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll operators revoke-session --dir casino \\
    ses_0123456789abcdef0123456789abcdef")]
pub struct RevokeSessionArgs {
    /// The session, as `bankroll operators sessions` shows it
    #[arg(value_name = "SESSION")]
    session: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn list_open(args: &OperatorArgs, json: bool) -> anyhow::Result<()> {
    let answer = ask(args.by.connect()?, "/v1/operators/sessions")?;
    if json {
        return terminal::answer_json(&answer);
    }
    let open = list(&answer, "sessions")?;
    if open.is_empty() {
        return terminal::answer("no session is open\n");
    }
    let mut rows = table(&["SESSION", "PERSON", "SINCE", "UNTIL"], &[]);
    for session in open {
        rows.add_row(["session", "person", "since", "expires_at"].map(|field| text(&session[field])));
    }
    terminal::answer(&rows.trim_fmt())
}

pub fn revoke(args: &RevokeSessionArgs, json: bool) -> anyhow::Result<()> {
    revoked(&args.by, &args.retry, &format!("/v1/operators/sessions/{}", in_path(&args.session)), json)
}

pub fn revoke_key(args: &RevokeKeyArgs, json: bool) -> anyhow::Result<()> {
    revoked(&args.by, &args.retry, &format!("/v1/operators/keys/{}", args.address.lower_hex()), json)
}

pub(super) fn revoked(by: &OwnerArgs, retry: &RetryArgs, path: &str, json: bool) -> anyhow::Result<()> {
    let answer = change(by.connect()?, "DELETE", path, None, retry)?;
    if json {
        return terminal::answer_json(&answer);
    }
    terminal::answer(&format!("{} {}\n", Paint::stdout().good("revoked"), text(&answer["revoked"])))
}
