//! A process that watches the imagined chain: what happens there comes in on standard input, is handed over to the books
//! through their inbox, and is told on standard output once the books have taken it in.
//!
//! One line in is one batch of reports: `{"batch": 7, "reports": [...]}`; one line out says that all of it is settled. What
//! is settled is looked up, not remembered: a report that was settled long ago is settled at once.

use std::{
    collections::{BTreeMap, HashSet},
    io::BufRead,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use anyhow::{Context, bail};
use bankroll_nodes::NodeRole;
use bankroll_store::{
    Clock, DatabaseUrl, HandOver, HandOverError, INDEXER_EVENTS, InboxSource, InboxTable, NewRow, PAYOUT_EVENTS,
    RowState,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::reports::Report;
use crate::serve::{Log, Stop};

/// How long to wait for news while something is not settled, and while nothing is.
const LOOK_EVERY: Duration = Duration::from_millis(4);
const REST: Duration = Duration::from_millis(200);

/// What happened since the last batch.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    pub batch: u64,
    pub reports: Vec<Report>,
}

/// Ends the node when standard input does: whoever started it is gone, or wants it to.
pub fn end_with_input(stop: Stop) {
    thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() {
                break;
            }
        }
        stop.ask();
    });
}

/// Reports what comes in until it ends.
pub fn imagine_chain(role: NodeRole, url: &DatabaseUrl, log: &Log, stop: &Stop) -> anyhow::Result<()> {
    let table = if role == NodeRole::Payouts { PAYOUT_EVENTS } else { INDEXER_EVENTS };
    let (send, batches) = channel();
    thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if send.send(line).is_err() {
                break;
            }
        }
    });
    log.say("watching", &format!("watches the imagined chain as {role}"), &[]);
    let mut watcher = Watcher {
        table,
        node: role.to_string(),
        hand_over: HandOver::to(url.clone()),
        source: InboxSource::new(url.clone()),
        clock: Clock::machine(),
        open: BTreeMap::new(),
    };
    watcher.run(&batches, log, stop)
}

struct Watcher {
    table: InboxTable,
    node: String,
    hand_over: HandOver,
    source: InboxSource,
    clock: Clock,
    /// Batches that are not settled, with the rows of each that are not.
    open: BTreeMap<u64, HashSet<String>>,
}

impl Watcher {
    fn run(&mut self, batches: &Receiver<String>, log: &Log, stop: &Stop) -> anyhow::Result<()> {
        while !stop.is_asked() {
            match batches.recv_timeout(if self.open.is_empty() { REST } else { LOOK_EVERY }) {
                Ok(line) => self.begin(&line)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Ok(line) = batches.try_recv() {
                self.begin(&line)?;
            }
            self.settle(log)?;
        }
        Ok(())
    }

    fn begin(&mut self, line: &str) -> anyhow::Result<()> {
        let Batch { batch, reports } = serde_json::from_str(line).context("a line that is no batch of reports")?;
        let now = self.clock.now();
        let rows: Vec<NewRow> = reports.iter().map(|report| report.row(&self.node, now)).collect::<Result<_, _>>()?;
        loop {
            match self.hand_over.add(self.table, &rows) {
                Ok(()) => break,
                // The database comes back, or somebody ends this.
                Err(HandOverError::Store(error)) if error.is_passing() => thread::sleep(REST),
                Err(error) => return Err(error).context("the books' inbox does not take a report"),
            }
        }
        self.open.insert(batch, rows.into_iter().map(|row| row.id).collect());
        Ok(())
    }

    fn settle(&mut self, log: &Log) -> anyhow::Result<()> {
        let ids: Vec<String> = self.open.values().flatten().cloned().collect();
        if ids.is_empty() {
            return Ok(());
        }
        let states = match self.source.states(self.table, &ids) {
            Err(error) if error.is_passing() => return Ok(()),
            states => states.context("the books' inbox cannot be read")?,
        };
        let settled: BTreeMap<String, RowState> =
            states.into_iter().filter(|(_, state)| !matches!(state, RowState::New(_))).collect();
        for (id, state) in &settled {
            if let RowState::Refused(reason) = state {
                // The game asks for nothing that can be refused.
                bail!("the books refused {id}: {reason}");
            }
        }
        self.open.retain(|batch, open| {
            open.retain(|id| !matches!(settled.get(id), Some(RowState::Applied)));
            if open.is_empty() {
                log.say("settled", &format!("batch {batch} is settled"), &[("batch", json!(batch))]);
            }
            !open.is_empty()
        });
        Ok(())
    }
}
