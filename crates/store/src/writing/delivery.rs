//! Delivery: answers go out once their batch is durable.

use std::{sync::mpsc::Sender, thread};

use bankroll_ledger::{AccountId, Answer, AssetId, OpenRejection};

use super::queue::{AnswerSender, Job};
use crate::RowsOutcome;

/// The outcomes of the calls of a batch, each kind in the order of its calls.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    pub answers: Vec<Answer>,
    pub opened: Vec<Vec<Result<AccountId, OpenRejection>>>,
    pub listed: Vec<AssetId>,
    pub rows: Vec<RowsOutcome>,
}

impl Outcomes {
    fn deliver(self, jobs: Vec<Job>) {
        let mut answers = self.answers.into_iter();
        let mut opened = self.opened.into_iter();
        let mut listed = self.listed.into_iter();
        let mut rows = self.rows.into_iter();
        for job in jobs {
            match job {
                // Permits first: a caller with an answer may call again at once.
                Job::Money { requests, reply, permits } => {
                    drop(permits);
                    let answers = answers.by_ref().take(requests.len()).collect();
                    reply.send_with_requests(answers, requests);
                }
                Job::Open { reply, permits, .. } => {
                    drop(permits);
                    reply.send(opened.next().expect("one for each job"));
                }
                Job::List { reply, .. } => reply.send(listed.next().expect("one for each job")),
                Job::Rows { reply, permits, .. } => {
                    drop(permits);
                    reply.send(rows.next().expect("one for each job"));
                }
                Job::Tick { .. } | Job::Stop => {}
            }
        }
    }
}

/// This many calls are answered by the committing thread itself. Waking more callers takes as long as a small commit,
/// and each may take the writer's core from it, so another thread does that while the next batch begins.
const ANSWERED_AT_ONCE: usize = 4;

/// The channel to the thread that wakes callers.
#[derive(Clone, Debug)]
pub(super) struct AnswerChannel(Sender<(Vec<Job>, Outcomes)>);

impl AnswerChannel {
    pub fn deliver(&self, jobs: Vec<Job>, outcomes: Outcomes) {
        if jobs.len() <= ANSWERED_AT_ONCE {
            outcomes.deliver(jobs);
        } else {
            self.0.send((jobs, outcomes)).expect("the thread lives as long as a sender does");
        }
    }
}

/// The thread that wakes callers. Dropping this waits until everything is delivered.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// `None` only while it is being dropped.
    answers: Option<AnswerChannel>,
    thread: Option<thread::JoinHandle<()>>,
    /// Ticks that wait until all holds that are due have expired.
    ticks: Vec<AnswerSender<()>>,
}

impl Delivery {
    pub fn start() -> std::io::Result<Self> {
        let (batches, durable) = std::sync::mpsc::channel::<(Vec<Job>, Outcomes)>();
        let work = move || durable.into_iter().for_each(|(jobs, outcomes)| outcomes.deliver(jobs));
        let thread = thread::Builder::new().name("answers".into()).spawn(work)?;
        Ok(Self { answers: Some(AnswerChannel(batches)), thread: Some(thread), ticks: Vec::new() })
    }

    pub(super) fn answers(&self) -> AnswerChannel {
        self.answers.clone().expect("it is not being dropped")
    }

    /// Answers every call of a batch that is durable.
    pub(super) fn deliver(&mut self, mut jobs: Vec<Job>, outcomes: Outcomes, all_expired: bool) {
        for tick in jobs.extract_if(.., |job| matches!(job, Job::Tick { .. })) {
            if let Job::Tick { reply } = tick {
                self.ticks.push(reply);
            }
        }
        if all_expired {
            self.ticks.drain(..).for_each(|tick| tick.send(()));
        }
        self.answers().deliver(jobs, outcomes);
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.answers = None;
        if let Some(thread) = self.thread.take() {
            // It panics only because of a bug, and then has printed its own message.
            let _ = thread.join();
        }
    }
}
