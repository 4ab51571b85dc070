//! The demo as a deployment of several processes, with the books in a database.
//!
//! | process | role | what it does |
//! | --- | --- | --- |
//! | `books-1`, `books-2` | `books` | one holds the books, the other stands by |
//! | `indexer` | `indexer` | reports deposits of the imagined chain through `indexer_events` |
//! | `payouts` | `payouts` | reports payouts of the imagined chain through `payout_events` |
//! | this one | `api` | the game's rooms, which forward what players do to whoever holds the books |
//!
//! They know each other by certificates that are made for this game. They end with this process, however it ends: their
//! standard input is a pipe from it.

mod child;

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use bankroll_nodes::{Answer, Authority, CallError, Forwarder, Identity, NodeName, NodeRole, NodeRoles, Pending};
use bankroll_store::{Clock, DatabaseUrl, INDEXER_EVENTS};

use super::{
    asks::Asked,
    chain::Batch,
    reports::Report,
    room::{Heard, Room},
};
use crate::serve::forward;
use child::{Child, Told};

/// Long enough for a takeover, and far longer than anything else takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long one call is tried before it is made anew.
const CALL_WITHIN: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(10);
/// How often it is looked whether the nodes that are waited for are still there.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Short, so that the game does not stand still for long when a books' node is killed.
const LEASE_MS: u64 = 1_500;

const BOOKS: [&str; 2] = ["books-1", "books-2"];
const ROOMS: &str = "rooms";
/// In the demo's folder.
const CERTIFICATES: &str = "nodes";

#[derive(Debug)]
pub struct Nodes {
    children: Vec<Child>,
    forwarder: Forwarder,
    next_batch: AtomicU64,
    settled: Arc<Settled>,
    kill_books: bool,
    is_half_over: AtomicBool,
}

/// Whoever waits for a batch of reports to be settled; nobody any more once a process that reports has ended.
#[derive(Debug)]
struct Settled(Mutex<Option<HashMap<u64, Sender<()>>>>);

impl Settled {
    /// Disconnected at once if nobody will tell.
    fn expect(&self, batch: u64) -> Receiver<()> {
        let (send, receive) = channel();
        if let Some(waiting) = self.waiting().as_mut() {
            waiting.insert(batch, send);
        }
        receive
    }

    fn tell(&self, batch: u64) {
        let waiting = self.waiting().as_mut().and_then(|waiting| waiting.remove(&batch));
        // Whoever waited may have given up.
        waiting.map(|waiting| waiting.send(()));
    }

