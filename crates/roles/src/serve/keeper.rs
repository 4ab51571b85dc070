//! Holding the books: taken when their lease is free, given up when the node ends, lost when another has taken over.
//!
//! ```text
//! waiting --(lease free)--> holding --(fenced, server gone for too long)--> waiting
//!                              `--(told to stop)--> drained, lease given up
//! ```
//!
//! A node that lost the books goes back to waiting. It ends by itself only if waiting cannot help: the books are not sound,
//! or are a newer program's.

use std::{sync::Arc, thread, time::Duration};

use anyhow::Context;
use bankroll_store::{Ledger, Location, Options, Reader, StoreError, Watch};
use bankroll_terminal::thousands;
use serde_json::Value;

use super::books_handler::BooksHandler;
use crate::{
    flows::{RowsAt, Running, Setup, Stop},
    log::{Log, on_one_line},
};

/// How often a node that stands by looks at the lease, and one that holds the books at itself.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const CHECK_EVERY: Duration = Duration::from_millis(20);

pub struct Keeper<'a> {
    pub desk: Arc<BooksHandler>,
    pub log: &'a Log,
    pub stop: &'a Stop,
    /// What is done with the books while they are held, if there is a chain.
    pub flows: Option<Flows>,
}

/// What follows from a chain for whoever holds the books.
#[derive(Debug)]
pub struct Flows {
    pub setup: Setup,
    pub queue_max: usize,
    /// Whether this process follows the chain and pays, too: nobody else can write to books in a folder.
    pub alone: bool,
}

impl Flows {
    fn start(&self, ledger: &Ledger, log: &Log) -> Running {
        let mut running = Running::default();
        running.book(&self.setup, ledger, self.queue_max, log);
        if self.alone {
            let rows = RowsAt::Here(ledger.clone());
            running.follow(&self.setup, &rows, log);
            running.pay(&self.setup, &rows, log);
        }
        running
    }
}

impl Keeper<'_> {
    /// Holds the books whenever it can, until it is told to stop.
    pub fn run(&self, options: &Options) -> anyhow::Result<()> {
        let mut watch = match &options.location {
            Location::Postgres(url) => Some(Watch::new(url.clone())),
            Location::Folder(_) => None,
        };
        let mut said = String::new();
        while !self.stop.is_asked() {
            let taken = match watch.as_mut().map_or(Ok(None), Watch::look) {
                Ok(Some(holder)) if !holder.left.is_zero() => {
                    Err(StoreError::Leased { holder: holder.name, seconds_left: holder.left.as_secs() })
                }
                Ok(_) => Ledger::open(options.clone()),
                Err(error) => Err(error),
            };
            match taken {
                Ok(ledger) => {
                    said.clear();
                    self.hold(&ledger, watch.as_mut())?;
                }
                Err(StoreError::Leased { holder, .. }) => {
                    self.say_once(&mut said, "waiting", &format!("stands by: the books are held by {holder}"));
                }
                // Somebody was faster while the books were being opened.
                Err(StoreError::Fenced) => {}
                Err(error) if error.is_passing() => {
                    let why = on_one_line(&error);
                    self.say_once(&mut said, "unreachable", &format!("waits for the database: {why}"));
                }
                Err(error) => return Err(error).context("cannot open the books"),
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn say_once(&self, said: &mut String, event: &str, sentence: &str) {
        if said != sentence {
            self.log.say(event, sentence, &[]);
            sentence.clone_into(said);
        }
    }

    /// From taking the books to giving them up or losing them.
    fn hold(&self, ledger: &Ledger, watch: Option<&mut Watch>) -> anyhow::Result<()> {
        let epoch = watch.and_then(|watch| watch.look().ok().flatten()).map(|holder| holder.epoch);
        let records = Reader::open(ledger.location()).and_then(|reader| reader.head()).map(|head| head.seq.0);
        let records = records.unwrap_or_default();
        let sentence = match epoch {
            Some(epoch) => format!("took the books: epoch {epoch}, {} records", thousands(records)),
            None => format!("took the books: {} records", thousands(records)),
        };
        self.log.say("took", &sentence, &[("epoch", epoch.into()), ("records", records.into())]);
        self.desk.set(Some(ledger.clone()));
        let flows = self.flows.as_ref().map(|flows| flows.start(ledger, self.log));
        while !self.stop.is_asked() && ledger.stopped_by().is_none() {
            thread::sleep(CHECK_EVERY);
        }
        self.desk.set(None);
        flows.into_iter().for_each(Running::stop);
        // Lets the writer finish what it has; the lease is free when this returns.
        ledger.clone().close();
        match ledger.stopped_by() {
            None => self.log.say("gave_up", "gave the books up", &[]),
            Some(why) => {
                let told = on_one_line(why.as_ref());
                self.log.say("lost", &format!("lost the books: {told}"), &[("why", Value::from(told.clone()))]);
                if matches!(*why, StoreError::Diverged { .. }) {
                    return Err(anyhow::Error::from(why).context("the books are not sound"));
                }
            }
        }
        Ok(())
    }
}
