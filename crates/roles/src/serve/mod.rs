//! One node, with the roles that its configuration names.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `keeper` | acquiring the ledger when its lease is free, standing by, losing it, releasing it |
//! | `books_handler` | calls of other nodes and of commands to the books |
//! | `scrubber` | re-reading the books while they are held |
//! | `forward` | forwarding to the holder of the ledger |
//! | `funds_api` | the Funds API: its router where the ledger is held, its front where callers reach it |
//!
//! With books in a folder one process has all roles, and commands reach it by a socket in that folder. With books in a
//! database a node without the role `books` watches who holds the ledger, so that it knows where to forward; a node with
//! that role stands by until the lease is free.
//!
//! The role `notify` delivers events to webhooks, with a chain and without.
//!
//! With chains in the configuration the roles `indexer`, `books` and `payouts` carry deposits in and payouts out of
//! each (`crate::flows`). An RPC node, a signer or a database that is unreachable ends nothing: it is logged once, and
//! retried.
//!
//! A signal stops the node gracefully: calls in flight are answered, and the lease is released at once.

mod books_handler;
mod contract_checks;
pub mod forward;
pub mod funds_api;
mod keeper;
mod scrubber;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use anyhow::Context;
use bankroll_api::front::{FrontHandle, MetricsHandle};
use bankroll_nodes::{NodeIdentity, NodeRole, NodeRoles, NodeServer};
use bankroll_store::{Clock, HeadWatch, LedgerOptions, Location};
use bankroll_terminal::UsageError;

use crate::{
    alerts::{AlertChain, AlertCounts, AlertSettings},
    config::LoadedConfig,
    flows::{FlowSetup, FlowThreads, RowsLocation, StopFlag},
    log::NodeLog,
};
use books_handler::BooksHandler;
use funds_api::FundsApi;
use keeper::{HolderFlows, LeaseKeeper};
use scrubber::ScrubSettings;

struct ServeNode {
    loaded: LoadedConfig,
    location: Location,
    log: NodeLog,
    stop: StopFlag,
    /// The chains that are configured.
    chains: Vec<FlowSetup>,
    /// Open alerts, while this node holds the books.
    counts: AlertCounts,
}

/// The socket that commands use while a node holds the books of a folder, in that folder.
pub const BOOKS_SOCKET: &str = "books.sock";

/// Runs a node until a stop is requested: holds the ledger or stands by, and runs the flows of its roles.
pub fn run(loaded: LoadedConfig, log: NodeLog, stop: StopFlag) -> anyhow::Result<()> {
    let chains = loaded.chains();
    run_with_chains(loaded, chains, log, stop)
}

/// The same with other chains than the configured ones: the chain of a demo is in the same process.
pub fn run_with_chains(
    loaded: LoadedConfig,
    chains: Vec<FlowSetup>,
    log: NodeLog,
    stop: StopFlag,
) -> anyhow::Result<()> {
    let location = loaded.books();
    let node = ServeNode { loaded, location, log, stop, chains, counts: AlertCounts::default() };
    match &node.location {
        Location::Folder(folder) => node.alone(folder.clone())?,
        Location::Postgres(_) => node.among_others()?,
    }
    node.log.write("stopped", "stopped", &[]);
    Ok(())
}

