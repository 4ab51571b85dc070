//! Sends one delivery: checks its target, connects to a checked address, and reads a little of the answer.
//!
//! Guarantees: one request, to an address that was checked just before; no redirect is followed, no proxy is used, no
//! name is resolved a second time; TLS is verified for the host that the URL names; time and size are bounded. No error
//! contains the URL, which may contain a secret of the receiver.

use std::{
    fmt,
    io::Read,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bankroll_ledger::Time;
use ureq::{
    Agent,
    config::Config,
    http::Uri,
    tls::{Certificate, RootCerts, TlsConfig},
    unversioned::{
        resolver::{ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

use crate::{
    DeliveryAttempt,
    resolver::{HostResolver, TargetError},
    schedule::AttemptOutcome,
    signature::signatures,
    target::{TargetPolicy, WebhookTarget},
};

/// The most that a delivery costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// From resolving the name to the last byte of the answer.
    pub total: Duration,
    /// Of the answer that is read.
    pub answer_bytes: u64,
    /// Of the answer that is kept.
    pub kept_bytes: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { total: Duration::from_secs(15), answer_bytes: 64 << 10, kept_bytes: 1 << 10 }
    }
}

/// Sends deliveries, from any thread.
#[derive(Clone)]
pub struct WebhookClient {
    policy: TargetPolicy,
    resolver: HostResolver,
    roots: Arc<Vec<Certificate<'static>>>,
    limits: ClientLimits,
}

impl WebhookClient {
    /// With the name servers and the certificate authorities of this machine.
    #[must_use]
    pub fn new(policy: TargetPolicy) -> Self {
        let roots = rustls_native_certs::load_native_certs().certs;
        let roots = roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
        Self { policy, resolver: HostResolver::system(), roots: Arc::new(roots), limits: ClientLimits::default() }
    }

    #[must_use]
    pub fn with_resolver(self, resolver: HostResolver) -> Self {
        Self { resolver, ..self }
    }

    /// Other certificate authorities, as DER.
    #[must_use]
    pub fn with_roots(self, roots: &[Vec<u8>]) -> Self {
        let roots = roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
        Self { roots: Arc::new(roots), ..self }
    }

    #[must_use]
    pub fn with_limits(self, limits: ClientLimits) -> Self {
        Self { limits, ..self }
    }

    /// Checks a target as a delivery does, without sending anything: for a new endpoint.
    ///
    /// # Errors
    /// If it is not allowed, or its host's name cannot be resolved.
    pub fn check_target(&self, url: &str) -> Result<(), TargetError> {
        let target = self.policy.check_url(url)?;
        self.resolver.checked(&target, self.limits.total).map(drop)
    }

    /// Sends a delivery and waits for its outcome. `now` is the time that the receiver compares with its own clock.
    #[must_use]
    pub fn send(&self, attempt: &DeliveryAttempt, now: Time) -> AttemptOutcome {
        let began = Instant::now();
        let checked = self.policy.check_url(&attempt.url).map_err(TargetError::from);
        let checked = checked.and_then(|target| {
            let addresses = self.resolver.checked(&target, self.limits.total)?;
            Ok((target, addresses))
        });
        let (target, addresses) = match checked {
            Ok(checked) => checked,
            Err(error) => return AttemptOutcome::Failed { error: error.to_string() },
        };
        let left = self.limits.total.saturating_sub(began.elapsed());
        match self.post(&target, addresses, attempt, now, left) {
            Ok(outcome) => outcome,
            Err(error) => AttemptOutcome::Failed { error: reason(&error).to_owned() },
        }
    }

    fn post(
        &self,
        target: &WebhookTarget,
        addresses: Vec<SocketAddr>,
        attempt: &DeliveryAttempt,
        now: Time,
        left: Duration,
    ) -> Result<AttemptOutcome, ureq::Error> {
        let timestamp = now.0 / 1_000_000;
        let signed = signatures(&attempt.secrets, &attempt.event_id, timestamp, &attempt.body);
        let request = self
            .agent(addresses, left)
            .post(target.uri())
            .header("content-type", "application/json")
            .header("webhook-id", &attempt.event_id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signed);
        let mut response = request.send(attempt.body.as_bytes())?;
        let status = response.status().as_u16();
        // The status decides. The rest is for people who look; an answer that does not end is cut off.
        let mut answer = Vec::new();
        let body = response.body_mut().as_reader();
        let _ = body.take(self.limits.answer_bytes).read_to_end(&mut answer);
        answer.truncate(self.limits.kept_bytes);
        Ok(AttemptOutcome::Answered { status, answer: printable(&answer) })
    }

    /// One agent for one delivery: connections are not shared between endpoints, or between checks.
    fn agent(&self, addresses: Vec<SocketAddr>, left: Duration) -> Agent {
        let config = Agent::config_builder()
            .timeout_global(Some(left))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .max_idle_connections(0)
            .tls_config(TlsConfig::builder().root_certs(RootCerts::Specific(Arc::clone(&self.roots))).build())
            .user_agent(concat!("bankroll/", env!("CARGO_PKG_VERSION")))
            .build();
        Agent::with_parts(config, DefaultConnector::default(), PinnedAddresses(addresses))
    }
}

/// Answers with the addresses that were checked, whatever it is asked.
#[derive(Debug)]
struct PinnedAddresses(Vec<SocketAddr>);

impl Resolver for PinnedAddresses {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut pinned = self.empty();
        // As many as the client keeps.
        for address in self.0.iter().take(16) {
            pinned.push(*address);
        }
        if pinned.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(pinned) }
    }
}

/// By kind only: the texts of these errors may contain the URL.
fn reason(error: &ureq::Error) -> &'static str {
    match error {
        ureq::Error::Timeout(_) => "no answer within the time",
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => "no connection",
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => "no answer within the time",
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => "TLS failed",
        ureq::Error::Io(_) => "the connection failed",
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => "TLS failed",
        _ => "no HTTP answer",
    }
}

/// Text that every store can keep and every terminal can show.
fn printable(answer: &[u8]) -> String {
    let shown = |letter: char| if letter.is_control() && letter != '\n' { '\u{fffd}' } else { letter };
    String::from_utf8_lossy(answer).chars().map(shown).collect()
}

impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookClient")
    }
}
