//! One stream: it waits until there is something for it, asks with the caller's own proof, and passes the frames on.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderMap, HeaderName, HeaderValue, request::Parts};
use http_body_util::{BodyExt, Limited};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{StreamPlace, Streams, tail::Tail};
use crate::{
    ErrorCode,
    events_page::{self, END_EVENT, RESPONSE_BYTES_MAX},
    front::connections::Connection,
};

/// What a client waits before it connects again, in milliseconds.
const RETRY: &[u8] = b"retry: 2000\n\n";
/// A stream asks again after this time at the earliest, unless its last page was full: one page for many events.
const REST: Duration = Duration::from_millis(100);
/// After failures of the books: doubled each time.
const FAILURE_REST: Duration = Duration::from_millis(250);
const FAILURE_DOUBLINGS_MAX: u32 = 4;
/// No proof lasts for longer than a month, in seconds.
const PROOF_MAX: u64 = 31 * 86_400;
const EARLY: Duration = Duration::from_secs(1);

pub(super) struct EventStream {
    streams: Arc<Streams>,
    /// The caller's request. Only the position in it changes: no signature covers that.
    request: Parts,
    position: Position,
    /// What the tail said about rights before the last page was asked for.
    checked: u64,
    tail: watch::Receiver<Tail>,
    stopped: watch::Receiver<bool>,
    not_before: Instant,
    failures: u32,
    heartbeat_at: Instant,
    has_ended: bool,
    /// Given back when the body is dropped.
    _held: (StreamPlace, StreamingConnection),
}

/// What the books said about the last page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// The sequence up to which the caller has everything.
    next: u64,
    /// Whether there is more right now.
    has_more: bool,
    /// When the proof of the caller ends.
    expires_at: Option<Instant>,
}

/// Why a stream stops waiting.
enum Wake {
    Stop,
    Ask,
    Heartbeat,
}

/// A connection that must not give way while its stream lasts.
pub(super) struct StreamingConnection(Arc<Connection>);

impl StreamingConnection {
    pub fn new(connection: Arc<Connection>) -> Self {
        connection.state.set_streaming(true);
        Self(connection)
    }
}

impl Drop for StreamingConnection {
    fn drop(&mut self) {
        self.0.state.set_streaming(false);
        self.0.set_idle();
    }
}

impl Position {
    /// `None` if the headers are not those of a page.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let number = |name: &HeaderName| headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
        Some(Self {
            next: number(&events_page::NEXT)?,
            has_more: headers.contains_key(&events_page::MORE),
            // One more: a proof that is asked about too early is still valid.
            expires_at: number(&events_page::LASTS)
                .map(|seconds| Instant::now() + Duration::from_secs(seconds.min(PROOF_MAX)) + EARLY),
        })
    }
}

impl EventStream {
    pub fn new(
        streams: Arc<Streams>,
        request: Parts,
        position: Position,
        held: (StreamPlace, StreamingConnection),
    ) -> Self {
        let (tail, stopped, now) = (streams.tail.subscribe(), streams.stopped.clone(), Instant::now());
        Self {
            request,
            position,
            checked: held.0.rights_before,
            tail,
            stopped,
            not_before: now + REST,
            failures: 0,
            heartbeat_at: now + streams.heartbeat,
            has_ended: false,
            _held: held,
            streams,
        }
    }

    /// The stream as a body that begins with the frames of the first page. The body is asked for more only when the
    /// connection has taken what it had: nothing collects here.
    pub fn into_body(self, first: &[u8]) -> Body {
        let first = Bytes::from([RETRY, first].concat());
        let chunks = unfold((Some(first), self), |(first, mut stream)| async move {
            let chunk = match first {
                Some(first) => first,
                None => stream.next().await?,
            };
            Some((Ok::<_, Infallible>(chunk), (None, stream)))
        });
        Body::from_stream(chunks)
    }

