//! One request through the front: id, limits, the backend, headers of the answer, metrics, the access line.

use std::{
    hash::{BuildHasher, RandomState},
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{Router, body::Body, extract::Request, response::Response};
use http::{HeaderMap, HeaderValue, Method, header, request::Parts};
use hyper::body::Incoming;
use tokio::sync::watch;
use tower::ServiceExt;

use super::{
    AccessLine, FrontBackend, FrontConfig, MetricGauge,
    bodies::Bodies,
    connections::Connection,
    cors, local_pages,
    metrics::Metrics,
    rate::{RateLimiter, network},
    streams::Streams,
};
use crate::{
    ApiError, ErrorCode,
    errors::{REQUEST_ID, error_response},
    events_page::INTERNAL,
    input::bearer_token,
};

/// The most bytes of a request id.
const ID_MAX: usize = 64;
/// What anybody may post. Each of these costs the books a signature check or a commit, so they have a low rate.
const PUBLIC: [&str; 4] = ["/v1/register", "/v1/sessions", "/v1/sign-in/nonce", "/v1/sign-in"];

pub(super) struct Gateway {
    config: FrontConfig,
    backend: FrontBackend,
    local: Router,
    pub metrics: Metrics,
    bodies: Bodies,
    pub streams: Arc<Streams>,
    per_address: Option<RateLimiter>,
    per_session: Option<RateLimiter>,
    public: Option<RateLimiter>,
    ids: RandomState,
    requests: AtomicU64,
}

impl Gateway {
    pub fn new(
        config: FrontConfig,
        backend: FrontBackend,
        local: Router,
        metrics: Metrics,
        stopped: watch::Receiver<bool>,
    ) -> Self {
        let limiter = |limit: Option<_>| limit.map(RateLimiter::new);
        Self {
            bodies: Bodies::new(&config),
            streams: Streams::new(&config, backend.clone(), stopped),
            per_address: limiter(config.rate_per_address),
            per_session: limiter(config.rate_per_session),
            public: limiter(config.rate_public),
            ids: RandomState::new(),
            requests: AtomicU64::new(0),
            config,
            backend,
            local,
            metrics,
        }
    }

    /// Answers one request; `place` is its connection's, which is busy once the whole request is there. Every answer has
    /// an id, the headers of safety, and a line in the log.
    pub async fn answer(
        &self,
        peer: SocketAddr,
        place: &Arc<Connection>,
        request: hyper::Request<Incoming>,
    ) -> Response {
        let start = Instant::now();
        let (mut parts, body) = request.into_parts();
        let id = self.request_id(&parts.headers);
        parts.headers.insert(REQUEST_ID, id.clone());
        let (method, route) = (parts.method.clone(), self.metrics.routes.find(parts.uri.path()));
        let is_docs = local_pages::is_docs(parts.uri.path());
        let origin = cors::allowed_origin(&self.config.cors_origins, &parts.headers);
        let preflight = cors::preflight(&method, &parts.headers);
        let is_preflight = preflight.is_some();
        let mut response = match preflight {
            Some(response) => response,
            None => {
                self.checked(peer, place, parts, body).await.unwrap_or_else(|error| error_response(&error, Some(&id)))
            }
        };
        if !self.config.cors_origins.is_empty() {
            cors::allow(&mut response, origin, is_preflight);
        }
        let code = response.extensions().get::<ApiError>().map(|error| error.code.as_str());
        self.add_headers(&mut response, &id, is_docs);
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        let status = response.status().as_u16();
        self.metrics.count(route, status, micros);
        (self.config.log)(&AccessLine {
            request_id: id.to_str().unwrap_or_default().to_owned(),
            peer,
            method: method.to_string(),
            route: self.metrics.routes.templates.get(route).cloned().unwrap_or_default(),
            status,
            code,
            micros,
        });
        response
    }

    async fn checked(
        &self,
        peer: SocketAddr,
        place: &Arc<Connection>,
        parts: Parts,
        body: Incoming,
    ) -> Result<Response, ApiError> {
        if parts.uri.path() == "/livez" {
            return Ok(self.local_answer(parts).await);
        }
        self.check_rate(self.address(peer, &parts.headers), &parts)?;
        if local_pages::is_local(parts.uri.path()) {
            return Ok(self.local_answer(parts).await);
        }
        if parts.uri.path().starts_with(INTERNAL) {
            return Err(ErrorCode::NotFound.into());
        }
        let stream = self.streams.place(&parts)?;
        let body = self.bodies.read(&parts, body).await?;
        // A slow body must not keep its connection from giving way. One that gave way starts nothing at the books: it
        // may be dropped before the answer.
        if !place.set_busy() {
            return Err(ApiError::new(ErrorCode::Busy).after(1));
        }
        let method = parts.method.clone();
        let answered =
            match tokio::time::timeout(self.config.answer_timeout, self.backend.ask(parts.clone(), body.bytes.clone()))
                .await
            {
                Ok(answered) => answered,
                // The books may still decide it.
                Err(_) if method != Method::GET => Err(ApiError::new(ErrorCode::OutcomeUnknown).after(1)),
                Err(_) => Err(ApiError::new(ErrorCode::Unavailable).after(1)),
            };
        match stream {
            Some(stream) => self.streams.begin(stream, parts, answered?, Arc::clone(place)).await,
            None => answered,
        }
    }

    async fn local_answer(&self, parts: Parts) -> Response {
        match self.local.clone().oneshot(Request::from_parts(parts, Body::empty())).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    fn check_rate(&self, address: IpAddr, parts: &Parts) -> Result<(), ApiError> {
        let limited = |seconds| ApiError::new(ErrorCode::RateLimited).after(seconds);
        if let Some(limiter) = &self.per_address {
            limiter.take(&network(address)).map_err(limited)?;
        }
        let is_public = parts.method == Method::POST && PUBLIC.contains(&parts.uri.path());
        if let Some(limiter) = self.public.as_ref().filter(|_| is_public) {
            limiter.take(&network(address)).map_err(limited)?;
        }
        // Not the raw header: each spelling of it would have a bucket of its own.
        let token = parts.headers.get(header::AUTHORIZATION).and_then(|value| bearer_token(value.to_str().ok()?));
        match (&self.per_session, token) {
            (Some(limiter), Some(token)) => limiter.take(&token).map_err(limited),
            _ => Ok(()),
        }
    }

    /// The caller's address: the peer's, or behind a proxy the last one that the proxy added.
    fn address(&self, peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
        let forwarded = || {
            let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
            last.rsplit(',').next()?.trim().parse().ok()
        };
        self.config.behind_proxy.then(forwarded).flatten().unwrap_or_else(|| peer.ip())
    }

    /// The caller's own id if it is short and plain, so that it cannot forge log lines; otherwise a new one.
    fn request_id(&self, headers: &HeaderMap) -> HeaderValue {
        let is_plain = |id: &&HeaderValue| {
            let legal = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(legal)
        };
        headers.get(REQUEST_ID).filter(is_plain).cloned().unwrap_or_else(|| {
            let number = self.requests.fetch_add(1, Ordering::Relaxed);
            let id = format!("req_{:016x}{:04x}", self.ids.hash_one(number), number & 0xffff);
            HeaderValue::from_str(&id).unwrap_or_else(|_| HeaderValue::from_static("req"))
        })
    }

    fn add_headers(&self, response: &mut Response, id: &HeaderValue, is_docs: bool) {
        let headers = response.headers_mut();
        headers.insert(REQUEST_ID, id.clone());
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        // Only the public log of heads says otherwise.
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        // The documentation page is made of its own scripts, and styles that they set.
        let policy = if is_docs {
            "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
        } else {
            "default-src 'none'; frame-ancestors 'none'"
        };
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        if self.config.tls.is_some() {
            let year = HeaderValue::from_static("max-age=31536000");
            headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
        }
    }

    pub fn head_timeout(&self) -> Duration {
        self.config.head_timeout
    }

    pub fn write_timeout(&self) -> Duration {
        self.config.write_timeout
    }

    pub fn close_timeout(&self) -> Duration {
        self.config.close_timeout
    }

    pub fn metrics_text(&self) -> String {
        let streams = MetricGauge {
            name: "bankroll_event_streams",
            help: "Event streams that are open.",
            labels: String::new(),
            value: self.streams.count() as u64,
        };
        let gauges: Vec<MetricGauge> = (self.config.gauges)().into_iter().chain([streams]).collect();
        self.metrics.text(&gauges)
    }
}
