//! `bankroll nodes`: the certificates by which nodes know each other and what each may do.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bankroll_nodes::{Authority, CA_CERTIFICATE, CA_KEY, NodeName, NodeRoles};
use bankroll_store::Clock;
use bankroll_terminal::{self as terminal, Exit, Paint};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::place::Place;

pub const EXAMPLES: &str = "\
Examples:
  bankroll nodes init --dir casino                      the authority: casino/nodes/ca.pem and ca.key
  bankroll nodes add books-1 --roles books --dir casino
  bankroll nodes add api-1 --roles api,notify --days 90 --dir casino

Give each node ca.pem and its own two files, and keep ca.key away from all of
them: whoever has it can make a node with any role. A certificate says which
principals a node may speak for; the node that holds the books keeps to it.";

#[derive(Debug, Subcommand)]
pub enum NodesCommand {
    /// Make the authority of a deployment
    #[command(after_help = EXAMPLES)]
    Init(InitArgs),
    /// Make the certificate and the key of one node
    #[command(after_help = EXAMPLES)]
    Add(AddArgs),
}

#[derive(Debug, Args)]
pub struct InitArgs {
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// The node's name: small letters, digits, hyphens
    name: NodeName,
    /// What it may act for: "all", or some of books,api,indexer,payouts,notify,reconciler,drainer
    #[arg(long, value_name = "ROLES")]
    roles: NodeRoles,
    /// For how many days
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=3_650))]
    days: u32,
    #[command(flatten)]
    place: Place,
}

pub fn run(command: &NodesCommand, json: bool) -> anyhow::Result<Exit> {
    let now = Clock::machine().now();
    let made = match command {
        NodesCommand::Init(args) => {
            let folder = args.place.load()?.certificates();
            Authority::init(&folder, now)?;
            [folder.join(CA_CERTIFICATE), folder.join(CA_KEY)]
        }
        NodesCommand::Add(args) => {
            let folder = args.place.load()?.certificates();
            let authority = Authority::open(&folder, now).context("no authority; `bankroll nodes init` makes one")?;
            authority.add(&folder, &args.name, args.roles, args.days, now)?
        }
    };
    tell(&made, json)?;
    Ok(Exit::Ok)
}

fn tell(made: &[PathBuf; 2], json: bool) -> anyhow::Result<()> {
    let [certificate, key] = made;
    if json {
        return terminal::answer_json(&json!({ "certificate": certificate, "key": key }));
    }
    let line = |path: &Path, what: &str| format!("{} {} ({what})\n", Paint::stdout().good("made"), path.display());
    let text = line(certificate, "may be seen by anybody") + &line(key, "secret: its owner alone can read it");
    terminal::answer(&text)
}
