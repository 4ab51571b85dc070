//! `bankroll serve`: one node, until a signal ends it.

use std::{io::BufRead, thread};

use bankroll_nodes::NodeRoles;
use bankroll_roles::{Log, flows::Stop, serve};
use bankroll_terminal::{Exit, Interrupt, Usage};
use clap::Args;

use crate::place::Place;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll serve --dir casino                     books in a folder: one process, all roles
  bankroll serve --dir casino --roles books       one of several nodes: holds the books, or stands by
  bankroll serve --dir casino --roles api --json  one JSON object a line

Several nodes need books.database, and certificates by which they know each
other: `bankroll nodes`. Each node has a name of its own (node.name). Of the
nodes with the role `books` one holds them; when it ends or goes silent for
longer than books.lease_ms, another takes over. SIGTERM and Ctrl-C let it
finish what it has, and give the books up at once.

With chain.rpc set, the role `indexer` follows the chain, `books` credits what
is final and settles payouts, and `payouts` has them signed by the signer at
chain.signer (`bankroll signer`), sent, and watched. A node, a signer or a
database that is away is said once and waited for.")]
pub struct ServeArgs {
    #[command(flatten)]
    place: Place,
    /// What this node does, above the configuration's node.roles
    #[arg(long, value_name = "ROLES")]
    roles: Option<NodeRoles>,
    /// A node of `bankroll demo`: it ends when standard input does, and does not tell of each deposit and payout
    #[arg(long, hide = true)]
    demo: bool,
}

pub fn run(args: &ServeArgs, json: bool) -> anyhow::Result<Exit> {
    let mut place = args.place.clone();
    if let Some(roles) = args.roles {
        place.set.push(format!("node.roles={roles}").parse().map_err(Usage)?);
    }
    let loaded = place.load()?;
    loaded.config.books.warn_if_lossy();
    let stop = Stop::on(Interrupt::listen()?);
    let log = Log::new(loaded.config.node.name.clone(), json, !args.demo);
    if args.demo {
        end_with_input(stop.clone());
    }
    serve::run(loaded, log, stop)?;
    Ok(Exit::Ok)
}

/// Ends the node when standard input does: whoever started it is gone, or wants it to.
fn end_with_input(stop: Stop) {
    thread::spawn(move || {
        std::io::stdin().lock().lines().take_while(Result::is_ok).for_each(drop);
        stop.ask();
    });
}
