//! `bankroll webhooks deliveries`.

use bankroll_terminal::{self as terminal, table, whole};
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::WebhookId;
use crate::funds_call::{SubjectArgs, ask, list as entries, text};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll webhooks deliveries whe_0123... --dir casino
  bankroll webhooks deliveries whe_01... --state pending --dir casino --json")]
pub struct WebhookDeliveriesArgs {
    /// The webhook
    #[arg(value_name = "WEBHOOK")]
    webhook: WebhookId,
    /// Only those that are pending, or delivered
    #[arg(long, value_name = "STATE")]
    state: Option<ShownState>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<u32>(1..=1_000, "a limit"))]
    limit: u32,
    #[command(flatten)]
    subject: SubjectArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShownState {
    Pending,
    Delivered,
}

pub fn list(args: &WebhookDeliveriesArgs, json: bool) -> anyhow::Result<()> {
    let state = match args.state {
        None => "",
        Some(ShownState::Pending) => "&state=pending",
        Some(ShownState::Delivered) => "&state=delivered",
    };
    let path = format!("{}/{}/deliveries?limit={}{state}", args.subject.webhooks_path(), args.webhook, args.limit);
    let page = ask(args.subject.connect()?, &path)?;
    if json {
        return terminal::answer_json(&page);
    }
    let deliveries = entries(&page, "deliveries")?;
    if deliveries.is_empty() {
        return terminal::answer("no deliveries\n");
    }
    let mut rows = table(&["EVENT", "TYPE", "STATE", "TRIES", "LAST", "NEXT"], &[3]);
    for delivery in deliveries {
        let field = |name: &str| text(&delivery[name]);
        rows.add_row([
            field("event"),
            field("type"),
            field("state"),
            field("attempts"),
            last(delivery),
            field("next_at"),
        ]);
    }
    terminal::answer(&rows.trim_fmt())
}

/// What became of the last attempt.
fn last(delivery: &Value) -> String {
    match (delivery.get("last_error"), delivery.get("last_status")) {
        (Some(error), _) => text(error).chars().take(60).collect(),
        (None, Some(status)) => text(status),
        (None, None) => "-".into(),
    }
}
