//! The books as other nodes ask them: the ledger while this node has it, "not the holder" otherwise.

use std::sync::{PoisonError, RwLock};

use bankroll_ledger::{AccountId, AccountName, OpenRejected, Principal, Request};
use bankroll_nodes::{Answer, Desk, Refusal};
use bankroll_store::{CallError, Failure, Ledger, Refused};

#[derive(Debug, Default)]
pub struct BooksDesk(RwLock<Option<Ledger>>);

impl BooksDesk {
    /// From here on calls go to this ledger, or nowhere.
    pub fn set(&self, ledger: Option<Ledger>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = ledger;
    }

    fn ledger(&self) -> Result<Ledger, Refusal> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or(Refusal::NotHolder)
    }
}

impl Desk for BooksDesk {
    fn holds(&self) -> bool {
        self.ledger().is_ok()
    }

    async fn apply(&self, requests: Vec<Request>) -> Result<Vec<Answer>, Refusal> {
        let reply = self.ledger()?.submit(requests).map_err(not_taken)?;
        let answers = reply.await.map_err(failed)?;
        let told = answers.into_iter().map(|bankroll_store::Answer { seq, replayed, verdict }| Answer {
            seq,
            replayed,
            verdict,
        });
        Ok(told.collect())
    }

    async fn open(
        &self,
        by: Principal,
        names: Vec<AccountName>,
    ) -> Result<Vec<Result<AccountId, OpenRejected>>, Refusal> {
        let ledger = self.ledger()?;
        let opened = tokio::task::spawn_blocking(move || ledger.open_accounts(&by, names)).await;
        // A thread that died had been given the call.
        opened.map_err(|_| Refusal::Unknown)?.map_err(|error| match error {
            CallError::Refused(refused) => not_taken(refused),
            CallError::Failed(failure) => failed(failure),
        })
    }
}

/// Nothing happened.
fn not_taken(refused: Refused) -> Refusal {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    match refused {
        Refused::Busy => Refusal::Busy,
        Refused::CallSize { given, most } => Refusal::CallSize { given: count(given), most: count(most) },
        Refused::Stopped => Refusal::NotHolder,
    }
}

fn failed(failure: Failure) -> Refusal {
    match failure {
        Failure::StorageFull => Refusal::StorageFull,
        Failure::Locked | Failure::Unreachable => Refusal::Unreachable,
        Failure::Unknown => Refusal::Unknown,
    }
}
