//! `bankroll serve`: one node, with the roles that its configuration names.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `keeper` | taking the books when their lease is free, standing by, losing them, giving them up |
//! | `desk` | the books as other nodes ask them |
//! | `inbox` | what other roles hand over, taken in while this node holds the books |
//! | `forward` | the way to whoever holds the books |
//! | `log` | one line for what happens, for people or programs |
//!
//! With books in a folder one process has all roles. With books in a database a node without them watches who holds them,
//! so that it knows where to forward; a node with them stands by until their lease is free.
//!
//! A signal ends it in good order: calls that are in flight are answered, and the lease is given up at once.

mod desk;
pub mod forward;
mod inbox;
mod keeper;
mod log;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context;
use bankroll_nodes::{Identity, NodeRole, NodeRoles, Rights, Server};
use bankroll_store::{Clock, Location};
use clap::Args;

use crate::{
    config::Loaded,
    demo,
    exit::{Exit, Usage},
    interrupt::Interrupt,
    place::Place,
};
use desk::BooksDesk;
use keeper::Keeper;
pub use log::Log;

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
finish what it has, and give the books up at once.")]
pub struct ServeArgs {
    #[command(flatten)]
    place: Place,
    /// What this node does, above the configuration's node.roles
    #[arg(long, value_name = "ROLES")]
    roles: Option<NodeRoles>,
    /// A node of `bankroll demo`: its chain is what comes in on standard input, and it ends when that does
    #[arg(long, hide = true)]
    demo: bool,
}

/// When to stop: a signal, or the end of a demo.
#[derive(Clone, Debug)]
pub struct Stop {
    interrupt: Interrupt,
    over: Arc<AtomicBool>,
}

impl Stop {
    pub fn is_asked(&self) -> bool {
        self.interrupt.is_asked() || self.over.load(Ordering::Relaxed)
    }

    pub fn ask(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// A node that is being started.
struct Node {
    loaded: Loaded,
    location: Location,
    log: Log,
    stop: Stop,
    demo: bool,
}

pub fn run(args: &ServeArgs, json: bool) -> anyhow::Result<Exit> {
    let mut place = args.place.clone();
    if let Some(roles) = args.roles {
        place.set.push(format!("node.roles={roles}").parse().map_err(Usage)?);
    }
    let loaded = place.load()?;
    loaded.config.books.warn_if_lossy();
    let location = loaded.books();
    let stop = Stop { interrupt: Interrupt::listen()?, over: Arc::default() };
    let log = Log::new(loaded.config.node.name.clone(), json);
    let node = Node { loaded, location, log, stop, demo: args.demo };
    match &node.location {
        Location::Folder(folder) => node.alone(folder.clone())?,
        Location::Postgres(_) => node.among_others()?,
    }
    node.log.say("stopped", "stopped", &[]);
    Ok(Exit::Ok)
}

impl Node {
    /// Books in a folder: nobody else can be asked, and nobody else asks.
    fn alone(&self, folder: PathBuf) -> anyhow::Result<()> {
        let options = self.loaded.config.books.options(folder);
        self.keeper(BooksDesk::default().into()).run(&options)
    }

    /// Books in a database: holds them or stands by, and forwards otherwise.
    fn among_others(&self) -> anyhow::Result<()> {
        let config = &self.loaded.config;
        let roles = config.node.roles;
        let identity = self.identity(roles)?;
        let others = roles.iter().any(|role| role != NodeRole::Books);
        std::thread::scope(|scope| {
            let watching = others.then(|| scope.spawn(|| self.watch(&identity, roles)));
            let kept = if roles.has(NodeRole::Books) { self.keep(&identity) } else { Ok(()) };
            if kept.is_err() {
                self.stop.ask();
            }
            let panicked = |_| Err(anyhow::anyhow!("a thread panicked; its message is above"));
            let watched = watching.map_or(Ok(()), |thread| thread.join().unwrap_or_else(panicked));
            kept.and(watched)
        })
    }

    /// Who this node is, and that it may be what it is told to be.
    fn identity(&self, roles: NodeRoles) -> anyhow::Result<Identity> {
        let identity =
            Identity::load(&self.loaded.certificates(), &self.loaded.config.node.name, Clock::machine().now())?;
        if !roles.is_within(identity.roles()) {
            let (node, may) = (identity.node(), identity.roles());
            return Err(Usage(format!("the certificate of {node} is for the roles {may}, not for {roles}")).into());
        }
        Ok(identity)
    }

    fn keep(&self, identity: &Identity) -> anyhow::Result<()> {
        let config = &self.loaded.config;
        let desk = Arc::new(BooksDesk::default());
        let server = Server::start(&config.node.listen, identity, Rights::default(), Arc::clone(&desk))
            .context("other nodes could not ask this one")?;
        let named = Some(config.node.address.clone()).filter(|address| !address.is_empty());
        let address = named.unwrap_or_else(|| server.address().to_string());
        self.log.say("listening", &format!("answers other nodes at {address}"), &[("address", address.clone().into())]);
        let mut options = config.books.options(self.location.clone());
        options.address = address;
        if self.demo {
            demo::end_with_input(self.stop.clone());
        }
        let kept = self.keeper(desk).run(&options);
        server.stop();
        kept
    }

    fn keeper(&self, desk: Arc<BooksDesk>) -> Keeper<'_> {
        let rows_max = inbox::rows_max(self.loaded.config.books.queue_max);
        Keeper { desk, log: &self.log, stop: &self.stop, rows_max, demo: self.demo }
    }

    /// A node without books, or one that stands by with other roles besides.
    fn watch(&self, identity: &Identity, roles: NodeRoles) -> anyhow::Result<()> {
        let Location::Postgres(url) = &self.location else { return Ok(()) };
        let chain = [NodeRole::Indexer, NodeRole::Payouts].into_iter().find(|role| roles.has(*role));
        match chain.filter(|_| self.demo) {
            Some(role) => demo::imagine_chain(role, url, &self.log, &self.stop),
            None => forward::watch(identity, url, &self.log, &self.stop),
        }
    }
}
