//! `bankroll proposals`: acts that need several people. Each signs the exact content.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `words` | a content and a proposal as people read them |
//! | `confirm` | showing a content, and signing exactly that |
//! | `overrides` | proposals about money |

mod confirm;
mod overrides;
mod words;

use bankroll_terminal::{self as terminal, Exit, Paint, invocation, table};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::funds_call::{OwnerArgs, RetryArgs, ask, change, in_path, list, text};
use confirm::ConfirmArgs;
use overrides::{ReverseArgs, TransferProposalArgs};

pub const EXAMPLES: &str = "\
Examples:
  bankroll proposals list --status open --dir casino
  bankroll proposals create reverse --record rec_1204 \\
    --reason \"booked twice\" --dir casino
  bankroll proposals confirm --dir casino --key omar.key \\
    prp_0123456789abcdef0123456789abcdef

A proposal is carried out once, with the signature of the last person that is
needed. Each person signs its whole content.";

#[derive(Debug, Subcommand)]
pub enum ProposalsCommand {
    /// List proposals, the newest first
    List(ProposalListArgs),
    /// Show a proposal: what it does, who signed, what came of it
    #[command(
        after_help = "Examples:\n  bankroll proposals show prp_0123456789abcdef0123456789abcdef \\\n    --dir casino"
    )]
    Show(ProposalArgs),
    /// Propose an override of the books
    #[command(subcommand, after_help = CREATE_EXAMPLES)]
    Create(CreateCommand),
    /// Show the exact content of a proposal, and sign it
    Confirm(ConfirmArgs),
    /// End a proposal without effect
    #[command(
        after_help = "Examples:\n  bankroll proposals reject prp_0123456789abcdef0123456789abcdef \\\n    --dir casino"
    )]
    Reject(ProposalChangeArgs),
}

const CREATE_EXAMPLES: &str = "\
Examples:
  bankroll proposals create reverse --record rec_1204 \\
    --reason \"booked twice\" --dir casino";

#[derive(Debug, Subcommand)]
pub enum CreateCommand {
    /// Reverse what a record of the journal moved
    Reverse(ReverseArgs),
    /// Move money, to correct an error among what we owe
    Transfer(TransferProposalArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll proposals list --dir casino
  bankroll proposals list --status open --dir casino --json")]
pub struct ProposalListArgs {
    /// Only these
    #[arg(long, value_name = "STATUS", value_parser = ["open", "confirmed", "rejected", "expired"])]
    status: Option<String>,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
pub struct ProposalArgs {
    /// The proposal
    #[arg(value_name = "PROPOSAL")]
    proposal: String,
    #[command(flatten)]
    by: OwnerArgs,
}

#[derive(Debug, Args)]
pub struct ProposalChangeArgs {
    /// The proposal
    #[arg(value_name = "PROPOSAL")]
    proposal: String,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    by: OwnerArgs,
}

pub fn run(command: &ProposalsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        ProposalsCommand::List(args) => list_all(args, json),
        ProposalsCommand::Show(args) => show(args, json),
        ProposalsCommand::Create(CreateCommand::Reverse(args)) => overrides::reverse(args, json),
        ProposalsCommand::Create(CreateCommand::Transfer(args)) => overrides::transfer(args, json),
        ProposalsCommand::Confirm(args) => confirm::run(args, json),
        ProposalsCommand::Reject(args) => reject(args, json),
    }
    .map(|()| Exit::Ok)
}

/// Proposes a content, and says what others must do.
pub fn propose(by: &OwnerArgs, retry: &RetryArgs, content: &Value, json: bool) -> anyhow::Result<()> {
    let body = json!({ "content": content });
    let proposal = change(by.connect()?, "POST", "/v1/proposals", Some(&body), retry)?;
    report("proposed", by, &proposal, json)
}

fn report(verb: &str, by: &OwnerArgs, proposal: &Value, json: bool) -> anyhow::Result<()> {
    if json {
        return terminal::answer_json(proposal);
    }
    let verb = if proposal["status"] == "confirmed" { "confirmed" } else { verb };
    let mut answer = format!("{} {}\n", Paint::stdout().good(verb), text(&proposal["proposal"]));
    answer += &words::sheet(proposal);
    if proposal["status"] == "open" {
        answer += &format!(
            "\nNext, as another person:\n  {} proposals confirm {} --key FILE --dir {}\n",
            invocation(),
            text(&proposal["proposal"]),
            by.location.base().display()
        );
    }
    terminal::answer(&answer)
}

fn list_all(args: &ProposalListArgs, json: bool) -> anyhow::Result<()> {
    let status = args.status.as_ref().map(|status| format!("?status={status}")).unwrap_or_default();
    let answer = ask(args.by.connect()?, &format!("/v1/proposals{status}"))?;
    if json {
        return terminal::answer_json(&answer);
    }
    let proposals = list(&answer, "proposals")?;
    if proposals.is_empty() {
        return terminal::answer("there are no such proposals\n");
    }
    let mut rows = table(&["PROPOSAL", "BY", "STATUS", "SIGNED", "WHAT"], &[]);
    for proposal in proposals {
        let signed = list(proposal, "signed_by")?.len();
        let signed = format!("{signed} of {}", text(&proposal["needed"]));
        let what = words::content(&proposal["content"]);
        rows.add_row([text(&proposal["proposal"]), text(&proposal["author"]), words::status(proposal), signed, what]);
    }
    terminal::answer(&rows.trim_fmt())
}

fn show(args: &ProposalArgs, json: bool) -> anyhow::Result<()> {
    let proposal = ask(args.by.connect()?, &format!("/v1/proposals/{}", in_path(&args.proposal)))?;
    if json {
        return terminal::answer_json(&proposal);
    }
    terminal::answer(&words::sheet(&proposal))
}

fn reject(args: &ProposalChangeArgs, json: bool) -> anyhow::Result<()> {
    let path = format!("/v1/proposals/{}/reject", in_path(&args.proposal));
    let proposal = change(args.by.connect()?, "POST", &path, Some(&json!({})), &args.retry)?;
    report("rejected", &args.by, &proposal, json)
}
