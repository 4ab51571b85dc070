//! `bankroll events`: what happened, as it happens, and once more for a webhook.

mod follow;
mod line;
mod list;
mod resend;
mod tail;

use bankroll_terminal::Exit;
use clap::Subcommand;

pub use follow::{EventFollower, FollowEnd};
pub use line::event_line;
use list::EventListArgs;
use resend::EventResendArgs;
use tail::EventTailArgs;

pub const EXAMPLES: &str = "\
Examples:
  bankroll events tail --dir casino
  bankroll events list --type 'deposit.*' --dir casino
  bankroll events resend whe_0123... --event evt_81_0 --dir casino";

#[derive(Debug, Subcommand)]
pub enum EventsCommand {
    /// Print events as they happen, one line each, until Ctrl-C
    Tail(EventTailArgs),
    /// List events, the oldest first
    List(EventListArgs),
    /// Have events delivered to a webhook once more
    Resend(EventResendArgs),
}

pub fn run(command: &EventsCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        EventsCommand::Tail(args) => tail::tail(args, json),
        EventsCommand::List(args) => list::list(args, json),
        EventsCommand::Resend(args) => resend::resend(args, json),
    }
    .map(|()| Exit::Ok)
}
