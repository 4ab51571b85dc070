//! The other side: carries calls to whoever holds the books.
//!
//! One lasting connection, many calls in flight on it. Where the books are is asked when there is no connection, when the
//! node says that it does not hold them, and every [`CHECK_HOLDER_EVERY`] while an answer is awaited: a holder that was stopped keeps
//! its connections and answers nothing.
//!
//! | what happens | what the call does |
//! | --- | --- |
//! | refused before anything could happen (not the holder, busy, out of reach) | waits a little, asks again |
//! | connection lost after it was sent, answer unknown, another holder meanwhile | it may have happened: asks again with the same keys |
//! | deadline | `unknown` if it may have happened, else `unavailable` |
//!
//! Bounds: [`CALLS_MAX`] calls at once, each of a frame at the most.

mod call;
mod connector;

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use bankroll_ledger::{AccountId, AccountName, OpenRejected, Principal, Request};
use tokio::{
    runtime::Runtime,
    sync::{Semaphore, oneshot},
    time::Instant,
};

use crate::{
    Answer, CallRefusal, NodeIdentity,
    wire::{self, CallBody, CallReply},
};
use connector::Connector;

/// Calls that may be under way at once.
const CALLS_MAX: usize = 256;
const CHECK_HOLDER_EVERY: Duration = Duration::from_secs(1);

/// Where the books are, as whoever knows it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BooksLocation {
    /// A name that this holder has and no other ever has.
    pub holder: String,
    pub address: String,
}

/// Looks where the books are; `None` if nobody answers for them. It may block.
type FindBooks = dyn FnMut() -> Result<Option<BooksLocation>, String> + Send;

/// What kept a call from being made. It passes, or somebody must mend it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnavailableReason {
    /// Nobody holds the books.
    #[error("nobody holds the books")]
    NoHolder,
    /// It was still being found for who holds them, or they were being connected to.
    #[error("the books were neither found nor connected to until then")]
    Late,
    /// Nobody could be asked who holds them.
    #[error("cannot find out which node holds the books: {0}")]
    Looking(String),
    /// The node that holds them cannot be reached.
    #[error("cannot reach the books at {address}: {kind}")]
    Connection { address: String, kind: std::io::ErrorKind },
    /// One of the two does not believe the other's certificate.
    #[error("no trust between this node and the books at {address}: {error}")]
    Trust { address: String, error: rustls::Error },
    /// The node speaks another version.
    #[error("the books at {address} speak another version")]
    Version { address: String },
    /// The node said that nothing happened.
    #[error(transparent)]
    Refused(#[from] CallRefusal),
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// Nothing happened, and the same call will be refused again.
    #[error(transparent)]
    Refused(CallRefusal),
    /// Nothing happened: too many calls are under way in this process.
    #[error("too many calls are under way")]
    Busy,
    /// Nothing happened until the deadline; the same call may be made again.
    #[error("the books could not be asked in time")]
    Unavailable(#[source] UnavailableReason),
    /// It may have happened. Ask again with the same keys.
    #[error("the outcome is unknown; ask again with the same keys")]
    Unknown,
}

/// The way to the books, shared by everybody in a process.
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
    /// Nothing is connected before the first call. `find` is asked where the books are; it may block.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(
        identity: &NodeIdentity,
        find: impl FnMut() -> Result<Option<BooksLocation>, String> + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("forwarder").enable_all().build()?;
        let connector = Arc::new(Connector::new(Arc::clone(&identity.client), Arc::new(Mutex::new(find))));
        let permits = Arc::new(Semaphore::new(CALLS_MAX));
        Ok(Self { inner: Arc::new(Inner { runtime: Some(runtime), connector, permits }) })
    }

    /// Applies requests at the books, each on its own; one answer each, in order.
    ///
    /// # Errors
    /// If there is no permits for the call, or it is larger than a frame. Nothing happened.
    pub fn apply(&self, requests: Vec<Request>, within: Duration) -> Result<PendingCall<Vec<Answer>>, CallError> {
        let given = requests.len();
        self.call(CallBody::Apply(requests), given, within, |reply| match reply {
            CallReply::Applied(answers) => Some(answers),
            CallReply::Pong | CallReply::Opened(_) => None,
        })
    }

    /// Opens accounts at the books, each with the policy of its kind; one answer each, in order.
    ///
    /// # Errors
    /// If there is no permits for the call, or it is larger than a frame. Nothing happened.
    pub fn open_accounts(
        &self,
        by: Principal,
        names: Vec<AccountName>,
        within: Duration,
    ) -> Result<PendingCall<Vec<Result<AccountId, OpenRejected>>>, CallError> {
        let given = names.len();
        self.call(CallBody::Open { by, names }, given, within, |reply| match reply {
            CallReply::Opened(opened) => Some(opened),
            CallReply::Pong | CallReply::Applied(_) => None,
        })
    }

    /// Whether whoever holds the books can be asked.
    ///
    /// # Errors
    /// Why not.
    pub fn ping(&self, within: Duration) -> Result<PendingCall<()>, CallError> {
        self.call(CallBody::Ping, 0, within, |reply| (reply == CallReply::Pong).then_some(()))
    }

    fn call<T: Send + Counted + 'static>(
        &self,
        body: CallBody,
        given: usize,
        within: Duration,
        read: impl Fn(CallReply) -> Option<T> + Send + 'static,
    ) -> Result<PendingCall<T>, CallError> {
        let encoded = wire::encode_body(&body).filter(|_| given <= wire::CALL_MAX);
        let Some(body) = encoded else {
            let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
            let refusal = CallRefusal::CallSize { given: count(given), most: count(wire::CALL_MAX) };
            return Err(CallError::Refused(refusal));
        };
        let permit = Arc::clone(&self.inner.permits).try_acquire_owned().map_err(|_| CallError::Busy)?;
        let (sender, reply) = oneshot::channel();
        let (connector, deadline) = (Arc::clone(&self.inner.connector), Instant::now() + within);
        if let Some(runtime) = &self.inner.runtime {
            runtime.spawn(async move {
                let answered = call::call_until(&connector, &body, deadline).await;
                let answered = answered.and_then(|reply| {
                    // An answer to another body: nobody knows what became of this one.
                    read(reply).filter(|read| read.count() == given).ok_or(CallError::Unknown)
                });
                let _ = sender.send(answered);
                drop(permit);
            });
        }
        Ok(PendingCall(reply))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // It may be dropped within another runtime, where pending is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// How many answers an answer has.
trait Counted {
    fn count(&self) -> usize;
}

impl<T> Counted for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }
}

impl Counted for () {
    fn count(&self) -> usize {
        0
    }
}

/// An answer that is on its way: wait for it in a thread, or await it in a task.
#[derive(Debug)]
#[must_use = "nothing is known until the answer is"]
pub struct PendingCall<T>(oneshot::Receiver<Result<T, CallError>>);

impl<T> PendingCall<T> {
    /// Blocks this thread until the answer is there, or the deadline is over.
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
