//! The demo as a deployment of several processes, with the books in a database.
//!
//! | process | role | what it does |
//! | --- | --- | --- |
//! | `books-1`, `books-2` | `books` | one holds the books, credits and settles; the other stands by |
//! | `indexer` | `indexer` | follows the chain |
//! | `payouts` | `payouts` | has payouts signed, sends them, and tracks them |
//! | `api` | `api` | answers the Funds API: relays each request to the holder of the books |
//! | this one | | the chain, the players, and the games, which call the Funds API |
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
use bankroll_nodes::{Authority, NodeName, NodeRole, NodeRoles, RelayedRequest};
use bankroll_orders::Address;
use bankroll_roles::{config::ApiConfig, requests::FundsUrl};
use bankroll_store::{Clock, DatabaseUrl};

use super::{
    arena::{AT_ONCE, BUY_IN, SERVER},
    chain::treasury,
    signer::SignerProcess,
    tempo,
};
use child::NodeProcess;

/// Long enough for a takeover, and far longer than anything else takes.
const PATIENCE: Duration = Duration::from_secs(120);
const STEP: Duration = Duration::from_millis(10);
/// Short, so that the game pauses only briefly when the node with the books is killed.
const LEASE_MS: u64 = 1_500;

const BOOKS: [&str; 2] = ["books-1", "books-2"];
const API: &str = "api";
/// In the demo's folder.
const CERTIFICATES: &str = "nodes";

#[derive(Debug)]
pub struct NodeProcesses {
    children: Vec<NodeProcess>,
    /// Where the node `api` answers.
    url: String,
    kill_books: bool,
    is_half_over: AtomicBool,
}

/// The chain and the signer, from which the settings of the processes are made.
pub struct ChainSettings<'a> {
    pub rpc: &'a str,
    pub identity: ChainIdentity,
    pub signer: &'a SignerProcess,
    pub api: &'a ApiConfig,
}

impl NodeProcesses {
    /// Creates certificates in the folder, starts the processes, and waits until the Funds API answers.
    pub fn start(
        folder: &Path,
        url: &DatabaseUrl,
        settings: &ChainSettings<'_>,
        kill_books: bool,
    ) -> anyhow::Result<Self> {
        make_certificates(&folder.join(CERTIFICATES))?;
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
        let mut nodes = Self { children, url: String::new(), kill_books, is_half_over: AtomicBool::new(false) };
        nodes.url = nodes.wait_for_api()?;
        Ok(nodes)
    }

    /// Waits until the node `api` listens and reaches the holder of the books; returns its URL.
    fn wait_for_api(&self) -> anyhow::Result<String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let found = self.children.iter().find_map(NodeProcess::url);
            if let Some(url) = found.filter(|url| is_ready(url)) {
                return Ok(url);
            }
            if let Some(ended) = self.children.iter().find(|child| child.has_ended()) {
                bail!("{} has ended; its message is above", ended.name);
            }
            ensure!(Instant::now() < until, "no node acquired the books, or the Funds API does not answer");
            thread::sleep(STEP);
        }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Fails if the games get no answer any more. Another node takes over from a holder of the books.
    pub fn check(&self) -> anyhow::Result<()> {
        let is_needed = |child: &&NodeProcess| child.role == NodeRole::Api;
        match self.children.iter().filter(is_needed).find(|child| child.has_ended()) {
            Some(ended) => bail!("{} has ended; its message is above", ended.name),
            None => Ok(()),
        }
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
    fn settings(&self, folder: &Path) -> anyhow::Result<Vec<String>> {
        // Paths in settings are relative to the folder.
        let socket = self.signer.socket.strip_prefix(folder).unwrap_or(&self.signer.socket);
        let (wallet, treasury) = (self.signer.wallet, Address(treasury().address().into_array()));
        Ok(vec![
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
            format!("server.name={SERVER}"),
            format!("server.buy_in={}", BUY_IN.amount),
            format!("server.developer_bps={}", BUY_IN.developer_bps),
            format!("server.world_bps={}", BUY_IN.world_bps),
            format!("api.listen={}", self.api.listen),
            "api.metrics=".into(),
            "api.tls_certificate=".into(),
            "api.tls_key=".into(),
            "api.behind_proxy=false".into(),
            format!("api.requests_per_s={}", self.api.requests_per_s),
            format!("api.sign_ins_per_s={}", self.api.sign_ins_per_s),
        ])
    }
}

fn roles() -> [(&'static str, NodeRole); 5] {
    [
        (BOOKS[0], NodeRole::Books),
        (BOOKS[1], NodeRole::Books),
        ("indexer", NodeRole::Indexer),
        ("payouts", NodeRole::Payouts),
        (API, NodeRole::Api),
    ]
}

/// Whether the node at this URL reaches the holder of the books.
fn is_ready(url: &str) -> bool {
    let (headers, body) = (Vec::new(), Vec::new());
    let request = RelayedRequest { method: "GET".into(), path: "/readyz".into(), headers, body };
    FundsUrl::new(url).send(request).is_ok_and(|response| response.status == 200)
}

/// Creates new certificates for each game.
fn make_certificates(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        // An earlier demo's, in a folder that only demos use.
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    let now = Clock::machine().now();
    let authority = Authority::init(folder, now)?;
    for (name, role) in roles() {
        authority.add(folder, &name.parse::<NodeName>()?, NodeRoles::of(&[role]), 1, now)?;
    }
    Ok(())
}
