//! The caller's side: forwards calls to the node that holds the books.
//!
//! One lasting connection with many calls in flight. The holder is looked up when there is no connection, when a node
//! answers that it is not the holder, and every [`CHECK_HOLDER_EVERY`] while a call waits: a suspended holder keeps its
//! connections and answers nothing.
//!
//! | what happens | what the call does |
//! | --- | --- |
//! | refused before it took effect (not the holder, busy) | pauses, retries |
//! | connection lost after sending, outcome unknown, new holder | may have happened: retries with the same keys |
//! | the same, for a request without a key | `unknown` at once: a second delivery would be answered differently |
//! | deadline | `unknown` if it may have happened, else `unavailable` |
//!
//! Bounds: [`CALLS_MAX`] calls in flight, each at most one frame.

mod call;
mod connector;
mod lookup;

use std::{
    future::Future,
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    runtime::Runtime,
    sync::{Semaphore, oneshot},
    time::Instant,
};

use crate::{
    CallRefusal, NodeIdentity, RELAYED_HEADERS_MAX, RelayedRequest, RelayedResponse,
    wire::{self, CallBody, CallReply},
};
use call::Repeat;
use connector::{Connector, Transport};
use lookup::HolderLookup;

/// The most calls in flight.
const CALLS_MAX: usize = 256;
const CHECK_HOLDER_EVERY: Duration = Duration::from_secs(1);

/// The node that holds the books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BooksLocation {
    /// Unique to this holder; never reused.
    pub holder: String,
    pub address: String,
}

/// Why a call was not made. Transient, or an operator must fix it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnavailableReason {
    #[error("no node holds the books")]
    NoHolder,
    /// The deadline passed during the lookup or the connection.
    #[error("the books were not found or connected to in time")]
    Late,
    /// The lookup failed.
    #[error("cannot find out which node holds the books: {0}")]
    Looking(String),
    #[error("cannot reach the books at {address}: {kind}")]
    Connection { address: String, kind: std::io::ErrorKind },
    /// One of the two nodes rejects the other's certificate.
    #[error("no trust between this node and the books at {address}: {error}")]
    Trust { address: String, error: rustls::Error },
    #[error("the books at {address} have another protocol version")]
    Version { address: String },
    /// The node answered that nothing happened.
    #[error(transparent)]
    Refused(#[from] CallRefusal),
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// Nothing happened, and the same call will be refused again.
    #[error(transparent)]
    Refused(CallRefusal),
    /// Nothing happened: too many calls are in flight in this process.
    #[error("too many calls are in flight")]
    Busy,
    /// Nothing happened before the deadline; the caller can retry.
    #[error("the books could not be reached in time")]
    Unavailable(#[source] UnavailableReason),
    /// It may have happened. Retry with the same keys.
    #[error("the outcome is unknown; retry with the same keys")]
    Unknown,
    /// It happened; its reply does not fit a frame, and would not when the call is repeated.
    #[error("the call was answered, but its reply is too long for a frame")]
    ReplyTooLong,
}

/// A client of the books, shared within a process.
#[derive(Clone, Debug)]
pub struct Forwarder {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    runtime: Option<Runtime>,
    connector: Arc<Connector>,
    permits: Arc<Semaphore>,
}

impl Forwarder {
    /// Connects at the first call. `find` looks up the holder, on a thread of its own; it may block there, also when it
    /// is dropped.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(
        identity: &NodeIdentity,
        find: impl FnMut() -> Result<Option<BooksLocation>, String> + Send + 'static,
    ) -> std::io::Result<Self> {
        let forwarder = Self::connecting(Transport::Tls(identity.clone()), find)?;
        if let Some(runtime) = &forwarder.inner.runtime {
            runtime.spawn(identity.clone().follow_files());
        }
        Ok(forwarder)
    }

    /// For commands: calls the node on this machine that has this socket.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start_local(socket: &Path) -> std::io::Result<Self> {
        let here = BooksLocation { holder: "this machine".into(), address: socket.display().to_string() };
        Self::connecting(Transport::Socket(socket.to_owned()), move || Ok(Some(here.clone())))
    }

    fn connecting(
        transport: Transport,
        find: impl FnMut() -> Result<Option<BooksLocation>, String> + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("forwarder").enable_all().build()?;
        let connector = Arc::new(Connector::new(transport, HolderLookup::start(find)?));
        let permits = Arc::new(Semaphore::new(CALLS_MAX));
        Ok(Self { inner: Arc::new(Inner { runtime: Some(runtime), connector, permits }) })
    }

    /// Has the books answer one request of the Funds API. Every attempt sends the same bytes; a change without an
    /// idempotency key is delivered at most once ([`RelayedRequest::may_be_repeated`]).
    ///
    /// # Errors
    /// If too many calls are in flight, or the request does not fit one frame. Nothing happened.
    pub fn relay(&self, request: RelayedRequest, within: Duration) -> Result<PendingCall<RelayedResponse>, CallError> {
        if request.headers.len() > RELAYED_HEADERS_MAX {
            return Err(CallError::Refused(CallRefusal::TooLong));
        }
        let repeat = if request.may_be_repeated() { Repeat::UntilAnswered } else { Repeat::Never };
        self.call(&CallBody::Relay(request), repeat, within, |reply| match reply {
            CallReply::Relayed(response) => Some(response),
            CallReply::Pong => None,
        })
    }

    /// Checks that the holder of the books answers.
    ///
    /// # Errors
    /// Why not.
    pub fn ping(&self, within: Duration) -> Result<PendingCall<()>, CallError> {
        self.call(&CallBody::Ping, Repeat::UntilAnswered, within, |reply| (reply == CallReply::Pong).then_some(()))
    }

    fn call<T: Send + 'static>(
        &self,
        body: &CallBody,
        repeat: Repeat,
        within: Duration,
        read: impl Fn(CallReply) -> Option<T> + Send + 'static,
    ) -> Result<PendingCall<T>, CallError> {
        let body = wire::encode_body(body).ok_or(CallError::Refused(CallRefusal::TooLong))?;
        let permit = Arc::clone(&self.inner.permits).try_acquire_owned().map_err(|_| CallError::Busy)?;
        let (sender, reply) = oneshot::channel();
        let (connector, deadline) = (Arc::clone(&self.inner.connector), Instant::now() + within);
        if let Some(runtime) = &self.inner.runtime {
            runtime.spawn(async move {
                let answered = call::call_until(&connector, &body, repeat, deadline).await;
                // A reply of another kind: the outcome of this call is unknown.
                let answered = answered.and_then(|reply| read(reply).ok_or(CallError::Unknown));
                let _ = sender.send(answered);
                drop(permit);
            });
        }
        Ok(PendingCall(reply))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // It may be dropped within another runtime, where blocking is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A call in flight: wait for it in a thread, or await it in a task.
#[derive(Debug)]
#[must_use = "the outcome is unknown until it is awaited"]
pub struct PendingCall<T>(oneshot::Receiver<Result<T, CallError>>);

impl<T> PendingCall<T> {
    /// Blocks until the answer or the deadline.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn wait(self) -> Result<T, CallError> {
        self.0.blocking_recv().unwrap_or(Err(CallError::Unknown))
    }
}

impl<T> Future for PendingCall<T> {
    type Output = Result<T, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|reply| reply.unwrap_or(Err(CallError::Unknown)))
    }
}
