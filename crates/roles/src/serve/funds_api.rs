//! The Funds API of a node: the router where the books are, and the front that callers reach.
//!
//! | the node | its front asks |
//! | --- | --- |
//! | has the books in a folder | the router in this process |
//! | has the role `api`, with books in a database | the router of the holder, relayed over the node protocol |
//!
//! The router is in every node with the role `books`. It answers while the node holds the ledger.

use std::{
    net::{SocketAddr, ToSocketAddrs},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use bankroll_api::{
    Funds, FundsSettings,
    front::{
        self, AccessLine, FrontBackend, FrontConfig, FrontHandle, MetricSource, MetricsHandle, RateLimit, ReadyCheck,
    },
};
use bankroll_ledger::Name;
use bankroll_nodes::{Forwarder, RelayHandler, RelayedRequest};
use bankroll_orders::ChainId;
use bankroll_registry::{SignInConfig, SignInOrigin};
use bankroll_store::{Clock, Ledger, Location, Reader};

use super::contract_checks::ContractChecks;
use crate::{
    alerts::AlertCounts,
    config::{ApiConfig, LoadedConfig},
    flows::FlowSetup,
    log::NodeLog,
};

/// How long the holder may take to answer a relayed request, with a takeover in between.
const RELAY_WITHIN: Duration = Duration::from_secs(25);
/// A caller may send this many seconds' worth of requests at once.
const BURST_SECONDS: u32 = 2;
/// The same for requests without a proof, which are few.
const PUBLIC_BURST_SECONDS: u32 = 4;

/// The router of the Funds API, and the books that it serves while this node holds them.
pub struct FundsApi {
    funds: Funds,
    router: axum::Router,
    /// The front in this process, from the first time that the ledger is held until the node ends.
    front: Mutex<Option<FrontHandle>>,
}

impl FundsApi {
    pub fn new(loaded: &LoadedConfig, chains: &[FlowSetup]) -> Self {
        let mut settings = settings(&loaded.config.api, loaded.config.chain.id, chains);
        let location = loaded.books();
        settings.newest_block = Arc::new(move |chain| newest_block(&location, chain).unwrap_or(0));
        let policy = loaded.config.notify.target_policy();
        // Its form; each delivery checks the addresses that its name has then.
        settings.check_webhook_url =
            Arc::new(move |url| policy.check_url(url).map(drop).map_err(|refusal| refusal.to_string()));
        let funds = Funds::new(settings, Clock::machine());
        Self { router: bankroll_api::router(funds.clone()), funds, front: Mutex::default() }
    }

    /// Serves these books; returns what answers relayed requests. Blocks while the registry is read.
    pub fn hold(&self, ledger: &Ledger) -> anyhow::Result<RelayHandler> {
        self.funds.acquire(ledger.clone()).context("cannot serve the Funds API")?;
        let router = self.router.clone();
        Ok(Arc::new(move |request: RelayedRequest| Box::pin(front::answer(router.clone(), request))))
    }

    pub fn release(&self) {
        self.funds.release();
    }

    /// Starts the front of a process that has router and books, unless it runs already.
    pub fn open_front(&self, loaded: &LoadedConfig, counts: &AlertCounts, log: &NodeLog) -> anyhow::Result<()> {
        let mut front = self.front.lock().unwrap_or_else(PoisonError::into_inner);
        if front.is_some() {
            return Ok(());
        }
        let (funds, chains) = (self.funds.clone(), counts.clone());
        let books = move || {
            let problem = (!funds.is_held()).then(|| "this node does not hold the books".to_owned());
            let mut checks = chains.ready_checks();
            checks.insert(0, ReadyCheck { name: "books".into(), problem, is_needed: true });
            checks
        };
        let backend = FrontBackend::Here(self.router.clone());
        *front = Some(start(loaded, backend, Arc::new(books), counts.clone(), log)?);
        Ok(())
    }

    /// Answers what is in flight, then closes the front.
    pub fn drain(&self) {
        let front = self.front.lock().unwrap_or_else(PoisonError::into_inner).take();
        front.into_iter().for_each(FrontHandle::drain);
    }
}

/// The front of a node that relays to the holder of the books.
///
/// `reachable` says whether the holder answered lately.
pub fn relaying_front(
    loaded: &LoadedConfig,
    forwarder: Arc<Forwarder>,
    reachable: Arc<AtomicBool>,
    counts: AlertCounts,
    log: &NodeLog,
) -> anyhow::Result<FrontHandle> {
    let books = move || {
        let problem =
            (!reachable.load(Ordering::Relaxed)).then(|| "the holder of the books does not answer".to_owned());
        vec![ReadyCheck { name: "books".into(), problem, is_needed: true }]
    };
    let relay = move |request: RelayedRequest| {
        let call = forwarder.relay(request, RELAY_WITHIN);
        Box::pin(async move { call?.await }) as std::pin::Pin<Box<dyn Future<Output = _> + Send>>
    };
    start(loaded, FrontBackend::Relay(Arc::new(relay)), Arc::new(books), counts, log)
}

fn start(
    loaded: &LoadedConfig,
    backend: FrontBackend,
    checks: Arc<dyn Fn() -> Vec<ReadyCheck> + Send + Sync>,
    counts: AlertCounts,
    log: &NodeLog,
) -> anyhow::Result<FrontHandle> {
    let api = &loaded.config.api;
    let metrics = (!api.metrics.is_empty()).then(|| resolve(&api.metrics, "api.metrics")).transpose()?;
    let rate = |per_second: u32, seconds| RateLimit { per_second, burst: per_second.saturating_mul(seconds) };
    let access = log.clone();
    let config = FrontConfig {
        metrics_listen: metrics,
        tls: api.tls(loaded.base()).map(|[certificate, key]| (certificate, key)),
        behind_proxy: api.behind_proxy,
        cors_origins: api.origins(),
        connections_max: api.connections_max,
        // A stream keeps its connection: half of them are left for requests.
        streams_max: api.connections_max / 2,
        body_max: api.body_max,
        rate_per_address: Some(rate(api.requests_per_s, BURST_SECONDS)),
        rate_public: Some(rate(api.sign_ins_per_s, PUBLIC_BURST_SECONDS)),
        checks,
        gauges: Arc::new(move || counts.gauges()),
        log: Arc::new(move |line| write_access(&access, line)),
        ..FrontConfig::new(resolve(&api.listen, "api.listen")?)
    };
    let front = front::serve(config, backend).context("cannot serve the Funds API")?;
    let scheme = if api.tls(loaded.base()).is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}", front.address());
    log.write(
        "api",
        &format!("answers the Funds API at {url}; its documentation is at {url}/docs"),
        &[("url", url.clone().into())],
    );
    front.metrics_address().into_iter().for_each(|address| write_metrics(log, address));
    Ok(front)
}

