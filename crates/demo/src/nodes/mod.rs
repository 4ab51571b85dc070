//! The demo as a deployment of several processes, with the books in a database.
//!
//! | process | role | what it does |
//! | --- | --- | --- |
//! | `books-1`, `books-2` | `books` | one holds the books, credits and settles; the other stands by |
//! | `indexer` | `indexer` | follows the chain |
//! | `payouts` | `payouts` | has payouts signed, sends them, and tracks them |
//! | this one | `api` | the chain, the players, and the games, which forward to the holder of the books |
//!
//! They recognise each other by certificates that are created for this game. They end with this process, however it
//! ends: their standard input is a pipe from it.

mod child;

use std::{
    os::unix::process::ExitStatusExt,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use bankroll_chains_evm::ChainIdentity;
use bankroll_nodes::{
    Answer, Authority, CallError, Forwarder, NodeIdentity, NodeName, NodeRole, NodeRoles, PendingCall,
};
use bankroll_orders::Address;
use bankroll_roles::serve::forward;
use bankroll_store::{Clock, DatabaseUrl};

use super::{
    arena::{AT_ONCE, BUY_IN, SERVER},
    chain::treasury,
    game::{ArenaGame, RequestOutcome},
    requests::NumberedRequest,
    signer::SignerProcess,
    tempo,
};
use child::NodeProcess;

/// Long enough for a takeover, and far longer than anything else takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long one call is tried before it is sent again.
const CALL_WITHIN: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(10);
/// How often the demo checks that the nodes it waits for are still running.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Short, so that the game pauses only briefly when the node with the books is killed.
const LEASE_MS: u64 = 1_500;

const BOOKS: [&str; 2] = ["books-1", "books-2"];
const GAMES: &str = "games";
/// In the demo's folder.
const CERTIFICATES: &str = "nodes";

#[derive(Debug)]
pub struct NodeProcesses {
    children: Vec<NodeProcess>,
    forwarder: Forwarder,
    kill_books: bool,
    is_half_over: AtomicBool,
}

/// The chain and the signer, from which the settings of the processes are made.
pub struct ChainSettings<'a> {
    pub rpc: &'a str,
    pub identity: ChainIdentity,
    pub signer: &'a SignerProcess,
}