    async fn next(&mut self) -> Option<Bytes> {
        if self.has_ended {
            return None;
        }
        loop {
            let frames = match self.wait().await {
                Wake::Stop => self.end(&stopping()),
                Wake::Heartbeat => Bytes::from(format!(": heartbeat\nid: {}\n\n", self.position.next)),
                Wake::Ask => self.ask().await,
            };
            if !frames.is_empty() {
                self.heartbeat_at = Instant::now() + self.streams.heartbeat;
                return Some(frames);
            }
        }
    }

    async fn wait(&mut self) -> Wake {
        let (position, checked, not_before, failures) = (self.position, self.checked, self.not_before, self.failures);
        let (tail, stopped) = (&mut self.tail, &mut self.stopped);
        let has_reason = async move {
            if position.has_more && failures == 0 {
                return;
            }
            if failures == 0 {
                let expired = async {
                    match position.expires_at {
                        Some(at) => sleep_until(at).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    // The sender lives as long as the streams do.
                    _ = tail.wait_for(|tail| tail.newest > position.next || tail.rights != checked) => {}
                    () = expired => {}
                }
            }
            sleep_until(not_before).await;
        };
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => Wake::Stop,
            () = has_reason => Wake::Ask,
            () = sleep_until(self.heartbeat_at) => Wake::Heartbeat,
        }
    }

    /// Asks for the next page. Empty if it has nothing for this caller, or if the books cannot be reached now.
    async fn ask(&mut self) -> Bytes {
        let (streams, mut stopped) = (Arc::clone(&self.streams), self.stopped.clone());
        let turn = async {
            streams.pace.turn().await;
            streams.pages.acquire().await
        };
        let permit = tokio::select! {
            permit = turn => permit,
            _ = stopped.wait_for(|stopped| *stopped) => return Bytes::new(),
        };
        // Before the books check the proof: what changes later is noticed later.
        self.checked = self.tail.borrow().rights;
        let mut request = self.request.clone();
        let position = HeaderValue::from(self.position.next);
        request.headers.insert(&events_page::LAST_EVENT_ID, position);
        let asked = tokio::time::timeout(streams.answer_timeout, async {
            let answer = streams.backend.ask(request, Bytes::new()).await.ok()?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, RESPONSE_BYTES_MAX).collect().await.ok()?.to_bytes();
            Some((head, body))
        });
        let answer = asked.await.ok().flatten();
        drop(permit);
        match answer {
            Some((head, body)) if head.status.is_success() => match Position::of(&head.headers) {
                Some(position) => self.passed(position, body),
                None => self.failed(),
            },
            Some((head, body)) if head.status.is_client_error() => self.end(&problem(&body)),
            _ => self.failed(),
        }
    }

    fn passed(&mut self, position: Position, frames: Bytes) -> Bytes {
        (self.position, self.failures, self.not_before) = (position, 0, Instant::now() + REST);
        frames
    }

    /// The books are out of reach: they may be moving to another node. The caller keeps its place.
    fn failed(&mut self) -> Bytes {
        let doublings = self.failures.min(FAILURE_DOUBLINGS_MAX);
        self.failures = self.failures.saturating_add(1);
        self.not_before = Instant::now() + FAILURE_REST * 2_u32.pow(doublings);
        Bytes::new()
    }

    fn end(&mut self, why: &Value) -> Bytes {
        self.has_ended = true;
        Bytes::from(format!("event: {END_EVENT}\ndata: {why}\n\n"))
    }
}

fn stopping() -> Value {
    json!({
        "code": ErrorCode::Unavailable.as_str(),
        "detail": "this node stops; connect again with the header Last-Event-ID",
        "retriable": true,
    })
}

/// The error of the books on one line.
fn problem(body: &[u8]) -> Value {
    let refused = || json!({ "code": ErrorCode::SessionInvalid.as_str(), "detail": "the books refuse the proof" });
    serde_json::from_slice(body).unwrap_or_else(|_| refused())
}

/// The position of the first page, and its frames.
pub(super) async fn first_page(first: Response) -> Option<(Position, Bytes)> {
    let position = Position::of(first.headers())?;
    let frames = Limited::new(first.into_body(), RESPONSE_BYTES_MAX).collect().await.ok()?.to_bytes();
    Some((position, frames))
}
