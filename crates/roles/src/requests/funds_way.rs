//! How a request reaches the Funds API, and who carries its answer back.

use std::{fmt, sync::Arc, time::Duration};

use bankroll_nodes::{Forwarder, PendingCall, RelayHandler, RelayedRequest, RelayedResponse};
use bankroll_store::Ledger;
use tokio::runtime::Runtime;
use ureq::{Agent, http};

use super::{BooksClient, FundsCallError};
use crate::{config::LoadedConfig, serve::funds_api::FundsApi};

/// How long the service may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// More than any answer has: a full batch answers with a few MiB.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// The address of a Funds API. Clones share their connections.
#[derive(Clone)]
pub struct FundsUrl {
    agent: Agent,
    base: String,
}

impl FundsUrl {
    /// `http://127.0.0.1:8640`, without a path.
    #[must_use]
    pub fn new(base: &str) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(ANSWER_WITHIN))
            .http_status_as_error(false)
            // The target of a redirect is not the service that was named.
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("bankroll/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.new_agent(), base: base.trim_end_matches('/').into() }
    }

    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Sends a request once.
    ///
    /// # Errors
    /// [`FundsCallError::Http`]: nothing happened, or the outcome is unknown; the cause says which.
    pub fn send(&self, request: RelayedRequest) -> Result<RelayedResponse, FundsCallError> {
        let RelayedRequest { method, path, headers, body } = request;
        let mut head = http::Request::builder().method(method.as_str()).uri(format!("{}{path}", self.base));
        for (name, value) in &headers {
            head = head.header(name, value);
        }
        let request = head.body(body).map_err(|error| FundsCallError::Http(Box::new(error.into())))?;
        let failed = |error| FundsCallError::Http(Box::new(error));
        let mut response = self.agent.run(request).map_err(failed)?;
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec().map_err(failed)?;
        Ok(RelayedResponse { status, headers, body })
    }
}

/// Without what the agent has open.
impl fmt::Debug for FundsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FundsUrl({})", self.base)
    }
}

pub(super) enum FundsWay {
    Url(FundsUrl),
    Node(Forwarder),
    /// This process holds the books, as long as the command takes.
    Here {
        ledger: Ledger,
        api: Box<FundsApi>,
        router: RelayHandler,
        runtime: Runtime,
    },
}

impl FundsWay {
    /// Through the node that holds the books, or with the router in this process if none does.
    pub(super) fn of_books(loaded: &LoadedConfig) -> Result<Self, FundsCallError> {
        match BooksClient::connect(loaded)? {
            BooksClient::Node(node) => Ok(Self::Node(node)),
            BooksClient::Ledger(ledger) => {
                let api = Box::new(FundsApi::new(loaded, &loaded.chains()));
                let router = api.hold(&ledger).map_err(FundsCallError::Here)?;
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                Ok(Self::Here { ledger, api, router, runtime: runtime.map_err(FundsCallError::Runtime)? })
            }
        }
    }

    pub(super) fn send(&self, request: RelayedRequest) -> Result<RelayedResponse, FundsCallError> {
        match self {
            Self::Url(url) => url.send(request),
            Self::Node(node) => {
                node.relay(request, ANSWER_WITHIN).and_then(PendingCall::wait).map_err(FundsCallError::Call)
            }
            Self::Here { router, runtime, .. } => Ok(runtime.block_on(Arc::clone(router)(request))),
        }
    }

    /// Releases the books, if this process holds them.
    pub(super) fn close(self) {
        if let Self::Here { ledger, api, router, runtime } = self {
            api.release();
            drop((router, runtime));
            ledger.close();
        }
    }
}
