//! How bytes get to a node and back: HTTP, or a call in the same process.
//!
//! Guarantees: an answer is at most as large and as late as the limits say; where a node is, is told to nobody.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bankroll_chains_simulated::{Chain, Reply};
use ureq::{Agent, http::Uri};

use crate::error::Unavailable;

/// How long and how much a node may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the first byte out to the last byte in.
    pub whole: Duration,
    /// Until there is a connection.
    pub connect: Duration,
    /// The most bytes of an answer.
    pub answer_bytes: u64,
}

impl Default for Limits {
    /// Thirty seconds, five for the connection, 256 MiB: a full block with traces is tens of them.
    fn default() -> Self {
        Self { whole: Duration::from_secs(30), connect: Duration::from_secs(5), answer_bytes: 256 << 20 }
    }
}

/// A text that is no address of a node. The text is not in here, since it may contain a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address of a node must be http://host[:port]/path or https://host[:port]/path")]
pub struct BadUrl;

pub enum Transport {
    Http(Http),
    Simulated { chain: Arc<Mutex<Chain>>, node: usize },
}

pub struct Http {
    agent: Agent,
    url: Uri,
    limits: Limits,
}

impl Transport {
    pub fn http(url: &str, limits: Limits) -> Result<Self, BadUrl> {
        let url: Uri = url.parse().map_err(|_| BadUrl)?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none_or(str::is_empty) {
            return Err(BadUrl);
        }
        let config = Agent::config_builder()
            .timeout_global(Some(limits.whole))
            .timeout_connect(Some(limits.connect))
            .http_status_as_error(false)
            // A node that sends us elsewhere is not the node that was configured.
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("bankroll/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self::Http(Http { agent: config.new_agent(), url, limits }))
    }

    /// Sends a request and waits for what comes back.
    pub fn exchange(&self, request: &[u8]) -> Result<Vec<u8>, Unavailable> {
        match self {
            Self::Http(http) => http.exchange(request),
            Self::Simulated { chain, node } => {
                let mut chain = chain.lock().unwrap_or_else(PoisonError::into_inner);
                match chain.answer(*node, request) {
                    Reply::Body(body) => Ok(body),
                    Reply::Status(status, _) => Err(refused_by_status(status)),
                    Reply::Silence => Err(Unavailable::TimedOut),
                    Reply::NobodyThere => Err(Unavailable::Unreachable),
                }
            }
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

/// By kind only: the texts of these errors may contain the address.
fn unavailable(error: &ureq::Error) -> Unavailable {
    use std::io::ErrorKind;
    match error {
        ureq::Error::Timeout(_) => Unavailable::TimedOut,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => Unavailable::Unreachable,
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => Unavailable::Unreachable,
        ureq::Error::Io(error) => Unavailable::Broken(error.kind()),
        ureq::Error::BodyExceedsLimit(_) => Unavailable::Broken(ErrorKind::FileTooLarge),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Unavailable::Broken(ErrorKind::PermissionDenied),
        _ => Unavailable::Broken(ErrorKind::Other),
    }
}
