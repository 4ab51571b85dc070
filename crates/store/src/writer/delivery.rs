//! Delivery: answers go out once their batch is durable.

use bankroll_ledger::{AccountId, AssetId, OpenRejected};

use super::{Answer, Job};
use crate::RowsChanged;

/// What became of the calls of a batch, each sort in the order of its calls.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    pub answers: Vec<Answer>,
    pub opened: Vec<Vec<Result<AccountId, OpenRejected>>>,
    pub listed: Vec<AssetId>,
    pub rows: Vec<RowsChanged>,
}

impl Outcomes {
    pub fn deliver(self, jobs: Vec<Job>) {
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
                Job::Tick { reply } => reply.give(()),
                Job::Stop => {}
            }
        }
    }
}
