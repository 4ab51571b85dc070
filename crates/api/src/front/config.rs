//! Settings of the front.

use std::{fmt, future::Future, net::SocketAddr, path::PathBuf, pin::Pin, sync::Arc, time::Duration};

use axum::Router;
use bankroll_nodes::{CallError, RelayedRequest, RelayedResponse};

use crate::input::BODY_MAX;

/// The way to the holder of the books.
pub type RelayCall = Arc<
    dyn Fn(RelayedRequest) -> Pin<Box<dyn Future<Output = Result<RelayedResponse, CallError>> + Send>> + Send + Sync,
>;

/// Where access lines go.
pub type AccessLog = Arc<dyn Fn(&AccessLine) + Send + Sync>;

/// What answers requests.
#[derive(Clone)]
pub enum FrontBackend {
    /// The router in this process.
    Here(Router),
    /// The router of the node that holds the books.
    Relay(RelayCall),
}

impl fmt::Debug for FrontBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here(_) => "Here",
            Self::Relay(_) => "Relay",
        })
    }
}

/// A token bucket: so many requests a second, and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub per_second: u32,
    pub burst: u32,
}

/// A named condition of readiness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyCheck {
    pub name: String,
    /// Why it does not hold; `None` if it does. Shown to everybody who can reach the port.
    pub problem: Option<String>,
    /// Whether a node whose check does not hold is not ready.
    pub is_needed: bool,
}

/// A value for `/metrics` that another part of the process knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricGauge {
    /// `bankroll_journal_seq`.
    pub name: &'static str,
    pub help: &'static str,
    /// `kind="a",state="b"`; empty for none. Values of one name come one after another.
    pub labels: String,
    pub value: u64,
}

/// One answered request, for the log. It has no token, no body and no query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLine {
    pub request_id: String,
    pub peer: SocketAddr,
    pub method: String,
    /// The path's template: `/v1/servers/{server}/transfer`; `other` for a path that no operation has.
    pub route: String,
    pub status: u16,
    /// The code of the error, if it is one that this process made.
    pub code: Option<&'static str>,
    pub micros: u64,
}

#[derive(Clone)]
pub struct FrontConfig {
    pub listen: SocketAddr,
    /// `/metrics`, apart from the public address; loopback by default.
    pub metrics_listen: Option<SocketAddr>,
    /// Certificate chain and private key in PEM; without them the front speaks plain HTTP, for a proxy.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Behind a proxy: the address of the caller is the last one of `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// Origins of web pages that may call, exactly as browsers send them.
    pub cors_origins: Vec<String>,
    /// One network has at most an eighth of them, unless a proxy is in front.
    pub connections_max: usize,
    /// The most bytes of a body; only a batch with a proof may be longer.
    pub body_max: usize,
    /// The most bytes of all long bodies that are in memory, until they are answered. The first 64 KiB of each body do
    /// not count: they are bounded by the number of connections.
    pub bodies_max: usize,
    /// For a handshake, for the head of a request, and for an idle connection.
    pub head_timeout: Duration,
    pub body_timeout: Duration,
    /// For a caller that takes nothing of its answer.
    pub write_timeout: Duration,
    /// How long a connection that must close may take for it.
    pub close_timeout: Duration,
    /// For an answer of the books.
    pub answer_timeout: Duration,
    /// How long a drain waits for requests in flight.
    pub drain_timeout: Duration,
    /// How long a drain waits for the first request of a connection: its caller may have sent it before the front
    /// stopped listening.
    pub first_request_timeout: Duration,
    pub rate_per_address: Option<RateLimit>,
    pub rate_per_session: Option<RateLimit>,
    /// For one network, at the operations that need no proof and write into the books: registering and signing in.
    pub rate_public: Option<RateLimit>,
    /// Event streams at the same time. Each keeps its connection, so they are fewer than those.
    pub streams_max: usize,
    /// Of one caller, whatever the number of its sessions.
    pub streams_per_caller: usize,
    /// How many pages a second all streams together ask of the books.
    pub stream_pages_per_s: u32,
    /// After this time without an event a stream sends a comment, so that proxies keep it open.
    pub stream_heartbeat: Duration,
    /// Threads of the front's runtime.
    pub threads: usize,
    pub checks: Arc<dyn Fn() -> Vec<ReadyCheck> + Send + Sync>,
    pub gauges: Arc<dyn Fn() -> Vec<MetricGauge> + Send + Sync>,
    /// Gets a line for each answer.
    pub log: AccessLog,
}

impl FrontConfig {
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            metrics_listen: None,
            tls: None,
            behind_proxy: false,
            cors_origins: Vec::new(),
            connections_max: 1_024,
            body_max: BODY_MAX,
            bodies_max: 256 << 20,
            head_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(20),
            write_timeout: Duration::from_secs(20),
            close_timeout: Duration::from_secs(5),
            answer_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
            first_request_timeout: Duration::from_secs(1),
            rate_per_address: Some(RateLimit { per_second: 2_000, burst: 4_000 }),
            rate_per_session: Some(RateLimit { per_second: 1_000, burst: 2_000 }),
            rate_public: Some(RateLimit { per_second: 5, burst: 20 }),
            streams_max: 512,
            streams_per_caller: 16,
            stream_pages_per_s: 250,
            stream_heartbeat: Duration::from_secs(15),
            threads: 2,
            checks: Arc::new(Vec::new),
            gauges: Arc::new(Vec::new),
            log: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for FrontConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrontConfig({})", self.listen)
    }
}
