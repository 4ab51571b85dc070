//! The books as other nodes ask them: the ledger while this node has it, "not the holder" otherwise.

use std::sync::{Arc, PoisonError, RwLock};

use bankroll_ledger::{AccountId, AccountName, OpenRejected, Principal, Request};
use bankroll_nodes::{Answer, Desk, Refusal};
use bankroll_store::{CallError, Failure, Ledger, Refused};
use bankroll_withdrawals::asked::noting;

use super::counter::{self, Counter};

#[derive(Debug, Default)]
pub struct BooksDesk {
    ledger: RwLock<Option<Ledger>>,
    /// Who looks at payouts that are asked for, if there is a chain to pay on.
    counter: Option<Arc<Counter>>,
}

impl BooksDesk {
    pub fn new(counter: Option<Counter>) -> Self {
        Self { ledger: RwLock::default(), counter: counter.map(Arc::new) }
    }

    /// After the last call.
    pub fn close(&self) {
        self.counter.iter().for_each(|counter| counter.close());
    }

    /// From here on calls go to this ledger, or nowhere.
    pub fn set(&self, ledger: Option<Ledger>) {
        *self.ledger.write().unwrap_or_else(PoisonError::into_inner) = ledger;
    }

    fn ledger(&self) -> Result<Ledger, Refusal> {
        self.ledger.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or(Refusal::NotHolder)
    }
}

impl Desk for BooksDesk {
    fn holds(&self) -> bool {
        self.ledger().is_ok()
    }

    async fn apply(&self, requests: Vec<Request>) -> Result<Vec<Answer>, Refusal> {
        let ledger = self.ledger()?;
        // What announces a payout is looked at as well as what writes one: others believe announcements.
        let is_more = |request: &Request| !request.facts.is_empty() || !request.events.is_empty();
        let intents: Vec<(usize, Request)> =
            requests.iter().cloned().enumerate().filter(|(_, request)| is_more(request)).collect();
        if !intents.is_empty() {
            let counter = self.counter.clone();
            let asked = intents.iter().map(|(_, request)| request.clone()).collect();
            let looked = tokio::task::spawn_blocking(move || counter::look(counter.as_deref(), asked)).await;
            // Nothing was asked of the books yet.
            looked.map_err(|_| Refusal::Unreachable)??;
        }
        let answers = ledger.submit(requests).map_err(not_taken)?.await.map_err(failed)?;
        let noted = intents.iter().filter_map(|(place, asked)| noting(asked, answers.get(*place)?.effects().ok()?));
        let noted: Vec<_> = noted.collect();
        if !noted.is_empty() {
            // If this is lost, whoever settles finds the hold in the journal.
            let _ = ledger.write_rows(noted);
        }
        Ok(answers)
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
