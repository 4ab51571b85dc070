//! Holding the ledger: acquired when its lease is free, released when the node ends, lost when another node has
//! taken over.
//!
//! ```text
//! waiting --(lease free)--> holding --(fenced, server gone for too long)--> waiting
//!                              `--(stop requested)--> drained, lease released
//! ```
//!
//! A node that lost the ledger goes back to waiting. It ends by itself only if waiting cannot help: the books are
//! not sound, or a newer program has written them.

use std::{path::PathBuf, sync::Arc, thread, time::Duration};

use anyhow::Context;
use bankroll_nodes::LocalServer;
use bankroll_store::{HeadWatch, LeaseWatch, Ledger, LedgerOptions, Location, Reader, StoreError};
use bankroll_terminal::counted;
use serde_json::Value;

use super::{
    books_handler::BooksHandler,
    forward,
    funds_api::FundsApi,
    scrubber::{self, ScrubSettings, Scrubber},
};
use crate::{
    alerts::{AlertSettings, AlertThread},
    config::LoadedConfig,
    flows::{FlowSetup, FlowThreads, HeadSettings, NotifySetup, RowsLocation, StopFlag, prepare_books},
    log::{NodeLog, on_one_line},
};

/// How often a node that stands by checks the lease, and a holder checks itself.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often a folder that another process has is tried before that is an error: three seconds.
const IN_USE_TRIES: u32 = 30;
const UNSOUND: &str = "the books are not sound";
const CHECK_EVERY: Duration = Duration::from_millis(20);

pub struct LeaseKeeper<'a> {
    pub handler: Arc<BooksHandler>,
    pub log: &'a NodeLog,
    pub stop: &'a StopFlag,
    /// What runs while the ledger is held.
    pub flows: HolderFlows,
    /// How heads of the journal are published while the ledger is held.
    pub heads: HeadSettings,
    /// Deliveries to webhooks, if this process makes them; the holder disables endpoints that were given up in any case.
    pub deliveries: Option<NotifySetup>,
    /// The socket for commands while the ledger is held; only for books in a folder.
    pub commands: Option<PathBuf>,
    pub scrub: ScrubSettings,
    pub alerts: AlertSettings,
    /// Served while the ledger is held.
    pub api: &'a FundsApi,
    /// The configuration of the front in this process, if it has one.
    pub front: Option<&'a LoadedConfig>,
}

/// The flows of the node that holds the ledger.
#[derive(Debug)]
pub struct HolderFlows {
    pub chains: Vec<FlowSetup>,
    pub queue_max: usize,
    /// Whether this process follows the chains and pays, too: no other process can write to books in a folder.
    pub alone: bool,
}

impl HolderFlows {
    fn start(&self, ledger: &Ledger, log: &NodeLog) -> FlowThreads {
        let mut running = FlowThreads::default();
        if self.chains.is_empty() {
            return running;
        }
        running.book(&self.chains, ledger, self.queue_max, log);
        running.reconcile(&self.chains, ledger, log);
        if self.alone {
            let rows = RowsLocation::Writer(ledger.clone());
            running.follow(&self.chains, &rows, log);
            running.pay(&self.chains, &rows, log);
        }
        running
    }
}

