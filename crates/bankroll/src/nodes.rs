//! `bankroll nodes`: the certificates by which nodes recognise each other, and which name the roles of each.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bankroll_ledger::Time;
use bankroll_nodes::{Authority, CA_CERTIFICATE, CA_KEY, NodeName, NodeRoles};
use bankroll_store::Clock;
use bankroll_terminal::{self as terminal, Exit, Paint};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::location::LocationArgs;

pub const EXAMPLES: &str = "\
Examples:
  bankroll nodes init --dir casino      the authority: nodes/ca.pem and ca.key
  bankroll nodes add books-1 --roles books --dir casino
  bankroll nodes add payouts-1 --roles indexer,payouts --days 90 --dir casino
  bankroll nodes renew books-1 --dir casino      the same key, 365 days more
  bankroll nodes revoke payouts-1 --dir casino   no node accepts it any more

Give each node ca.pem and its own two files, and keep ca.key away from all of
them: with that key anyone can create a node with any role. A certificate names
the roles of its node; the node that holds the books enforces them.

A running node reads its files again when they change. Copy a renewed
certificate to its node, and revoked.pem to every node.";

#[derive(Debug, Subcommand)]
pub enum NodesCommand {
    /// Create the certificate authority of a deployment
    #[command(after_help = EXAMPLES)]
    Init(NodesInitArgs),
    /// Create the certificate and the key of one node
    #[command(after_help = EXAMPLES)]
    Add(NodesAddArgs),
    /// Renew the certificate of one node: the same key and roles
    #[command(after_help = EXAMPLES)]
    Renew(NodesRenewArgs),
    /// Revoke the certificate of one node, and all earlier ones of its key
    #[command(after_help = EXAMPLES)]
    Revoke(NodesRevokeArgs),
}

#[derive(Debug, Args)]
pub struct NodesInitArgs {
    #[command(flatten)]
    location: LocationArgs,
}

#[derive(Debug, Args)]
pub struct NodesAddArgs {
    /// The node's name: lower-case letters, digits, hyphens
    name: NodeName,
    /// The node's roles: "all", or some of books,api,indexer,payouts,notify; reconciler,drainer
    /// are reserved and do nothing yet
    #[arg(long, value_name = "ROLES")]
    roles: NodeRoles,
    /// Days until the certificate expires
    #[arg(
        long, value_name = "N", default_value_t = 365,
        value_parser = terminal::whole::<u32>(1..=3_650, "the number of days")
    )]
    days: u32,
    #[command(flatten)]
    location: LocationArgs,
}

#[derive(Debug, Args)]
pub struct NodesRenewArgs {
    /// The node's name, as in its certificate
    name: NodeName,
    /// Days until the new certificate expires
    #[arg(
        long, value_name = "N", default_value_t = 365,
        value_parser = terminal::whole::<u32>(1..=3_650, "the number of days")
    )]
    days: u32,
    #[command(flatten)]
    location: LocationArgs,
}

#[derive(Debug, Args)]
pub struct NodesRevokeArgs {
    /// The node's name, as in its certificate
    name: NodeName,
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(command: &NodesCommand, json: bool) -> anyhow::Result<Exit> {
    let now = Clock::machine().now();
    match command {
        NodesCommand::Init(args) => {
            let folder = args.location.load()?.certificates();
            Authority::init(&folder, now)?;
            print_created(&[folder.join(CA_CERTIFICATE), folder.join(CA_KEY)], json)?;
        }
        NodesCommand::Add(args) => {
            let (authority, folder) = open(&args.location, now)?;
            print_created(&authority.add(&folder, &args.name, args.roles, args.days, now)?, json)?;
        }
        NodesCommand::Renew(args) => {
            let (authority, folder) = open(&args.location, now)?;
            let certificate = authority.renew(&folder, &args.name, args.days, now)?;
            let next = "copy it to its node, which uses it without a restart";
            print_changed("renewed", "certificate", &certificate, next, json)?;
        }
        NodesCommand::Revoke(args) => {
            let (authority, folder) = open(&args.location, now)?;
            let list = authority.revoke(&folder, &args.name, now)?;
            let next = "copy it to every node: each ends its connections with the revoked one within seconds";
            print_changed("revoked", "list", &list, next, json)?;
        }
    }
    Ok(Exit::Ok)
}

/// The authority, and the folder of its certificates.
fn open(location: &LocationArgs, now: Time) -> anyhow::Result<(Authority, PathBuf)> {
    let folder = location.load()?.certificates();
    let authority = Authority::open(&folder, now).with_context(|| {
        let dir = location.base();
        format!("no certificate authority; create one with `bankroll nodes init --dir {}`", dir.display())
    })?;
    Ok((authority, folder))
}

fn print_changed(done: &str, what: &str, file: &Path, next: &str, json: bool) -> anyhow::Result<()> {
    if json {
        return terminal::answer_json(&json!({ what: file }));
    }
    terminal::answer(&format!("{}: {}\n{next}\n", Paint::stdout().good(done), file.display()))
}

fn print_created(files: &[PathBuf; 2], json: bool) -> anyhow::Result<()> {
    let [certificate, key] = files;
    if json {
        return terminal::answer_json(&json!({ "certificate": certificate, "key": key }));
    }
    let line = |path: &Path, what: &str| format!("{} {} ({what})\n", Paint::stdout().good("created"), path.display());
    let text = line(certificate, "public") + &line(key, "secret: only its owner can read it");
    terminal::answer(&text)
}
