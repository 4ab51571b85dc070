//! `bankroll webhooks create` and `set`.

use bankroll_terminal::{self as terminal, Paint};
use clap::Args;
use serde_json::{Map, Value, json};

use super::{WebhookId, show::sheet};
use crate::funds_call::{RetryArgs, SubjectArgs, change};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll webhooks create https://hooks.example/bankroll --dir casino
  bankroll webhooks create https://a.example/ --type 'spawn.*' --dir casino
  bankroll webhooks create http://127.0.0.1:4242/ --server arena \\
    --key arena.key --dir casino

The secret verifies deliveries, as Standard Webhooks defines it. It is printed
once. Targets on this machine need notify.allow_private_targets=true.")]
pub struct WebhookCreateArgs {
    /// Where events are sent to
    #[arg(value_name = "URL")]
    url: String,
    /// Only this type: deposit.credited, or all of a kind: 'deposit.*'; repeatable
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    subject: SubjectArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll webhooks set whe_0123... --url https://a.example/two --dir casino
  bankroll webhooks set whe_0123... --type 'spawn.*' --dir casino")]
pub struct WebhookSetArgs {
    /// The webhook
    #[arg(value_name = "WEBHOOK")]
    webhook: WebhookId,
    /// Where events are sent to from now on
    #[arg(long, value_name = "URL", required_unless_present = "types")]
    url: Option<String>,
    /// The types from now on: deposit.credited, 'deposit.*', '*' for all; repeatable
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn create(args: &WebhookCreateArgs, json: bool) -> anyhow::Result<()> {
    let body = json!({ "url": args.url, "types": args.types });
    let path = args.subject.webhooks_path();
    let answer = change(args.subject.connect()?, "POST", &path, Some(&body), &args.retry)?;
    if json {
        return terminal::answer_json(&answer);
    }
    let head = Paint::stdout().good("created; keep the secret, it is not shown again");
    terminal::answer(&format!("{head}\n{}", sheet(&answer)))
}

pub fn set(args: &WebhookSetArgs, json: bool) -> anyhow::Result<()> {
    let mut body = Map::new();
    body.extend(args.url.as_ref().map(|url| ("url".to_owned(), json!(url))));
    body.extend((!args.types.is_empty()).then(|| ("types".to_owned(), json!(args.types))));
    let path = format!("{}/{}", args.subject.webhooks_path(), args.webhook);
    let answer = change(args.subject.connect()?, "PATCH", &path, Some(&Value::Object(body)), &args.retry)?;
    if json { terminal::answer_json(&answer) } else { terminal::answer(&sheet(&answer)) }
}
