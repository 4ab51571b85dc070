//! `bankroll serve`: runs one node until a signal ends it.

use std::{io::BufRead, thread};

use bankroll_nodes::NodeRoles;
use bankroll_roles::{NodeLog, flows::StopFlag, serve};
use bankroll_terminal::{Exit, StopSignal, UsageError};
use clap::Args;

use crate::location::LocationArgs;

/// Far more files than a node opens.
#[cfg(unix)]
const FILES_MAX: u64 = 65_536;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll serve --dir casino                  books in a folder: one process, all roles
  bankroll serve --dir casino --roles books    one of several nodes: holds the books, or stands by
  bankroll serve --dir casino --json           one JSON object per line

The books must exist: `bankroll init` creates them, and nothing else does.

Several nodes need books.database, and certificates by which they recognise each
other: `bankroll nodes`. Each node has its own name (node.name). One of the
nodes with the role `books` holds them; when it ends, or is silent for longer
than books.lease_ms, another takes over. On SIGTERM or Ctrl-C a node finishes
its work and releases the books at once.

With chain.rpc set, the role `indexer` follows the chain, `books` credits what
is final and settles payouts, and `payouts` has them signed by the signer at
chain.signer (`bankroll signer`), sends them and tracks them. When the chain,
the signer or the database is unreachable, the node reports it once and waits.
Each table [chains.NAME] is a further chain in the same process; one that is
unreachable, or whose blocks cannot be believed, holds up no other.
While a node holds the books it re-reads all of them, slowly: records, balances,
holds, keys and indexes (books.scrub_percent of the time; a pause of
books.scrub_pause_s after each pass). A damaged index is rebuilt. Any other
damage stops the node with exit code 4, before it decides anything more by it.
`bankroll doctor` shows when the last pass ended (scrub.json).

The role `api` answers the Funds API at api.listen, and relays each request to
the node that holds the books. The role `notify` delivers events to webhooks.
The roles reconciler and drainer are reserved: they do nothing yet.")]
pub struct ServeArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// The roles of this node; overrides node.roles
    #[arg(long, value_name = "ROLES")]
    roles: Option<NodeRoles>,
    /// A node of `bankroll demo`: it ends when standard input does, and does not log each deposit and payout
    #[arg(long, hide = true)]
    demo: bool,
}

pub fn run(args: &ServeArgs, json: bool) -> anyhow::Result<Exit> {
    let mut location = args.location.clone();
    if let Some(roles) = args.roles {
        location.set.push(format!("node.roles={roles}").parse().map_err(UsageError)?);
    }
    let loaded = location.load()?;
    loaded.config.books.warn_if_lossy();
    let stop = StopFlag::on(StopSignal::listen()?);
    let node = &loaded.config.node;
    let log = NodeLog::new(node.name.clone(), json, node.log_level, !args.demo);
    if args.demo {
        end_with_input(stop.clone());
    }
    raise_file_limit();
    serve::run(loaded, log, stop)?;
    Ok(Exit::Ok)
}

/// Lets the node open many files: each connection is one, and a shell usually starts programs with a limit that is
/// lower than `api.connections_max`.
fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let wanted = maximum.map_or(FILES_MAX, |maximum| maximum.min(FILES_MAX));
        if current.is_some_and(|current| current < wanted) {
            // Refused: the limit stays, and idle connections give way.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
        }
    }
}

/// Stops the node when standard input ends: the demo that started it closed it, or has died.
fn end_with_input(stop: StopFlag) {
    thread::spawn(move || {
        std::io::stdin().lock().lines().take_while(Result::is_ok).for_each(drop);
        stop.request();
    });
}