impl NodeProcesses {
    /// Creates certificates in the folder, starts the processes, and waits until a node holds the books.
    pub fn start(
        folder: &Path,
        url: &DatabaseUrl,
        settings: &ChainSettings<'_>,
        kill_books: bool,
    ) -> anyhow::Result<Self> {
        let identity = make_certificates(&folder.join(CERTIFICATES))?;
        let mut children = Vec::new();
        for (name, role) in roles() {
            let set = [
                format!("node.name={name}"),
                format!("node.certificates={CERTIFICATES}"),
                "node.listen=127.0.0.1:0".into(),
                "node.address=".into(),
                format!("books.lease_ms={LEASE_MS}"),
                "books.scrub_percent=0".into(),
            ];
            let set: Vec<String> = set.into_iter().chain(settings.settings(folder)?).collect();
            children.push(NodeProcess::start(name, role, folder, &set, url)?);
        }
        let forwarder = forward::to_holder(&identity, url)?;
        let nodes = Self { children, forwarder, kill_books, is_half_over: AtomicBool::new(false) };
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
                return Err(error).context("no node acquired the books");
            }
        }
        Ok(())
    }

    pub fn notes(&self) -> Vec<String> {
        self.children.iter().flat_map(NodeProcess::notes).collect()
    }

    /// With `--kill-books`, kills the node that holds the books, once.
    pub fn half_time(&self) -> anyhow::Result<()> {
        if !self.kill_books || self.is_half_over.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(holder) = self.children.iter().find(|child| child.has_books()) {
                return holder.kill();
            }
            ensure!(Instant::now() < until, "no node holds the books");
            thread::sleep(STEP);
        }
    }

    /// Sends the requests to the node that holds the books.
    pub fn ask(&self, game: &ArenaGame, moves: &[NumberedRequest]) -> anyhow::Result<Vec<RequestOutcome>> {
        let requests: Vec<_> = moves.iter().map(|numbered| game.request(numbered)).collect();
        let begun = self.forwarder.apply(requests.clone(), CALL_WITHIN);
        let answers = self.wait(begun, &requests)?;
        ensure!(answers.len() == moves.len(), "an answer is missing");
        Ok(answers.iter().map(RequestOutcome::from).collect())
    }

    /// Waits for a call, and repeats it while its outcome is unknown.
    fn wait(
        &self,
        begun: Result<PendingCall<Vec<Answer>>, CallError>,
        requests: &[bankroll_ledger::Request],
    ) -> anyhow::Result<Vec<Answer>> {
        let (until, mut begun) = (Instant::now() + PATIENCE, begun);
        loop {
            match begun.and_then(PendingCall::wait) {
                Ok(answers) => return Ok(answers),
                Err(CallError::Busy | CallError::Unavailable(_) | CallError::Unknown) if Instant::now() < until => {
                    thread::sleep(STEP);
                    begun = self.forwarder.apply(requests.to_vec(), CALL_WITHIN);
                }
                Err(error) => return Err(error).context("the books do not answer"),
            }
        }
    }

    /// Stops every process in order: the books last, since the others forward to them. Returns which were killed from
    /// outside. That is no failure of the demo: another node may have taken over, and the books say whether all is
    /// well.
    pub fn stop(mut self) -> anyhow::Result<Vec<String>> {
        self.children.sort_by_key(|child| child.role == NodeRole::Books);
        let mut killed_from_outside = Vec::new();
        for child in self.children {
            let (name, killed) = (child.name, child.was_killed());
            let ended = child.stop(PATIENCE)?;
            match ended.signal() {
                _ if ended.success() || killed => {}
                Some(_) => killed_from_outside.push(format!("{name} was killed from outside the demo: {ended}")),
                None => bail!("{name} ended with {ended}; its message is above"),
            }
        }
        Ok(killed_from_outside)
    }
}

impl ChainSettings<'_> {
    fn settings(&self, folder: &Path) -> anyhow::Result<[String; 18]> {
        // Paths in settings are relative to the folder.
        let socket = self.signer.socket.strip_prefix(folder).unwrap_or(&self.signer.socket);
        let (wallet, treasury) = (self.signer.wallet, Address(treasury().address().into_array()));
        Ok([
            format!("chain.rpc={}", self.rpc),
            format!("chain.id={}", self.identity.chain_id),
            format!("chain.genesis={}", self.identity.genesis),
            "chain.symbol=ETH".into(),
            format!("chain.confirmations={}", tempo::CONFIRMATIONS),
            "chain.start=1".into(),
            format!("chain.wallet={wallet}"),
            format!("chain.treasury={treasury}"),
            format!("chain.signer={}", socket.to_str().context("the folder's name is not UTF-8")?),
            format!("chain.poll_ms={}", tempo::POLL.as_millis()),
            format!("chain.resend_ms={}", tempo::RESEND.as_millis()),
            format!("chain.in_flight_max={}", tempo::IN_FLIGHT_MAX),
            format!("chain.pay_at_once={AT_ONCE}"),
            "chain.sender_proof=account".into(),
            format!("server.name={SERVER}"),
            format!("server.buy_in={}", BUY_IN.amount),
            format!("server.developer_bps={}", BUY_IN.developer_bps),
            format!("server.world_bps={}", BUY_IN.world_bps),
        ])
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

/// Creates new certificates for each game, and returns the identity of this process.
fn make_certificates(folder: &Path) -> anyhow::Result<NodeIdentity> {
    if folder.exists() {
        // An earlier demo's, in a folder that only demos use.
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let now = Clock::machine().now();
    let authority = Authority::init(folder, now)?;
    for (name, role) in roles().into_iter().chain([(GAMES, NodeRole::Api)]) {
        authority.add(folder, &name.parse::<NodeName>()?, NodeRoles::of(&[role]), 1, now)?;
    }
    Ok(NodeIdentity::load(folder, &GAMES.parse()?, now)?)
}
