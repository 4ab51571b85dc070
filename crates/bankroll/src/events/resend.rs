//! `bankroll events resend`.

use bankroll_terminal::{self as terminal, Paint};
use clap::Args;
use serde_json::json;

use crate::{
    funds_call::{RetryArgs, SubjectArgs, change},
    webhooks::WebhookId,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll events resend whe_0123... --event evt_81_0 --dir casino
  bankroll events resend whe_01... --from evt_81_0 --to evt_99_0 --dir casino

The webhook gets each of these events once more that its types accept, with the
same id as before. `bankroll webhooks deliveries` shows what became of it.")]
pub struct EventResendArgs {
    /// The webhook
    #[arg(value_name = "WEBHOOK")]
    webhook: WebhookId,
    /// One event
    #[arg(long, value_name = "EVENT", conflicts_with_all = ["from", "to"], required_unless_present = "from")]
    event: Option<String>,
    /// The first of several events
    #[arg(long, value_name = "EVENT", requires = "to")]
    from: Option<String>,
    /// The last of several events
    #[arg(long, value_name = "EVENT", requires = "from")]
    to: Option<String>,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn resend(args: &EventResendArgs, json: bool) -> anyhow::Result<()> {
    let first = args.event.as_ref().or(args.from.as_ref());
    let body = json!({ "from": first, "to": args.to.as_ref().or(first) });
    let path = format!("{}/{}/resend", args.subject.webhooks_path(), args.webhook);
    let answer = change(args.subject.connect()?, "POST", &path, Some(&body), &args.retry)?;
    if json {
        return terminal::answer_json(&answer);
    }
    terminal::answer(&format!("{} events for {}\n", Paint::stdout().good("requested"), args.webhook))
}