/// `/metrics` alone, at an address of the configuration; none for an empty one.
pub fn open_metrics(
    address: &str,
    key: &str,
    gauges: MetricSource,
    log: &NodeLog,
) -> anyhow::Result<Option<MetricsHandle>> {
    if address.is_empty() {
        return Ok(None);
    }
    let metrics = front::serve_metrics(resolve(address, key)?, gauges).with_context(|| key.to_owned())?;
    write_metrics(log, metrics.address());
    Ok(Some(metrics))
}

fn write_metrics(log: &NodeLog, address: SocketAddr) {
    let sentence = format!("answers /metrics at http://{address}");
    log.write("metrics", &sentence, &[("address", address.to_string().into())]);
}

fn resolve(address: &str, key: &str) -> anyhow::Result<SocketAddr> {
    let mut found = address.to_socket_addrs().with_context(|| format!("cannot resolve {address} ({key})"))?;
    found.next().with_context(|| format!("{address} ({key}) has no address"))
}

fn write_access(log: &NodeLog, line: &AccessLine) {
    let event = if line.status >= 500 { "request_failed" } else { "request" };
    log.write_each(event, || {
        let AccessLine { request_id, peer, method, route, status, code, micros } = line;
        let sentence = format!("{method} {route} {status} in {micros} us for {peer}, request {request_id}");
        let fields = vec![
            ("request_id", request_id.clone().into()),
            ("peer", peer.to_string().into()),
            ("method", method.clone().into()),
            ("route", route.clone().into()),
            ("status", (*status).into()),
            ("code", (*code).into()),
            ("micros", (*micros).into()),
        ];
        (sentence, fields)
    });
}

fn settings(api: &ApiConfig, chain_id: u64, chains: &[FlowSetup]) -> FundsSettings {
    let origin = |uri| SignInOrigin { domain: api.domain.clone(), uri };
    let sign_in = SignInConfig { origins: api.sign_in_uris().into_iter().map(origin).collect() };
    let mut settings = FundsSettings::new(&api.audience, ChainId(chain_id), sign_in);
    settings.approvals = chains.iter().map(|setup| (setup.chain().clone(), setup.policy)).collect();
    // Without a usable URL no contract wallet signs in; the flows of the chain say what is wrong with it.
    let checks: Vec<ContractChecks> = chains.iter().filter_map(|setup| ContractChecks::new(setup).ok()).collect();
    if !checks.is_empty() {
        // Of another chain than its own, each knows nothing.
        settings.contract_answer = Some(Arc::new(move |check| checks.iter().find_map(|of_chain| of_chain.ask(check))));
    }
    settings
}

/// The newest block that the indexer has read; `None` before the first. A payment to a new address is in a later one.
fn newest_block(location: &Location, chain: &Name) -> Option<u64> {
    let reader = Reader::open(location.clone()).ok()?;
    bankroll_deposits::view::cursor(&reader, chain.as_str()).ok()?.map(|cursor| cursor.number)
}
