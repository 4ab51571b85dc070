//! Delivery: answers go out once their batch is durable.

use bankroll_ledger::{AccountId, AssetId, OpenRejected};

use super::{Answer, Job, Sent};
use crate::RowsChanged;

/// What became of the calls of a batch, each sort in the order of its calls.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    pub answers: Vec<Answer>,
    pub opened: Vec<Vec<Result<AccountId, OpenRejected>>>,
    pub listed: Vec<AssetId>,
    pub rows: Vec<RowsChanged>,
    /// Whether no hold that is due is left to expire in a later batch.
    pub all_expired: bool,
}

impl Outcomes {
    /// Answers every call; `ticks` are those that wait until all holds that are due have expired.
    pub fn deliver(self, jobs: Vec<Job>, ticks: &mut Vec<Sent<()>>) {
        let mut answers = self.answers.into_iter();
        let mut opened = self.opened.into_iter();
        let mut listed = self.listed.into_iter();
        let mut rows = self.rows.into_iter();
        for job in jobs {
            match job {
                // Room first: who has an answer may call again at once.
                Job::Money { requests, reply, room } => {
                    drop(room);
                    let answers = answers.by_ref().take(requests.len()).collect();
                    reply.give_back(answers, requests);
                }
                Job::Open { reply, room, .. } => {
                    drop(room);
                    reply.give(opened.next().expect("one for each job"));
                }
                Job::List { reply, .. } => reply.give(listed.next().expect("one for each job")),
                Job::Rows { reply, room, .. } => {
                    drop(room);
                    reply.give(rows.next().expect("one for each job"));
                }
                Job::Tick { reply } => ticks.push(reply),
                Job::Stop => {}
            }
        }
        if self.all_expired {
            ticks.drain(..).for_each(|tick| tick.give(()));
        }
    }
}
