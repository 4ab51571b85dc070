//! What callers hand to the writer, and how they get their answers.

use std::{
    future::Future,
    pin::Pin,
    sync::mpsc::Sender,
    task::{Context, Poll},
};

use bankroll_ledger::{
    AccountId, AccountName, Action, Answer, Asset, AssetId, Fingerprint, OpenRejected, Policy, Principal, Rejection,
    Request,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::aside::Arrived;
use crate::{Failure, Refused, RowsChanged, Statement};

/// The room that a request with facts or events takes in the queue.
pub(crate) const FACTS_WEIGHT: usize = 17;

/// A request with what the caller's thread could find out about it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub request: Request,
    /// The request as its record will have it.
    pub encoded: Vec<u8>,
    pub fingerprint: Fingerprint,
    pub checked: Result<(), Rejection>,
}

impl Prepared {
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
pub(crate) struct Sent<T>(oneshot::Sender<Result<(T, Vec<Prepared>), Failure>>);

impl<T> Sent<T> {
    pub fn give(self, answer: T) {
        self.give_back(answer, Vec::new());
    }

    /// Answers, and leaves it to the caller's thread to free what it had sent.
    pub fn give_back(self, answer: T, requests: Vec<Prepared>) {
        // A caller that went away does not want to know.
        let _ = self.0.send(Ok((answer, requests)));
    }

    fn fail(self, failure: &Failure) {
        let _ = self.0.send(Err(failure.clone()));
    }
}

/// What the writer hears.
pub(crate) enum Message {
    Call(Job),
    /// The batch that was on its way, and the disk with it.
    Arrived(Box<Arrived>),
    /// The thread that commits is gone.
    Lost,
}

impl Message {
    pub fn call(self) -> Option<Job> {
        match self {
            Self::Call(job) => Some(job),
            Self::Arrived(_) | Self::Lost => None,
        }
    }
}

/// One call.
pub(crate) enum Job {
    Money {
        requests: Vec<Prepared>,
        reply: Sent<Vec<Answer>>,
        room: OwnedSemaphorePermit,
    },
    Open {
        by: Principal,
        names: Vec<(AccountName, Policy)>,
        reply: Sent<Vec<Result<AccountId, OpenRejected>>>,
        room: OwnedSemaphorePermit,
    },
    List {
        asset: Asset,
        reply: Sent<AssetId>,
    },
    Rows {
        statements: Vec<Statement>,
        reply: Sent<RowsChanged>,
        room: OwnedSemaphorePermit,
    },
    /// Look at the clock: answered after the holds that are due have expired.
    Tick {
        reply: Sent<()>,
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

    pub fn requests(&self) -> &[Prepared] {
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

    pub fn fail(self, failure: &Failure) {
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
    pub room: std::sync::Arc<Semaphore>,
}

impl Queue {
    /// Takes room for so many requests.
    pub fn room_for(&self, count: usize) -> Result<OwnedSemaphorePermit, Refused> {
        let count = u32::try_from(count).map_err(|_| Refused::Busy)?;
        self.room.clone().try_acquire_many_owned(count).map_err(|_| Refused::Busy)
    }

    /// The same for who must not be turned away: waits for it in turn, in this thread. Room that comes back is theirs who
    /// wait before it is anybody's who only tries, so that callers who never stop keep nobody from it.
    pub fn wait_for_room(&self, count: usize) -> Result<OwnedSemaphorePermit, Refused> {
        if let Ok(room) = self.room_for(count) {
            return Ok(room);
        }
        let count = u32::try_from(count).map_err(|_| Refused::Busy)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|_| Refused::Busy)?;
        runtime.block_on(self.room.clone().acquire_many_owned(count)).map_err(|_| Refused::Stopped)
    }

    pub fn send<T>(&self, job: impl FnOnce(Sent<T>) -> Job) -> Result<Reply<T>, Refused> {
        let (sent, reply) = oneshot::channel();
        self.jobs.send(Message::Call(job(Sent(sent)))).map_err(|_| Refused::Stopped)?;
        Ok(Reply(reply))
    }
}

/// An answer that is on its way: wait for it in a thread, or await it in a task.
#[derive(Debug)]
#[must_use = "nothing is known until the answer is"]
pub struct Reply<T>(oneshot::Receiver<Result<(T, Vec<Prepared>), Failure>>);

impl<T> Reply<T> {
    /// Blocks this thread until the answer is there.
    ///
    /// # Errors
    /// If the writer could not carry the call out, or stopped before it could tell.
    pub fn wait(self) -> Result<T, Failure> {
        self.0.blocking_recv().unwrap_or(Err(Failure::Unknown)).map(|(answer, _)| answer)
    }
}

impl<T> Future for Reply<T> {
    type Output = Result<T, Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answered = Pin::new(&mut self.0).poll(context);
        answered.map(|answer| answer.unwrap_or(Err(Failure::Unknown)).map(|(answer, _)| answer))
    }
}