impl LeaseKeeper<'_> {
    /// Holds the ledger whenever it can, until a stop is requested.
    pub fn run(&self, options: &LedgerOptions) -> anyhow::Result<()> {
        let mut watch = match &options.location {
            Location::Postgres(url) => Some(LeaseWatch::new(url.clone())),
            Location::Folder(_) => None,
        };
        scrubber::verify_after_finding(&self.scrub, &options.location, self.log, self.stop).context(UNSOUND)?;
        let (mut said, mut tries) = (String::new(), IN_USE_TRIES);
        let (mut heads, mut said_of_heads) = (None, String::new());
        while !self.stop.is_requested() {
            let taken = match watch.as_mut().map_or(Ok(None), LeaseWatch::holder) {
                Ok(Some(holder)) if !holder.left.is_zero() => {
                    Err(StoreError::Leased { holder: holder.name, seconds_left: holder.left.as_secs() })
                }
                Ok(_) => {
                    // The writer notes heads in the same file.
                    heads = None;
                    Ledger::open(options.clone())
                }
                Err(error) => Err(error),
            };
            match taken {
                Ok(ledger) => {
                    said.clear();
                    tries = IN_USE_TRIES;
                    self.hold(&ledger, watch.as_mut())?;
                }
                Err(StoreError::Leased { holder, .. }) => {
                    self.say_once(&mut said, "waiting", &format!("stands by: the ledger is held by {holder}"));
                    // A node that stands by must know what it may not lose when it takes over.
                    let heads = heads.get_or_insert_with(|| self.heads(options));
                    forward::follow_head(heads.as_mut(), &mut said_of_heads, self.log)?;
                }
                // A command has the folder for a moment, if no node runs.
                Err(StoreError::InUse { .. }) if tries > 0 => tries -= 1,
                // Another program reads an old snapshot, so that the log cannot be copied into the file.
                Err(StoreError::Locked) => {
                    let sentence = "waits: another program reads the books, an audit for example, and must end first";
                    self.say_once(&mut said, "waiting", sentence);
                }
                // Another node was faster while this one opened the ledger.
                Err(StoreError::Fenced) => {}
                Err(error) if error.is_transient() => {
                    let why = on_one_line(&error);
                    self.say_once(&mut said, "unreachable", &format!("waits for the database: {why}"));
                }
                Err(error) => return Err(error).context("cannot open the ledger"),
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Follows the head of books in a database while another node writes them.
    fn heads(&self, options: &LedgerOptions) -> Option<HeadWatch> {
        match (&options.location, &options.head_file) {
            (Location::Postgres(url), Some(file)) => Some(HeadWatch::new(url.clone(), file.clone())),
            _ => None,
        }
    }

    fn say_once(&self, said: &mut String, event: &str, sentence: &str) {
        if said != sentence {
            self.log.write(event, sentence, &[]);
            sentence.clone_into(said);
        }
    }

    /// A node whose socket cannot be made still holds the ledger; commands then say why they cannot reach it.
    fn answer_commands(&self) -> Option<LocalServer> {
        let path = self.commands.as_ref()?;
        match LocalServer::start(path, Arc::clone(&self.handler)) {
            Ok(server) => {
                let sentence = format!("answers commands at {}", path.display());
                self.log.write("commands", &sentence, &[("socket", path.display().to_string().into())]);
                Some(server)
            }
            Err(error) => {
                let why = on_one_line(&error);
                self.log.write("no_commands", &format!("commands cannot reach this node: {why}"), &[]);
                None
            }
        }
    }

    /// From acquiring the ledger to releasing or losing it.
    fn hold(&self, ledger: &Ledger, watch: Option<&mut LeaseWatch>) -> anyhow::Result<()> {
        let epoch = watch.and_then(|watch| watch.holder().ok().flatten()).map(|holder| holder.epoch);
        let records = Reader::open(ledger.location()).and_then(|reader| reader.head()).map(|head| head.seq.0);
        let records = records.unwrap_or_default();
        let sentence = match epoch {
            Some(epoch) => format!("acquired the ledger: epoch {epoch}, {}", counted(records, "record", "records")),
            None => format!("acquired the ledger: {}", counted(records, "record", "records")),
        };
        // First: the API reads the registry once, and then knows the changes that it makes itself.
        let prepared = prepare_books(&self.flows.chains, ledger, self.log);
        match prepared.and_then(|()| self.api.hold(ledger)) {
            Ok(api) => self.handler.hold(api),
            Err(error) => {
                let why = on_one_line(error.as_ref());
                self.log.write("no_api", &format!("released the ledger, and tries again: {why}"), &[]);
                ledger.clone().close();
                return Ok(());
            }
        }
        self.log.write("took", &sentence, &[("epoch", epoch.into()), ("records", records.into())]);
        // Not before: a node that cannot open its books must say so, and not that an address is taken.
        if let Some(Err(error)) = self.front.map(|loaded| self.api.open_front(loaded, &self.alerts.counts, self.log)) {
            self.handler.release();
            ledger.clone().close();
            return Err(error);
        }
        let mut flows = self.flows.start(ledger, self.log);
        flows.publish_heads(&self.heads, ledger, self.log);
        flows.announce(ledger, self.log);
        if let Some(setup) = &self.deliveries {
            flows.deliver(setup, &RowsLocation::Writer(ledger.clone()), self.log);
        }
        let commands = self.answer_commands();
        let scrubber = Scrubber::start(&self.scrub, ledger, self.log);
        let alerts = AlertThread::start(&self.alerts, ledger, self.log);
        while !self.stop.is_requested() && ledger.stopped_by().is_none() {
            ledger.check_files();
            thread::sleep(CHECK_EVERY);
        }
        // A node that lost the ledger may have a successor, whose socket has the same name.
        let is_own = ledger.stopped_by().is_none();
        commands.into_iter().for_each(|commands| commands.stop(is_own));
        self.handler.release();
        self.api.release();
        scrubber.stop();
        alerts.stop();
        flows.stop();
        // Lets the writer finish what it has; the lease is free when this returns.
        ledger.clone().close();
        match ledger.stopped_by() {
            None => self.log.write("gave_up", "released the ledger", &[]),
            Some(why) => {
                let cause = on_one_line(why.as_ref());
                self.log.write("lost", &format!("lost the ledger: {cause}"), &[("why", Value::from(cause.clone()))]);
                if why.is_unsound() {
                    return Err(anyhow::Error::from(why).context(UNSOUND));
                }
            }
        }
        Ok(())
    }
}
