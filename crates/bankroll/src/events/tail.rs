//! `bankroll events tail`.

use bankroll_terminal::{self as terminal, Paint, StopSignal};
use clap::Args;

use super::{EventFollower, FollowEnd, event_line};
use crate::funds_call::SubjectArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll events tail --dir casino
  bankroll events tail --type 'deposit.*' --type spawn.committed --dir casino
  bankroll events tail --after 0 --dir casino      from the first event on
  bankroll events tail --server arena --key arena.key --dir casino

Prints the events that the key may see: the owner's all, a game server's those
of its server. With --json each line is the event as streams and webhooks have
it. If the node restarts, tail waits for it and goes on; nothing is missed.")]
pub struct EventTailArgs {
    /// Only this type: deposit.credited, or all of a kind: 'deposit.*'; repeatable
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Begin after the event with this sequence [default: now]
    #[arg(long, value_name = "SEQUENCE", value_parser = terminal::whole::<u64>(0..=u64::MAX, "a sequence"))]
    after: Option<u64>,
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn tail(args: &EventTailArgs, json: bool) -> anyhow::Result<()> {
    let stop = StopSignal::listen()?;
    let follower = EventFollower::new(args.subject.connect()?, &args.types, args.after);
    let end = follower.run(&stop, |event| {
        if json {
            terminal::answer(&format!("{event}\n"))
        } else {
            terminal::answer(&event_line(event, Paint::stdout()))
        }
    })?;
    if end == FollowEnd::NoNode {
        eprintln!("note: no node runs here, so that nothing happens; start one with `bankroll serve`");
    }
    Ok(())
}
