//! `bankroll alerts`: what a person must look at, as the Funds API has it.

mod text;

use std::str::FromStr;

use bankroll_alerts::{AlertId, AlertKind, AlertSeverity, AlertState};
use bankroll_store::Clock;
use bankroll_terminal::{self as terminal, Exit, Paint, whole};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::funds_call::{OwnerArgs, RetryArgs, ask, change, list};

pub const EXAMPLES: &str = "\
Examples:
  bankroll alerts list --dir casino
  bankroll alerts show alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --dir casino
  bankroll alerts acknowledge alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9

docs/runbooks has a page for each kind, with what it means, what to do and how
it ends. Most alerts close by themselves when their condition is over.";

#[derive(Debug, Subcommand)]
pub enum AlertsCommand {
    /// List the alerts that are not closed, or others, the newest first
    List(AlertListArgs),
    /// Show an alert with its details and its runbook
    Show(AlertShowArgs),
    /// Say that you have seen an alert and work on it
    Acknowledge(AcknowledgeArgs),
    /// Close an alert; if its condition holds on, another one opens
    Close(AlertCloseArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll alerts list --dir casino
  bankroll alerts list --severity critical --json
  bankroll alerts list --state closed --kind wallet_stopped --limit 10")]
pub struct AlertListArgs {
    /// open, acknowledged or closed [default: all that are not closed]
    #[arg(long, value_name = "STATE", value_parser = word::<AlertState>)]
    state: Option<AlertState>,
    /// Only alerts of this kind
    #[arg(long, value_name = "KIND", value_parser = word::<AlertKind>)]
    kind: Option<AlertKind>,
    /// info, warning or critical
    #[arg(long, value_name = "SEVERITY", value_parser = word::<AlertSeverity>)]
    severity: Option<AlertSeverity>,
    /// Continue after this alert: the last one of the page before
    #[arg(long, value_name = "ALERT", value_parser = alert_id)]
    after: Option<AlertId>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<u32>(1..=1_000, "the number of alerts"))]
    limit: u32,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll alerts show alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9 --dir casino")]
pub struct AlertShowArgs {
    /// The alert
    #[arg(value_name = "ALERT", value_parser = alert_id)]
    alert: AlertId,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll alerts acknowledge alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9

It stays in the list, with your name, until it is closed.")]
pub struct AcknowledgeArgs {
    #[command(flatten)]
    act: AlertActArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll alerts close alt_0a1b2c3d4e5f60718293a4b5c6d7e8f9

For alerts about something that happened. Others close by themselves, and open
again if their condition holds on.")]
pub struct AlertCloseArgs {
    #[command(flatten)]
    act: AlertActArgs,
}

#[derive(Debug, Args)]
struct AlertActArgs {
    /// The alert
    #[arg(value_name = "ALERT", value_parser = alert_id)]
    alert: AlertId,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

pub fn run(command: &AlertsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        AlertsCommand::List(args) => show_all(args, json),
        AlertsCommand::Show(args) => {
            let found = ask(args.owner.connect()?, &format!("/v1/alerts/{}", args.alert))?;
            answer(&found, json, |found| text::one(found, Clock::machine().now(), Paint::stdout()))
        }
        AlertsCommand::Acknowledge(AcknowledgeArgs { act }) => act.send("acknowledge", json),
        AlertsCommand::Close(AlertCloseArgs { act }) => act.send("close", json),
    }
    .map(|()| Exit::Ok)
}

fn show_all(args: &AlertListArgs, json: bool) -> anyhow::Result<()> {
    let mut path = format!("/v1/alerts?limit={}", args.limit);
    let filters = [
        ("state", args.state.map(AlertState::as_str)),
        ("kind", args.kind.map(AlertKind::as_str)),
        ("severity", args.severity.map(AlertSeverity::as_str)),
        ("after", args.after.as_ref().map(AlertId::as_str)),
    ];
    for (name, value) in filters {
        path.extend(value.map(|value| format!("&{name}={value}")));
    }
    let found = ask(args.owner.connect()?, &path)?;
    let alerts = list(&found, "alerts")?.clone();
    answer(&found, json, |found| {
        if alerts.is_empty() {
            return "there are no such alerts\n".to_owned();
        }
        let (now, paint) = (Clock::machine().now(), Paint::stdout());
        let mut lines: Vec<String> = alerts.iter().map(|alert| text::line(alert, now, paint)).collect();
        lines.extend(found["next"].as_str().map(|next| format!("more: --after {next}\n")));
        lines.join("\n")
    })
}

impl AlertActArgs {
    fn send(&self, verb: &str, json: bool) -> anyhow::Result<()> {
        let path = format!("/v1/alerts/{}/{verb}", self.alert);
        let after = change(self.owner.connect()?, "POST", &path, Some(&json!({})), &self.retry)?;
        answer(&after, json, |after| text::line(after, Clock::machine().now(), Paint::stdout()))
    }
}

fn answer(found: &Value, json: bool, text: impl FnOnce(&Value) -> String) -> anyhow::Result<()> {
    if json { terminal::answer_json(found) } else { terminal::answer(&text(found)) }
}

fn word<T: FromStr<Err = &'static str>>(text: &str) -> Result<T, &'static str> {
    text.parse()
}

fn alert_id(text: &str) -> Result<AlertId, &'static str> {
    AlertId::parse(text).ok_or("an alert is alt_ and 32 hexadecimal digits; `bankroll alerts list` shows all")
}
