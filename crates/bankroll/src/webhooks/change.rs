//! `bankroll webhooks rotate`, `enable`, `disable` and `test`.

use bankroll_terminal::{self as terminal, Paint, whole};
use clap::Args;
use serde_json::{Value, json};

use super::{WebhookId, show::sheet};
use crate::funds_call::{RetryArgs, SubjectArgs, change};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll webhooks disable whe_0123... --dir casino
  bankroll webhooks enable whe_0123... --dir casino
  bankroll webhooks test whe_0123... --dir casino")]
pub struct WebhookChangeArgs {
    /// The webhook
    #[arg(value_name = "WEBHOOK")]
    webhook: WebhookId,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    subject: SubjectArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll webhooks rotate whe_0123... --dir casino
  bankroll webhooks rotate whe_0123... --overlap 0 --dir casino

Deliveries have two signatures for a day, or for as long as --overlap says, so
that receivers can take the new secret over. With 0 the old one ends at once.")]
pub struct WebhookRotateArgs {
    #[command(flatten)]
    change: WebhookChangeArgs,
    /// For how many seconds the old secret signs as well [default: a day]
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(0..=604_800, "an overlap"))]
    overlap: Option<u64>,
}

pub fn rotate(args: &WebhookRotateArgs, json: bool) -> anyhow::Result<()> {
    let body = args.overlap.map_or_else(|| json!({}), |seconds| json!({ "overlap_seconds": seconds }));
    let answer = args.change.post("rotate", Some(&body))?;
    if json {
        return terminal::answer_json(&answer);
    }
    let head = Paint::stdout().good("rotated; keep the secret, it is not shown again");
    terminal::answer(&format!("{head}\n{}", sheet(&answer)))
}

pub fn enable(args: &WebhookChangeArgs, json: bool) -> anyhow::Result<()> {
    shown(&args.post("enable", None)?, json)
}

pub fn disable(args: &WebhookChangeArgs, json: bool) -> anyhow::Result<()> {
    shown(&args.post("disable", None)?, json)
}

pub fn test(args: &WebhookChangeArgs, json: bool) -> anyhow::Result<()> {
    let answer = args.post("test", None)?;
    if json {
        return terminal::answer_json(&answer);
    }
    terminal::answer(&format!("{} a test event for {}\n", Paint::stdout().good("requested"), args.webhook))
}

impl WebhookChangeArgs {
    fn post(&self, act: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let path = format!("{}/{}/{act}", self.subject.webhooks_path(), self.webhook);
        change(self.subject.connect()?, "POST", &path, body, &self.retry)
    }
}

fn shown(answer: &Value, json: bool) -> anyhow::Result<()> {
    if json { terminal::answer_json(answer) } else { terminal::answer(&sheet(answer)) }
}
