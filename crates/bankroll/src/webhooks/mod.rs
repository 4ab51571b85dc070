//! `bankroll webhooks`: where events are delivered to, and a listener for developers.

mod change;
mod create;
mod deliveries;
mod forward;
mod listen;
mod receiver;
mod secret;
mod show;

use std::{fmt, str::FromStr};

use bankroll_notify::EndpointId;
use bankroll_terminal::Exit;
use clap::Subcommand;

use change::{WebhookChangeArgs, WebhookRotateArgs};
use create::{WebhookCreateArgs, WebhookSetArgs};
use deliveries::WebhookDeliveriesArgs;
use listen::WebhookListenArgs;
use show::{WebhookListArgs, WebhookShowArgs};

pub const EXAMPLES: &str = "\
Examples:
  bankroll webhooks create https://hooks.example/bankroll --dir casino
  bankroll webhooks deliveries whe_0123... --dir casino
  bankroll webhooks listen --forward-to http://127.0.0.1:3000/ --dir casino";

#[derive(Debug, Subcommand)]
pub enum WebhooksCommand {
    /// Make a webhook; its secret is printed once
    Create(WebhookCreateArgs),
    /// List webhooks
    List(WebhookListArgs),
    /// Show a webhook
    Show(WebhookShowArgs),
    /// Change the URL or the types of a webhook
    Set(WebhookSetArgs),
    /// Make the next secret of a webhook; the one before it signs for a while, too
    Rotate(WebhookRotateArgs),
    /// Stop deliveries to a webhook
    Disable(WebhookChangeArgs),
    /// Deliver to a webhook again, first what it has missed
    Enable(WebhookChangeArgs),
    /// Show what was delivered to a webhook, and what was not
    Deliveries(WebhookDeliveriesArgs),
    /// Deliver a test event to a webhook
    Test(WebhookChangeArgs),
    /// Receive deliveries on this machine, check and print them; or forward events
    Listen(WebhookListenArgs),
}

pub fn run(command: &WebhooksCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        WebhooksCommand::Create(args) => create::create(args, json),
        WebhooksCommand::List(args) => show::list(args, json),
        WebhooksCommand::Show(args) => show::show(args, json),
        WebhooksCommand::Set(args) => create::set(args, json),
        WebhooksCommand::Rotate(args) => change::rotate(args, json),
        WebhooksCommand::Disable(args) => change::disable(args, json),
        WebhooksCommand::Enable(args) => change::enable(args, json),
        WebhooksCommand::Deliveries(args) => deliveries::list(args, json),
        WebhooksCommand::Test(args) => change::test(args, json),
        WebhooksCommand::Listen(args) => listen::listen(args, json),
    }
    .map(|()| Exit::Ok)
}

/// The id of a webhook on a command line.
#[derive(Clone, Debug)]
pub struct WebhookId(EndpointId);

impl FromStr for WebhookId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        EndpointId::parse(text).map(Self).ok_or("the id of a webhook is whe_ and 32 hexadecimal digits")
    }
}

impl fmt::Display for WebhookId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
