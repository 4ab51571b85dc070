//! Event streams: Server-Sent Events out of pages.
//!
//! The node protocol has one response for each request, so the front makes the stream: it asks the books for page after
//! page with the caller's own proof. The books check the proof each time: a revoked key or a closed session ends the
//! stream on every node. While nothing is new, no stream asks: one shared [`tail`](self) of the front waits at the books
//! and wakes the streams.
//!
//! Bounds: streams in all and per caller; one page in memory per stream, and the next one is asked for when the caller
//! has taken it; pages per second and at a time, whatever the number of streams. A caller that takes nothing is cut off
//! by the write deadline of its connection.
//!
//! | file | what it does |
//! | --- | --- |
//! | `places` | how many streams there are, and whose |
//! | `tail` | what is new, asked once for all streams |
//! | `pace` | how often pages are asked for |
//! | `event_stream` | one stream: wait, ask, pass on, end |

mod event_stream;
mod pace;
mod places;
mod tail;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use axum::response::Response;
use http::{HeaderValue, Method, header, request::Parts};
use tokio::sync::{Semaphore, watch};

use super::{FrontBackend, FrontConfig, connections::Connection};
use crate::{ApiError, ErrorCode, events_page};
use event_stream::{EventStream, StreamingConnection, first_page};
use pace::Pace;
pub(super) use places::StreamPlace;
use places::StreamPlaces;
use tail::Tail;

/// Pages that one front asks for at the same time.
const PAGES_AT_ONCE: usize = 2;

/// Marks a response whose body is a stream: its connection stays busy until the body has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streaming;

/// All streams of a front.
pub(super) struct Streams {
    backend: FrontBackend,
    places: Arc<StreamPlaces>,
    tail: watch::Sender<Tail>,
    is_tail_followed: AtomicBool,
    pace: Pace,
    pages: Semaphore,
    heartbeat: Duration,
    answer_timeout: Duration,
    stopped: watch::Receiver<bool>,
}

impl Streams {
    pub fn new(config: &FrontConfig, backend: FrontBackend, stopped: watch::Receiver<bool>) -> Arc<Self> {
        Arc::new(Self {
            backend,
            places: StreamPlaces::new(config.streams_max, config.streams_per_caller),
            tail: watch::Sender::new(Tail::default()),
            is_tail_followed: AtomicBool::new(false),
            pace: Pace::new(config.stream_pages_per_s),
            pages: Semaphore::new(PAGES_AT_ONCE),
            heartbeat: config.stream_heartbeat,
            answer_timeout: config.answer_timeout,
            stopped,
        })
    }

    pub fn count(&self) -> usize {
        self.places.count()
    }

    /// A place for a stream, before the books are asked for anything; `None` for any other request.
    pub fn place(&self, parts: &Parts) -> Result<Option<StreamPlace>, ApiError> {
        if parts.method != Method::GET || parts.uri.path() != events_page::PATH || !wants_stream(parts) {
            return Ok(None);
        }
        let place = StreamPlaces::enter(&self.places, self.tail.borrow().rights);
        place.map(Some).ok_or_else(|| too_many("this node has as many event streams as it may have"))
    }

    /// The stream that begins with the first page; anything else than a page is passed on as it is.
    pub async fn begin(
        self: &Arc<Self>,
        mut place: StreamPlace,
        parts: Parts,
        first: Response,
        connection: Arc<Connection>,
    ) -> Result<Response, ApiError> {
        let is_page = first.status().is_success() && is_frames(first.headers().get(header::CONTENT_TYPE));
        if !is_page {
            return Ok(first);
        }
        let caller = first.headers().get(events_page::CALLER).map(|caller| caller.as_bytes().to_owned());
        if !place.belongs_to(caller.as_deref().unwrap_or_default()) {
            return Err(too_many("this caller has as many event streams as one may have"));
        }
        let (position, frames) = first_page(first).await.ok_or(ErrorCode::Internal)?;
        tail::follow_while_needed(self);
        let held = (place, StreamingConnection::new(connection));
        let stream = EventStream::new(Arc::clone(self), parts, position, held);
        let mut response = Response::new(stream.into_body(&frames));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(events_page::FRAMES));
        // A proxy that collects the answer first would delay every event.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response.extensions_mut().insert(Streaming);
        Ok(response)
    }
}

fn too_many(detail: &'static str) -> ApiError {
    ApiError::with(ErrorCode::RateLimited, detail).after(30)
}

fn wants_stream(parts: &Parts) -> bool {
    parts.headers.get_all(header::ACCEPT).iter().any(|accept| events_page::accepts_frames(accept.as_bytes()))
}

fn is_frames(content_type: Option<&HeaderValue>) -> bool {
    content_type.is_some_and(|content_type| content_type.as_bytes() == events_page::FRAMES.as_bytes())
}
