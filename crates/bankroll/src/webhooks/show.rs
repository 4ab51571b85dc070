//! `bankroll webhooks list` and `show`.

use bankroll_terminal::{self as terminal, table};
use clap::Args;
use serde_json::Value;

use super::WebhookId;
use crate::funds_call::{SubjectArgs, ask, list as entries, text};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll webhooks list --dir casino
  bankroll webhooks list --server arena --key arena.key --dir casino")]
pub struct WebhookListArgs {
    #[command(flatten)]
    subject: SubjectArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll webhooks show whe_0123... --dir casino
  bankroll webhooks show whe_0123... --dir casino --json")]
pub struct WebhookShowArgs {
    /// The webhook
    #[arg(value_name = "WEBHOOK")]
    webhook: WebhookId,
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn list(args: &WebhookListArgs, json: bool) -> anyhow::Result<()> {
    let answer = ask(args.subject.connect()?, &args.subject.webhooks_path())?;
    if json {
        return terminal::answer_json(&answer);
    }
    let webhooks = entries(&answer, "webhooks")?;
    if webhooks.is_empty() {
        return terminal::answer("no webhooks\n");
    }
    let mut rows = table(&["WEBHOOK", "OF", "STATE", "TYPES", "URL"], &[]);
    for webhook in webhooks {
        let of = webhook.get("server").map_or_else(|| "deployment".to_owned(), text);
        rows.add_row([text(&webhook["webhook"]), of, state(webhook), types(webhook), text(&webhook["url"])]);
    }
    terminal::answer(&rows.trim_fmt())
}

pub fn show(args: &WebhookShowArgs, json: bool) -> anyhow::Result<()> {
    let path = format!("{}/{}", args.subject.webhooks_path(), args.webhook);
    let answer = ask(args.subject.connect()?, &path)?;
    if json { terminal::answer_json(&answer) } else { terminal::answer(&sheet(&answer)) }
}

/// A webhook, one line for each field.
pub(super) fn sheet(webhook: &Value) -> String {
    let mut lines = vec![
        ("webhook", text(&webhook["webhook"])),
        ("url", text(&webhook["url"])),
        ("types", types(webhook)),
        ("state", state(webhook)),
        ("created at", text(&webhook["created_at"])),
    ];
    for (field, name) in [("server", "of"), ("previous_secret_until", "old secret until"), ("secret", "secret")] {
        lines.extend(webhook.get(field).map(|value| (name, text(value))));
    }
    lines.iter().map(|(name, value)| format!("{name:<17} {value}\n")).collect()
}

fn types(webhook: &Value) -> String {
    webhook["types"].as_array().map_or_else(String::new, |types| types.iter().map(text).collect::<Vec<_>>().join(","))
}

fn state(webhook: &Value) -> String {
    match webhook.get("disabled_reason") {
        None => "enabled".into(),
        Some(reason) => format!("disabled ({})", text(reason)),
    }
}
