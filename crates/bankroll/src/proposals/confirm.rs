//! `bankroll proposals confirm`: shows the content, and signs exactly what it has shown.

use std::io::{self, BufRead, IsTerminal, Write};

use bankroll_roles::requests::{FundsCall, FundsCallError};
use bankroll_terminal::UsageError;
use clap::Args;
use serde_json::{Value, json};

use super::{report, words};
use crate::funds_call::{OwnerArgs, RetryArgs, change, in_path};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll proposals confirm --dir casino --key omar.key \\
    prp_0123456789abcdef0123456789abcdef
  ... --yes                in a script, after another program has read it

Prints what the proposal does and waits for the word yes. The signature covers
exactly that content: if a node showed another one, the books refuse it.")]
pub struct ConfirmArgs {
    /// The proposal
    #[arg(value_name = "PROPOSAL")]
    proposal: String,
    /// Sign without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn run(args: &ConfirmArgs, json: bool) -> anyhow::Result<()> {
    let path = format!("/v1/proposals/{}", in_path(&args.proposal));
    let client = args.by.connect()?;
    let proposal: Result<Value, FundsCallError> =
        client.call(FundsCall { method: "GET", path: &path, idempotency_key: None, body: None });
    client.close();
    let proposal = proposal?;
    let content = &proposal["content"];
    eprint!("{}", words::sheet(&proposal));
    if !args.yes {
        ask_person()?;
    }
    let body = json!({ "content": content });
    let confirmed = change(args.by.connect()?, "POST", &format!("{path}/confirm"), Some(&body), &args.retry)?;
    report("signed", &args.by, &confirmed, json)
}

/// The word is typed: a key that is pressed by habit signs nothing.
fn ask_person() -> anyhow::Result<()> {
    if !io::stdin().is_terminal() {
        return Err(UsageError("this is no terminal to type yes at: read the proposal, then add --yes".into()).into());
    }
    eprint!("Type yes to sign this: ");
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    if line.trim() == "yes" { Ok(()) } else { Err(UsageError("nothing was signed".into()).into()) }
}
