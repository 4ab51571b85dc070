//! `bankroll servers set`: what the owner changes about a game server, besides its pauses.

use bankroll_ledger::Name;
use bankroll_orders::Address;
use bankroll_terminal::{self as terminal, Paint};
use clap::Args;
use serde_json::{Value, json};

use crate::funds_call::{OwnerArgs, RetryArgs, change, in_path, list};

#[derive(Debug, Args)]
#[command(override_usage = "bankroll servers set <NAME> [OPTIONS]\n        \
    <--developer <ADDRESS>|--labels <TEXT>|--player-addresses <ON|OFF>>")]
#[command(after_help = "\
Examples:
  bankroll servers set arena --labels \"europe, ranked\" --dir casino
  bankroll servers set arena --player-addresses on --dir casino
  bankroll servers set arena --dir casino \\
    --developer 0x70997970C51812dc3A010C7d01b50e0d17dc79C8

With addresses of their own, players pay from any wallet; coins there can be
paid out only after they were moved to the hot wallet.")]
pub struct SetArgs {
    /// The name of the server
    #[arg(value_name = "NAME")]
    name: Name,
    #[command(flatten)]
    what: ChangedArgs,
    #[command(flatten)]
    retry: RetryArgs,
    #[command(flatten)]
    owner: OwnerArgs,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ChangedArgs {
    /// The wallet that reaches the server's fees
    #[arg(long, value_name = "ADDRESS")]
    developer: Option<Address>,
    /// Names for people
    #[arg(long, value_name = "TEXT")]
    labels: Option<String>,
    /// Whether each player gets a deposit address of their own
    #[arg(long, value_name = "ON|OFF", value_parser = ["on", "off"])]
    player_addresses: Option<String>,
}

pub fn set(args: &SetArgs, json: bool) -> anyhow::Result<()> {
    let (part, body) = args.what.request();
    let path = format!("/v1/servers/{}/{part}", in_path(args.name.as_str()));
    let answer = change(args.owner.connect()?, "PUT", &path, Some(&body), &args.retry)?;
    if json {
        return terminal::answer_json(&answer);
    }
    let Some(changed) = list(&answer, "changes")?.first() else {
        return terminal::answer("nothing had to change\n");
    };
    let version = &changed["server"]["version"];
    terminal::answer(&format!("{} {}: version {version}\n", Paint::stdout().good("changed"), args.name))
}

impl ChangedArgs {
    /// The last part of the path, and the body.
    fn request(&self) -> (&'static str, Value) {
        let Self { developer, labels, player_addresses } = self;
        match (developer, labels) {
            (Some(developer), _) => ("developer", json!({ "developer": developer })),
            (None, Some(labels)) => ("labels", json!({ "labels": labels })),
            (None, None) => ("player-addresses", json!({ "enabled": player_addresses.as_deref() == Some("on") })),
        }
    }
}
