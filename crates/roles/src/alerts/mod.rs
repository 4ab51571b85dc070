//! The loop of the holder that observes conditions and writes alerts.
//!
//! | file | conditions of |
//! | --- | --- |
//! | `books` | the scrub: findings, repaired indexes, passes that are overdue |
//! | `deposits` | deposits that wait for a person, the indexer |
//! | `payouts` | wallets and payouts that need a person |
//! | `wallets` | what wallets hold compared with the books, and transactions that no payout made |
//! | `node` | this node: certificate, disk, clock |
//! | `counts` | open alerts as metrics |
//!
//! A source that fails says nothing: what is not known opens and closes no alert. A source that is added goes into
//! `AlertSettings::sources`.
//!
//! Conditions that stop the writer cannot be written while they hold. The scrub's finding is stored where it was made
//! (`scrub.json`, or the fencing row of a database) and is written as an alert by the next holder; meanwhile the log,
//! the exit code and `bankroll doctor` say it (decision 31).

mod books;
mod counts;
mod deposits;
mod node;
mod payouts;
mod wallets;
mod webhooks;

use std::{
    path::PathBuf,
    thread::{self, JoinHandle},
    time::Duration,
};

use bankroll_alerts::{AlertChange, AlertObservation, AlertWatch, round};
use bankroll_ledger::{Name, Time};
use bankroll_nodes::NodeName;
use bankroll_store::{Clock, Ledger, Reader};

pub use counts::AlertCounts;

use crate::{
    flows::{
        StopFlag,
        pace::{LoopRound, rounds},
    },
    log::{NodeLog, on_one_line},
};

/// Between two rounds.
const EVERY: Duration = Duration::from_secs(2);

/// What wallets alone say.
#[cfg(test)]
pub(crate) fn wallet_conditions(reader: &Reader, now: Time) -> anyhow::Result<Vec<AlertObservation>> {
    Ok([wallets::balances(reader, now)?, wallets::foreign(reader, now)?].concat())
}

/// Observes the conditions of a few kinds. It is asked in every round.
pub type ConditionSource = Box<dyn FnMut(&Reader, Time) -> anyhow::Result<Vec<AlertObservation>> + Send>;

/// What the loop looks at.
#[derive(Clone, Debug)]
pub struct AlertSettings {
    /// The name of this node: the subject of its own conditions.
    pub node: NodeName,
    /// The folder of the books, if they are in one: its disk.
    pub folder: Option<PathBuf>,
    /// Where the certificate of this node is.
    pub certificates: PathBuf,
    pub scrub_file: PathBuf,
    /// The chains that this deployment follows.
    pub chains: Vec<AlertChain>,
    /// For `/metrics`.
    pub counts: AlertCounts,
}

/// A chain whose indexer is looked at.
#[derive(Clone, Debug)]
pub struct AlertChain {
    pub name: Name,
    /// It may make no block for hours: that is no reason to take a node out of service.
    pub is_development: bool,
}

impl AlertSettings {
    /// All sources, each with a name for the log.
    fn sources(&self, held_since: Time) -> Vec<(&'static str, ConditionSource)> {
        let mut sources: Vec<(&'static str, ConditionSource)> = vec![
            ("scrub", books::scrub(self.node.clone(), self.scrub_file.clone(), self.folder.is_some(), held_since)),
            ("deposits", Box::new(deposits::waiting)),
            ("payouts", Box::new(payouts::waiting)),
            ("reconciliation", Box::new(wallets::balances)),
            ("wallets", Box::new(wallets::foreign)),
            ("webhooks", Box::new(webhooks::disabled)),
            ("certificate", node::certificate(self.node.clone(), self.certificates.clone())),
            ("clock", node::clock(self.node.clone(), Clock::machine())),
        ];
        let chains = self.chains.iter().cloned();
        // A source for each: a chain that cannot be judged hides no other.
        sources.extend(chains.map(|chain| ("indexer", deposits::indexer(chain, held_since, self.counts.clone()))));
        if let Some(folder) = self.folder.clone() {
            sources.push(("disk", node::disk(self.node.clone(), folder)));
        }
        sources
    }
}

