//! The queue from callers to the writer, and the answers back.

use std::{
    future::Future,
    pin::Pin,
    sync::mpsc::Sender,
    task::{Context, Poll},
};

use bankroll_ledger::{
    AccountId, AccountName, AccountPolicy, Action, Answer, Asset, AssetId, Fingerprint, OpenRejection, Principal,
    Rejection, Request,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::commit_thread::CommitOutcome;
use crate::{RowsOutcome, Statement, SubmitFailure, SubmitRefusal};

/// The permits that a request with facts or events takes.
pub(crate) const FACTS_WEIGHT: usize = 17;

/// A request with everything that the caller's thread can compute about it.
#[derive(Debug)]
pub(crate) struct PreparedRequest {
    pub request: Request,
    /// The request as its record will store it.
    pub encoded: Vec<u8>,
    pub fingerprint: Fingerprint,
    pub checked: Result<(), Rejection>,
}

impl PreparedRequest {
    pub fn new(request: Request) -> Self {
        let checked = request.check();
        let mut prepared = Self { fingerprint: Fingerprint(0), encoded: Vec::new(), request, checked };
        if checked.is_ok() {
            prepared.fingerprint = prepared.request.key.fingerprint();
            prepared.encoded = prepared.request.encode();
        } else {
            // However large the request was, what waits in the queue is small.
            let request = &mut prepared.request;
            request.key.text = String::new();
            request.action = Action::Legs(Vec::new());
            (request.references, request.facts, request.events) = Default::default();
        }
        prepared
    }

    /// How many permits it takes: more with facts or events, which may have 16 KiB.
    pub fn weight(&self) -> usize {
        if self.request.facts.is_empty() && self.request.events.is_empty() { 1 } else { FACTS_WEIGHT }
    }
}

/// The writer's end of an answer.
#[derive(Debug)]
pub(crate) struct AnswerSender<T>(oneshot::Sender<Result<(T, Vec<PreparedRequest>), SubmitFailure>>);

impl<T> AnswerSender<T> {
    pub fn send(self, answer: T) {
        self.send_with_requests(answer, Vec::new());
    }

    /// Answers, and leaves it to the caller's thread to free the requests.
    pub fn send_with_requests(self, answer: T, requests: Vec<PreparedRequest>) {
        // Fails only if the caller has dropped the receiver.
        let _ = self.0.send(Ok((answer, requests)));
    }

    fn fail(self, failure: &SubmitFailure) {
        let _ = self.0.send(Err(failure.clone()));
    }
}

/// What the writer receives.
pub(crate) enum Message {
    Call(Job),
    /// The outcome of the batch in flight, with the engine.
    Committed(Box<CommitOutcome>),
    /// The commit thread has ended.
    CommitThreadLost,
}

impl Message {
    pub fn call(self) -> Option<Job> {
        match self {
            Self::Call(job) => Some(job),
            Self::Committed(_) | Self::CommitThreadLost => None,
        }
    }
}

/// One call.
pub(crate) enum Job {
    Money {
        requests: Vec<PreparedRequest>,
        reply: AnswerSender<Vec<Answer>>,
        permits: OwnedSemaphorePermit,
    },
    Open {
        by: Principal,
        names: Vec<(AccountName, AccountPolicy)>,
        reply: AnswerSender<Vec<Result<AccountId, OpenRejection>>>,
        permits: OwnedSemaphorePermit,
    },
    List {
        asset: Asset,
        reply: AnswerSender<AssetId>,
    },
    Rows {
        statements: Vec<Statement>,
        reply: AnswerSender<RowsOutcome>,
        permits: OwnedSemaphorePermit,
    },
    /// Read the clock: answered after the holds that are due have expired.
    Tick {
        reply: AnswerSender<()>,
    },
    Stop,
}

impl Job {
    /// How many requests, and how many sets of rows, it has.
    pub fn weight(&self) -> (usize, usize) {
        match self {
            Self::Money { requests, .. } => (requests.len(), 0),
            Self::Open { names, .. } => (names.len(), 0),
            Self::Rows { .. } => (0, 1),
            Self::List { .. } | Self::Tick { .. } | Self::Stop => (1, 0),
        }
    }

    pub fn requests(&self) -> &[PreparedRequest] {
        match self {
            Self::Money { requests, .. } => requests,
            _ => &[],
        }
    }

    /// The names of accounts to be opened.
    pub fn names(&self) -> impl Iterator<Item = &AccountName> {
        let names = if let Self::Open { names, .. } = self { names.as_slice() } else { &[] };
        names.iter().map(|(name, _)| name)
    }

    /// Requests without facts, and nothing else.
    pub fn is_plain_money(&self) -> bool {
        matches!(self, Self::Money { requests, .. } if requests.iter().all(|one| one.request.facts.is_empty()))
    }

    pub fn statements(&self) -> Option<&[Statement]> {
        match self {
            Self::Rows { statements, .. } => Some(statements),
            _ => None,
        }
    }

    pub fn fail(self, failure: &SubmitFailure) {
        match self {
            Self::Money { reply, .. } => reply.fail(failure),
            Self::Open { reply, .. } => reply.fail(failure),
            Self::List { reply, .. } => reply.fail(failure),
            Self::Rows { reply, .. } => reply.fail(failure),
            Self::Tick { reply } => reply.fail(failure),
            Self::Stop => {}
        }
    }
}

/// The queue to the writer. Permits bound the work that waits or is in progress, and with it memory.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub jobs: Sender<Message>,
    pub permits: std::sync::Arc<Semaphore>,
}