impl ServeNode {
    /// Books in a folder: this process is the only node.
    fn alone(&self, folder: PathBuf) -> anyhow::Result<()> {
        let socket = folder.join(BOOKS_SOCKET);
        let options = self.loaded.ledger_options();
        let api = FundsApi::new(&self.loaded, &self.chains);
        let keeper = self.keeper(Arc::default(), &api, true);
        let kept = LeaseKeeper { commands: Some(socket), ..keeper }.run(&options);
        api.drain();
        kept
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
                self.stop.request();
            }
            let panicked = |_| Err(anyhow::anyhow!("a thread panicked; its message is above"));
            let watched = watching.map_or(Ok(()), |thread| thread.join().unwrap_or_else(panicked));
            kept.and(watched)
        })
    }

    /// The identity of this node, if its certificate allows the configured roles.
    fn identity(&self, roles: NodeRoles) -> anyhow::Result<NodeIdentity> {
        let identity =
            NodeIdentity::load(&self.loaded.certificates(), &self.loaded.config.node.name, Clock::machine().now())?;
        if !roles.is_within(identity.roles()) {
            let (node, may) = (identity.node(), identity.roles());
            return Err(UsageError(format!("the certificate of {node} is for the roles {may}, not for {roles}")).into());
        }
        Ok(identity)
    }

    fn keep(&self, identity: &NodeIdentity) -> anyhow::Result<()> {
        let config = &self.loaded.config;
        let handler = Arc::<BooksHandler>::default();
        let server = NodeServer::start(&config.node.listen, identity, Arc::clone(&handler))
            .context("cannot listen for other nodes")?;
        let named = Some(config.node.address.clone()).filter(|address| !address.is_empty());
        let address = named.unwrap_or_else(|| server.address().to_string());
        self.log.write(
            "listening",
            &format!("answers other nodes at {address}"),
            &[("address", address.clone().into())],
        );
        let options = LedgerOptions { address, ..self.loaded.ledger_options() };
        let api = FundsApi::new(&self.loaded, &self.chains);
        // The front of a node with the role `api` has them, too.
        let metrics = (!config.node.roles.has(NodeRole::Api)).then(|| self.open_metrics()).transpose()?;
        let kept = self.keeper(handler, &api, false).run(&options);
        drop(metrics);
        server.stop();
        kept
    }

    /// `/metrics` of a node without a front, if its configuration names an address.
    fn open_metrics(&self) -> anyhow::Result<Option<MetricsHandle>> {
        let counts = self.counts.clone();
        let gauges = Arc::new(move || counts.gauges());
        funds_api::open_metrics(&self.loaded.config.books.metrics, "books.metrics", gauges, &self.log)
    }

    fn keeper<'a>(&'a self, handler: Arc<BooksHandler>, api: &'a FundsApi, alone: bool) -> LeaseKeeper<'a> {
        let queue_max = self.loaded.config.books.queue_max;
        let flows = HolderFlows { chains: self.chains.clone(), queue_max, alone };
        let books = &self.loaded.config.books;
        let scrub = ScrubSettings {
            percent: books.scrub_percent,
            pause: Duration::from_secs(books.scrub_pause_s),
            file: self.loaded.scrub_file(),
        };
        let alerts = AlertSettings {
            node: self.loaded.config.node.name.clone(),
            folder: match &self.location {
                Location::Folder(folder) => Some(folder.clone()),
                Location::Postgres(_) => None,
            },
            certificates: self.loaded.certificates(),
            scrub_file: self.loaded.scrub_file(),
            chains: self.chains.iter().map(alert_chain).collect(),
            counts: self.counts.clone(),
        };
        LeaseKeeper {
            handler,
            log: &self.log,
            stop: &self.stop,
            flows,
            heads: self.loaded.head_settings(),
            deliveries: alone.then(|| self.loaded.notify()),
            commands: None,
            scrub,
            alerts,
            api,
            front: alone.then_some(&self.loaded),
        }
    }

    /// The roles other than `books`, and watching who holds the ledger.
    fn watch(&self, identity: &NodeIdentity, roles: NodeRoles) -> anyhow::Result<()> {
        let Location::Postgres(url) = &self.location else { return Ok(()) };
        let (mut running, rows) = (FlowThreads::default(), RowsLocation::Database(url.clone()));
        if roles.has(NodeRole::Indexer) {
            running.follow(&self.chains, &rows, &self.log);
        }
        if roles.has(NodeRole::Payouts) {
            running.pay(&self.chains, &rows, &self.log);
        }
        if roles.has(NodeRole::Notify) {
            running.deliver(&self.loaded.notify(), &rows, &self.log);
        }
        // The role `books` notes heads itself, in the same file; and a role without a flow cannot read the journal.
        let reads = [NodeRole::Indexer, NodeRole::Payouts, NodeRole::Reconciler].iter().any(|role| roles.has(*role));
        let heads = || HeadWatch::new(url.clone(), self.loaded.head_file());
        let heads = (reads && !roles.has(NodeRole::Books)).then(heads);
        let forwarder = Arc::new(forward::to_holder(identity, url)?);
        let reachable = Arc::new(AtomicBool::new(false));
        let front = roles.has(NodeRole::Api).then(|| {
            let (forwarder, reachable) = (Arc::clone(&forwarder), Arc::clone(&reachable));
            funds_api::relaying_front(&self.loaded, forwarder, reachable, self.counts.clone(), &self.log)
        });
        let front = front.transpose()?;
        let watched = forward::watch(&forwarder, &reachable, heads, &self.log, &self.stop);
        front.into_iter().for_each(FrontHandle::drain);
        running.stop();
        watched
    }
}

fn alert_chain(setup: &FlowSetup) -> AlertChain {
    AlertChain { name: setup.chain().clone(), is_development: setup.profile.is_development }
}
