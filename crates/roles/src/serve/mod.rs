//! One node, with the roles that its configuration names.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `keeper` | taking the books when their lease is free, standing by, losing them, giving them up |
//! | `books_handler` | calls of other nodes to the books |
//! | `intent_gate` | which payouts other nodes may request |
//! | `forward` | the way to whoever holds the books |
//!
//! With books in a folder one process has all roles. With books in a database a node without them watches who holds them,
//! so that it knows where to forward; a node with them stands by until their lease is free.
//!
//! With a chain in the configuration the roles `indexer`, `books` and `payouts` carry deposits in and payouts out
//! (`crate::flows`). A chain's node, a signer or a database that is away ends nothing: it is said once, and tried again.
//!
//! A signal ends it in good order: calls that are in flight are answered, and the lease is given up at once.

mod books_handler;
pub mod forward;
mod intent_gate;
mod keeper;

use std::{path::PathBuf, sync::Arc};

use anyhow::Context;
use bankroll_nodes::{Identity, NodeRole, NodeRoles, Rights, Server};
use bankroll_store::{Clock, Location};
use bankroll_terminal::Usage;

use crate::{
    config::Loaded,
    flows::{RowsAt, Running, Setup, Stop},
    log::Log,
};
use books_handler::BooksHandler;
use intent_gate::IntentGate;
use keeper::{Flows, Keeper};

/// A node that is being started.
struct Node {
    loaded: Loaded,
    location: Location,
    log: Log,
    stop: Stop,
    /// The chain, if one is configured.
    chain: Option<Setup>,
}

/// Runs a node until it is told to stop: holds the books or stands by, and takes its part in the flows.
pub fn run(loaded: Loaded, log: Log, stop: Stop) -> anyhow::Result<()> {
    let (location, chain) = (loaded.books(), loaded.chain());
    let node = Node { loaded, location, log, stop, chain };
    match &node.location {
        Location::Folder(folder) => node.alone(folder.clone())?,
        Location::Postgres(_) => node.among_others()?,
    }
    node.log.say("stopped", "stopped", &[]);
    Ok(())
}

impl Node {
    /// Books in a folder: nobody else can be asked, and nobody else asks.
    fn alone(&self, folder: PathBuf) -> anyhow::Result<()> {
        let options = self.loaded.config.books.options(folder);
        self.keeper(BooksHandler::default().into(), true).run(&options)
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
        let gate = self.chain.clone().map(|chain| IntentGate::new(chain, self.location.clone()));
        let rights = gate.as_ref().map_or_else(Rights::default, IntentGate::rights);
        let desk = Arc::new(BooksHandler::new(gate));
        let server = Server::start(&config.node.listen, identity, rights, Arc::clone(&desk))
            .context("other nodes could not ask this one")?;
        let named = Some(config.node.address.clone()).filter(|address| !address.is_empty());
        let address = named.unwrap_or_else(|| server.address().to_string());
        self.log.say("listening", &format!("answers other nodes at {address}"), &[("address", address.clone().into())]);
        let mut options = config.books.options(self.location.clone());
        options.address = address;
        let kept = self.keeper(Arc::clone(&desk), false).run(&options);
        server.stop();
        desk.close();
        kept
    }

    fn keeper(&self, desk: Arc<BooksHandler>, alone: bool) -> Keeper<'_> {
        let queue_max = self.loaded.config.books.queue_max;
        let flows = self.chain.clone().map(|setup| Flows { setup, queue_max, alone });
        Keeper { desk, log: &self.log, stop: &self.stop, flows }
    }

    /// A node without books, or one that stands by with other roles besides.
    fn watch(&self, identity: &Identity, roles: NodeRoles) -> anyhow::Result<()> {
        let Location::Postgres(url) = &self.location else { return Ok(()) };
        let (mut running, rows) = (Running::default(), RowsAt::Database(url.clone()));
        if let Some(setup) = &self.chain {
            if roles.has(NodeRole::Indexer) {
                running.follow(setup, &rows, &self.log);
            }
            if roles.has(NodeRole::Payouts) {
                running.pay(setup, &rows, &self.log);
            }
        }
        let watched = forward::watch(identity, url, &self.log, &self.stop);
        running.stop();
        watched
    }
}