/// Runs with a ledger that this node holds.
#[derive(Debug)]
pub struct AlertThread {
    stop: StopFlag,
    counts: AlertCounts,
    thread: JoinHandle<()>,
}

impl AlertThread {
    pub fn start(settings: &AlertSettings, ledger: &Ledger, log: &NodeLog) -> Self {
        let (stop, counts) = (StopFlag::default(), settings.counts.clone());
        let (settings, ledger, log, flag) = (settings.clone(), ledger.clone(), log.clone(), stop.clone());
        let thread = thread::spawn(move || AlertLoop::new(&settings, ledger, log).run(&flag));
        Self { stop, counts, thread }
    }

    /// Ends it after the present round. From then on this node does not know the alerts.
    pub fn stop(self) {
        self.stop.request();
        // A thread that panicked has printed its message.
        let _ = self.thread.join();
        self.counts.forget();
    }
}

struct AlertLoop {
    ledger: Ledger,
    log: NodeLog,
    clock: Clock,
    sources: Vec<(&'static str, ConditionSource)>,
    counts: AlertCounts,
    watch: AlertWatch,
    /// Kept while all goes well.
    reader: Option<Reader>,
}

impl AlertLoop {
    fn new(settings: &AlertSettings, ledger: Ledger, log: NodeLog) -> Self {
        let clock = Clock::machine();
        let (sources, counts) = (settings.sources(clock.now()), settings.counts.clone());
        Self { ledger, log, clock, sources, counts, watch: AlertWatch::default(), reader: None }
    }

    fn run(mut self, stop: &StopFlag) {
        let log = self.log.clone();
        rounds("alerts", EVERY, &log, stop, |_| self.round());
    }

    fn round(&mut self) -> anyhow::Result<LoopRound> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => Reader::open(self.ledger.location())?,
        };
        let now = self.clock.now();
        let (observed, trouble) = observe(&mut self.sources, &reader, now);
        let done = round(&self.ledger, &reader, &mut self.watch, &observed, now)?;
        self.counts.set(done.alerts.counts(), now);
        done.written.iter().for_each(|change| write_line(&self.log, change));
        if let Some(trouble) = trouble {
            // The reader may be the reason: the next round opens another.
            return Ok(LoopRound::Waits(trouble));
        }
        self.reader = Some(reader);
        Ok(LoopRound::Idle)
    }
}

/// What all sources say, and what is wrong with one that does not.
fn observe(
    sources: &mut [(&'static str, ConditionSource)],
    reader: &Reader,
    now: Time,
) -> (Vec<AlertObservation>, Option<String>) {
    let (mut observed, mut trouble) = (Vec::new(), None);
    for (name, source) in sources {
        match source(reader, now) {
            Ok(found) => observed.extend(found),
            Err(error) => {
                trouble = Some(format!("the conditions of {name} are not known: {}", on_one_line(error.as_ref())))
            }
        }
    }
    (observed, trouble)
}

fn write_line(log: &NodeLog, change: &AlertChange) {
    let alert = change.alert();
    let (kind, severity) = (alert.kind, alert.kind.severity().as_str());
    let sentence = match change.verb() {
        "opened" => format!("{severity} alert {kind}: {}; see `bankroll alerts show {}`", alert.summary, alert.id),
        verb => format!("alert {kind} of {} is {verb}", alert.subject),
    };
    let fields = [
        ("alert", alert.id.as_str().into()),
        ("kind", kind.as_str().into()),
        ("subject", alert.subject.as_str().into()),
        ("severity", severity.into()),
        ("items", alert.items.into()),
    ];
    log.write(&format!("alert_{}", change.verb()), &sentence, &fields);
}
