//! `bankroll events list`.

use bankroll_terminal::{self as terminal, Paint};
use clap::Args;

use super::{event_line, follow::types_query};
use crate::funds_call::{SubjectArgs, ask, list as entries, text};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll events list --dir casino
  bankroll events list --type 'withdrawal.*' --limit 20 --dir casino
  bankroll events list --after 1296 --dir casino --json")]
pub struct EventListArgs {
    /// Only this type: deposit.credited, or all of a kind: 'deposit.*'; repeatable
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Only events after the one with this sequence [default: from the first]
    #[arg(long, value_name = "SEQUENCE", value_parser = terminal::whole::<u64>(0..=u64::MAX, "a sequence"))]
    after: Option<u64>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = terminal::whole::<u32>(1..=1_000, "a limit"))]
    limit: u32,
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn list(args: &EventListArgs, json: bool) -> anyhow::Result<()> {
    let (after, types) = (args.after.unwrap_or(0), types_query(&args.types));
    let path = format!("/v1/events?after={after}&limit={}{types}", args.limit);
    let page = ask(args.subject.connect()?, &path)?;
    if json {
        return terminal::answer_json(&page);
    }
    let events = entries(&page, "events")?;
    if events.is_empty() {
        return terminal::answer("no events\n");
    }
    let paint = Paint::stdout();
    let mut lines: String = events.iter().map(|event| event_line(event, paint)).collect();
    if page["more"] == true {
        lines.push_str(&format!("\nmore: --after {}\n", text(&page["next"])));
    }
    terminal::answer(&lines)
}