    fn close(&self) {
        self.waiting().take();
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, Sender<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Nodes {
    /// Makes certificates in the folder, starts the processes, and waits until the books can be asked.
    pub fn start(folder: &Path, url: &DatabaseUrl, kill_books: bool) -> anyhow::Result<Self> {
        let identity = make_certificates(&folder.join(CERTIFICATES))?;
        let settled = Arc::new(Settled(Mutex::new(Some(HashMap::new()))));
        let mut children = Vec::new();
        for (name, role) in roles() {
            let settled = Arc::clone(&settled);
            let set = [
                format!("node.name={name}"),
                format!("node.certificates={CERTIFICATES}"),
                "node.listen=127.0.0.1:0".into(),
                "node.address=".into(),
                format!("books.lease_ms={LEASE_MS}"),
            ];
            children.push(Child::start(name, role, folder, &set, url, move |heard| match heard {
                Told::Settled(batch) => settled.tell(batch),
                Told::End if role != NodeRole::Books => settled.close(),
                Told::End => {}
            })?);
        }
        let forwarder = forward::to_holder(&identity, url)?;
        let nodes = Self {
            children,
            forwarder,
            next_batch: AtomicU64::new(1),
            settled,
            kill_books,
            is_half_over: AtomicBool::new(false),
        };
        nodes.wait_for_books()?;
        Ok(nodes)
    }

    fn wait_for_books(&self) -> anyhow::Result<()> {
        let until = Instant::now() + PATIENCE;
        while let Err(error) = self.forwarder.ping(LOOK_EVERY)?.wait() {
            if let Some(ended) = self.children.iter().find(|child| child.has_ended()) {
                bail!("{} has ended; its message is above", ended.name);
            }
            if Instant::now() >= until {
                return Err(error).context("no node took the books");
            }
        }
        Ok(())
    }

    pub fn notes(&self) -> Vec<String> {
        self.children.iter().flat_map(Child::notes).collect()
    }

    /// With `--kill-books`, whoever holds the books is killed, once.
    pub fn half_time(&self) -> anyhow::Result<()> {
        if !self.kill_books || self.is_half_over.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(holder) = self.children.iter().find(|child| child.has_books()) {
                return holder.kill();
            }
            ensure!(Instant::now() < until, "nobody holds the books");
            thread::sleep(STEP);
        }
    }

    /// Asks everybody who has a part in it, at once, and waits for all.
    pub fn ask(&self, room: &Room, asked: &[Asked]) -> anyhow::Result<Vec<Heard>> {
        let (mut requests, mut seen, mut paid) = (Vec::new(), Vec::new(), Vec::new());
        for asked in asked {
            match room.report(asked) {
                Some(report) if report.table() == INDEXER_EVENTS => seen.push(report),
                Some(report) => paid.push(report),
                None => requests.push(room.request(asked)),
            }
        }
        let begun = if requests.is_empty() { None } else { Some(self.forwarder.apply(requests.clone(), CALL_WITHIN)) };
        let reports = [(NodeRole::Indexer, seen), (NodeRole::Payouts, paid)];
        let mut reported = Vec::new();
        for (role, reports) in reports {
            reported.extend(self.report(role, reports)?.map(|settled| (role, settled)));
        }
        let mut answers = begun.map_or(Ok(Vec::new()), |begun| self.wait(begun, &requests))?.into_iter();
        for (role, settled) in reported {
            let told = settled.recv_timeout(PATIENCE);
            told.with_context(|| format!("what the {role} reported is not taken in, or its process has ended"))?;
        }
        asked.iter().map(|asked| self.hear(room, asked, &mut answers)).collect()
    }

    /// A report that is settled was applied, then or long before.
    fn hear(&self, room: &Room, asked: &Asked, answers: &mut impl Iterator<Item = Answer>) -> anyhow::Result<Heard> {
        if room.report(asked).is_some() {
            return Ok(Heard { replayed: asked.again, outcome: Ok(None) });
        }
        let Answer { seq, replayed, verdict } = answers.next().context("an answer is missing")?;
        Ok(Heard::from(&bankroll_store::Answer { seq, replayed, verdict }))
    }

    /// Waits for a call, and makes it again for as long as nobody knows what became of it.
    fn wait(
        &self,
        begun: Result<Pending<Vec<Answer>>, CallError>,
        requests: &[bankroll_ledger::Request],
    ) -> anyhow::Result<Vec<Answer>> {
        let (until, mut begun) = (Instant::now() + PATIENCE, begun);
        loop {
            match begun.and_then(Pending::wait) {
                Ok(answers) => return Ok(answers),
                Err(CallError::Busy | CallError::Unavailable(_) | CallError::Unknown) if Instant::now() < until => {
                    thread::sleep(STEP);
                    begun = self.forwarder.apply(requests.to_vec(), CALL_WITHIN);
                }
                Err(error) => return Err(error).context("the books do not answer"),
            }
        }
    }

    fn report(&self, role: NodeRole, reports: Vec<Report>) -> anyhow::Result<Option<Receiver<()>>> {
        if reports.is_empty() {
            return Ok(None);
        }
        let batch = self.next_batch.fetch_add(1, Ordering::Relaxed);
        let settled = self.settled.expect(batch);
        let line = serde_json::to_string(&Batch { batch, reports })?;
        let child = self.children.iter().find(|child| child.role == role);
        child.context("there is no such process")?.write(&line)?;
        Ok(Some(settled))
    }

    /// Lets every process end in good order: those that report first, then the books.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.children.sort_by_key(|child| child.role == NodeRole::Books);
        for child in self.children {
            let (name, killed) = (child.name, child.was_killed());
            let ended = child.stop(PATIENCE)?;
            if !ended.success() && !killed {
                bail!("{name} ended with {ended}; its message is above");
            }
        }
        Ok(())
    }
}

fn roles() -> [(&'static str, NodeRole); 4] {
    [
        (BOOKS[0], NodeRole::Books),
        (BOOKS[1], NodeRole::Books),
        ("indexer", NodeRole::Indexer),
        ("payouts", NodeRole::Payouts),
    ]
}

/// New ones for each game; who this process is.
fn make_certificates(folder: &Path) -> anyhow::Result<Identity> {
    if folder.exists() {
        // An earlier demo's, in a folder that only demos use.
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let now = Clock::machine().now();
    let authority = Authority::init(folder, now)?;
    for (name, role) in roles().into_iter().chain([(ROOMS, NodeRole::Api)]) {
        authority.add(folder, &name.parse::<NodeName>()?, NodeRoles::of(&[role]), 1, now)?;
    }
    Ok(Identity::load(folder, &ROOMS.parse()?, now)?)
}
