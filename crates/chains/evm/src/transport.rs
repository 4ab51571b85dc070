//! Carries requests to a node: over HTTP, or by a call in the same process.
//!
//! Guarantees: an HTTP answer stays within the limits of size and time; the URL of a node appears in no error.

use std::{
    fmt,
    io::{self, ErrorKind},
    sync::Arc,
    time::Duration,
};

use ureq::{Agent, http::Uri};

use crate::error::Unavailable;

/// How many connections to one node are kept and used at the same time.
pub const CONNECTIONS_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RpcLimits {
    /// From the first sent to the last received byte.
    pub total: Duration,
    pub connect: Duration,
    pub answer_bytes: u64,
}

impl Default for RpcLimits {
    /// Thirty seconds, five to connect, 256 MiB: a full block with traces has tens of MiB.
    fn default() -> Self {
        Self { total: Duration::from_secs(30), connect: Duration::from_secs(5), answer_bytes: 256 << 20 }
    }
}

/// It does not contain the text, which may contain a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the URL of an RPC node must be http://host[:port]/path or https://host[:port]/path")]
pub struct InvalidRpcUrl;

/// A node in the same process, as a simulator needs it: a function from the request's bytes to an HTTP status and a
/// body. Its error is what a connection would fail with.
#[derive(Clone)]
pub struct InProcessRpc(Arc<RpcExchange>);

type RpcExchange = dyn Fn(&[u8]) -> io::Result<(u16, Vec<u8>)> + Send + Sync;

impl InProcessRpc {
    pub fn new(exchange: impl Fn(&[u8]) -> io::Result<(u16, Vec<u8>)> + Send + Sync + 'static) -> Self {
        Self(Arc::new(exchange))
    }
}

impl fmt::Debug for InProcessRpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcessRpc")
    }
}

pub enum Transport {
    Http(Http),
    InProcess(InProcessRpc),
}

pub struct Http {
    agent: Agent,
    url: Uri,
    limits: RpcLimits,
}

impl Transport {
    pub fn http(url: &str, limits: RpcLimits) -> Result<Self, InvalidRpcUrl> {
        let url: Uri = url.parse().map_err(|_| InvalidRpcUrl)?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none_or(str::is_empty) {
            return Err(InvalidRpcUrl);
        }
        let config = Agent::config_builder()
            .timeout_global(Some(limits.total))
            .timeout_connect(Some(limits.connect))
            // As many threads may read at once; each keeps its connection.
            .max_idle_connections(CONNECTIONS_MAX)
            .max_idle_connections_per_host(CONNECTIONS_MAX)
            .http_status_as_error(false)
            // The target of a redirect is not the configured node.
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("bankroll/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self::Http(Http { agent: config.new_agent(), url, limits }))
    }

    pub fn exchange(&self, request: &[u8]) -> Result<Vec<u8>, Unavailable> {
        match self {
            Self::Http(http) => http.exchange(request),
            Self::InProcess(rpc) => match (rpc.0)(request) {
                Ok((200, body)) => Ok(body),
                Ok((status, _)) => Err(refused_by_status(status)),
                Err(error) => Err(unavailable_io(&error)),
            },
        }
    }
}

impl Http {
    fn exchange(&self, request: &[u8]) -> Result<Vec<u8>, Unavailable> {
        let post = self.agent.post(&self.url).header("content-type", "application/json");
        let mut response = post.send(request).map_err(|error| unavailable(&error))?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(refused_by_status(status));
        }
        let body = response.body_mut().with_config().limit(self.limits.answer_bytes);
        body.read_to_vec().map_err(|error| unavailable(&error))
    }
}

fn refused_by_status(status: u16) -> Unavailable {
    if status == 429 { Unavailable::RateLimited } else { Unavailable::Status(status) }
}

/// By kind only: the texts of these errors may contain the URL.
fn unavailable(error: &ureq::Error) -> Unavailable {
    match error {
        ureq::Error::Timeout(_) => Unavailable::TimedOut,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => Unavailable::Unreachable,
        ureq::Error::Io(error) => unavailable_io(error),
        ureq::Error::BodyExceedsLimit(_) => Unavailable::Broken(ErrorKind::FileTooLarge),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Unavailable::Broken(ErrorKind::PermissionDenied),
        _ => Unavailable::Broken(ErrorKind::Other),
    }
}

fn unavailable_io(error: &io::Error) -> Unavailable {
    match error.kind() {
        ErrorKind::TimedOut => Unavailable::TimedOut,
        ErrorKind::ConnectionRefused => Unavailable::Unreachable,
        kind => Unavailable::Broken(kind),
    }
}