impl Queue {
    /// Acquires permits without waiting.
    pub fn try_acquire(&self, count: usize) -> Result<OwnedSemaphorePermit, SubmitRefusal> {
        let count = u32::try_from(count).map_err(|_| SubmitRefusal::Busy)?;
        self.permits.clone().try_acquire_many_owned(count).map_err(|_| SubmitRefusal::Busy)
    }

    /// Blocks this thread until the permits are free, in FIFO order. Freed permits go to waiters first, so retry loops
    /// cannot starve flows.
    pub fn acquire(&self, count: usize) -> Result<OwnedSemaphorePermit, SubmitRefusal> {
        if let Ok(permits) = self.try_acquire(count) {
            return Ok(permits);
        }
        let count = u32::try_from(count).map_err(|_| SubmitRefusal::Busy)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|_| SubmitRefusal::Busy)?;
        runtime.block_on(self.permits.clone().acquire_many_owned(count)).map_err(|_| SubmitRefusal::Stopped)
    }

    pub fn send<T>(&self, job: impl FnOnce(AnswerSender<T>) -> Job) -> Result<PendingAnswer<T>, SubmitRefusal> {
        let (sent, reply) = oneshot::channel();
        self.jobs.send(Message::Call(job(AnswerSender(sent)))).map_err(|_| SubmitRefusal::Stopped)?;
        Ok(PendingAnswer(reply))
    }
}

/// An answer that is not there yet: block a thread on it, or await it in a task.
#[derive(Debug)]
#[must_use = "nothing is known until the answer is"]
pub struct PendingAnswer<T>(oneshot::Receiver<Result<(T, Vec<PreparedRequest>), SubmitFailure>>);

impl<T> PendingAnswer<T> {
    /// Blocks this thread until the answer arrives.
    ///
    /// # Errors
    /// If the writer could not execute the call, or stopped before it could report the outcome.
    pub fn wait(self) -> Result<T, SubmitFailure> {
        self.0.blocking_recv().unwrap_or(Err(SubmitFailure::Unknown)).map(|(answer, _)| answer)
    }
}

impl<T> Future for PendingAnswer<T> {
    type Output = Result<T, SubmitFailure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answered = Pin::new(&mut self.0).poll(context);
        answered.map(|answer| answer.unwrap_or(Err(SubmitFailure::Unknown)).map(|(answer, _)| answer))
    }
}
