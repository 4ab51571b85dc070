//! `bankroll webhooks listen`: deliveries as a developer wants to see them.

use bankroll_terminal::{self as terminal, StopSignal, whole};
use clap::Args;

use super::{forward, receiver, secret};
use crate::funds_call::SubjectArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll webhooks listen --secret whsec_...
  bankroll webhooks listen --forward-to http://127.0.0.1:3000/ --dir casino

Without --forward-to it is a receiver: it checks the signature of each delivery
with --secret, prints the event, and answers 204, or 401 if the signature is
wrong. `bankroll webhooks create http://127.0.0.1:4242/` makes such a webhook.

With --forward-to no webhook is necessary: it follows the events that the key
may see, and sends each to your program as a webhook would, signed with a secret
of this folder, which stays the same. A failure is printed, and not retried.")]
pub struct WebhookListenArgs {
    /// The port on this machine
    #[arg(long, value_name = "PORT", default_value_t = 4_242, conflicts_with = "forward_to")]
    #[arg(value_parser = whole::<u16>(0..=65_535, "a port"))]
    port: u16,
    /// The secret of the webhook, or of what is forwarded: whsec_...
    #[arg(long, value_name = "SECRET")]
    secret: Option<String>,
    /// Send each event to this URL
    #[arg(long, value_name = "URL", value_parser = forward::url)]
    forward_to: Option<String>,
    /// Forward only this type: deposit.credited, or all of a kind: 'deposit.*'; repeatable
    #[arg(long = "type", value_name = "TYPE", requires = "forward_to")]
    types: Vec<String>,
    /// Forward from the event after this sequence on [default: now]
    #[arg(long, value_name = "SEQUENCE", requires = "forward_to")]
    #[arg(value_parser = whole::<u64>(0..=u64::MAX, "a sequence"))]
    after: Option<u64>,
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn listen(args: &WebhookListenArgs, json: bool) -> anyhow::Result<()> {
    let stop = StopSignal::listen()?;
    // Not by the parser of arguments: its error would repeat the secret.
    let given = args.secret.as_deref().map(secret::parse).transpose().map_err(terminal::UsageError)?;
    let Some(url) = &args.forward_to else { return receiver::run(args.port, given, json, &stop) };
    let client = args.subject.connect()?;
    let secret = given.map_or_else(|| secret::of_folder(&args.subject.owner.location.base()), Ok)?;
    forward::run(client, (&args.types, args.after), url, &secret, json, &stop)
}
