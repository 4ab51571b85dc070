//! What callers hand to the writer, and how they get their answers.

use std::{
    future::Future,
    pin::Pin,
    sync::mpsc::Sender,
    task::{Context, Poll},
};

use bankroll_ledger::{
    AccountId, AccountName, Action, Asset, AssetId, Effects, Fingerprint, OpenRejected, Policy, Principal, Rejection,
    Request, Seq, Verdict,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::commit_thread::CommitOutcome;
use crate::{RowsOutcome, Statement, SubmitFailure, SubmitRefusal};

/// What became of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its place in the journal; `None` for a rejection that leaves no trace.
    pub seq: Option<Seq>,
    /// Whether this is the stored answer to an earlier request with the same key and body.
    pub replayed: bool,
    /// The verdict.
    pub verdict: Verdict,
}

impl Answer {
    /// What an applied request did.
    ///
    /// # Errors
    /// The rejection, if it was rejected.
    pub fn effects(&self) -> Result<&Effects, Rejection> {
        match &self.verdict {
            Verdict::Applied(effects) => Ok(effects),
            Verdict::Rejected(rejection) => Err(*rejection),
        }
    }
}

/// The room that a request with facts or events takes in the queue.
pub(crate) const FACTS_WEIGHT: usize = 17;

/// A request with what the caller's thread could find out about it.
#[derive(Debug)]
pub(crate) struct PreparedRequest {
    pub request: Request,
    /// The request as its record will have it.
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
            // However large it was, what waits in the queue is small.
            let request = &mut prepared.request;
            request.key.text = String::new();
            request.action = Action::Legs(Vec::new());
            (request.references, request.facts, request.events) = Default::default();
        }
        prepared
    }

    /// How much room it takes in the queue: more with facts or events, which may be of 16 KiB.
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

    /// AnswerChannel, and leaves it to the caller's thread to free what it had sent.
    pub fn send_with_requests(self, answer: T, requests: Vec<PreparedRequest>) {
        // A caller that went away does not want to know.
        let _ = self.0.send(Ok((answer, requests)));
    }

    fn fail(self, failure: &SubmitFailure) {
        let _ = self.0.send(Err(failure.clone()));
    }
}

/// What the writer hears.
pub(crate) enum Message {
    Call(Job),
    /// The batch that was on its way, and the disk with it.
    Committed(Box<CommitOutcome>),
    /// The thread that commits is gone.
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
        names: Vec<(AccountName, Policy)>,
        reply: AnswerSender<Vec<Result<AccountId, OpenRejected>>>,
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
    /// Look at the clock: answered after the holds that are due have expired.
    Tick {
        reply: AnswerSender<()>,
    },
    Stop,
}

impl Job {
    /// How many requests, and how many sets of rows, it brings.
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

/// The way to the writer: bounded by the work that is waiting or being done, so that memory is too.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pub jobs: Sender<Message>,
    pub permits: std::sync::Arc<Semaphore>,
}

impl Queue {
    /// Takes room for so many requests.
    pub fn try_acquire(&self, count: usize) -> Result<OwnedSemaphorePermit, SubmitRefusal> {
        let count = u32::try_from(count).map_err(|_| SubmitRefusal::Busy)?;
        self.permits.clone().try_acquire_many_owned(count).map_err(|_| SubmitRefusal::Busy)
    }

    /// The same for who must not be turned away: waits for it in turn, in this thread. Room that comes back is theirs who
    /// wait before it is anybody's who only tries, so that callers who never stop keep nobody from it.
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

/// An answer that is on its way: wait for it in a thread, or await it in a task.
#[derive(Debug)]
#[must_use = "nothing is known until the answer is"]
pub struct PendingAnswer<T>(oneshot::Receiver<Result<(T, Vec<PreparedRequest>), SubmitFailure>>);

impl<T> PendingAnswer<T> {
    /// Blocks this thread until the answer is there.
    ///
    /// # Errors
    /// If the writer could not carry the call out, or stopped before it could tell.
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
