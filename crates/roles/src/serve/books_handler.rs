//! Calls of other nodes to the books: answered by the ledger while this node holds it, by "not the holder" otherwise.

use std::sync::{Arc, PoisonError, RwLock};

use bankroll_ledger::{AccountId, AccountName, OpenRejected, Principal, Request};
use bankroll_nodes::{Answer, Desk, Refusal};
use bankroll_store::{CallError, Failure, Ledger, Refused};
use bankroll_withdrawals::Intents;

use super::intent_gate::{self, IntentGate};

#[derive(Debug, Default)]
pub struct BooksHandler {
    ledger: RwLock<Option<Ledger>>,
    /// Admits forwarded payouts, if there is a chain to pay on.
    gate: Option<Arc<IntentGate>>,
}

impl BooksHandler {
    pub fn new(gate: Option<IntentGate>) -> Self {
        Self { ledger: RwLock::default(), gate: gate.map(Arc::new) }
    }

    /// Releases the database, after the last call.
    pub fn close(&self) {
        self.gate.iter().for_each(|gate| gate.close());
    }

    /// Sets the ledger that answers calls from here on.
    pub fn set(&self, ledger: Option<Ledger>) {
        *self.ledger.write().unwrap_or_else(PoisonError::into_inner) = ledger;
    }

    fn ledger(&self) -> Result<Ledger, Refusal> {
        self.ledger.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or(Refusal::NotHolder)
    }
}

impl Desk for BooksHandler {
    fn holds(&self) -> bool {
        self.ledger().is_ok()
    }

    async fn apply(&self, requests: Vec<Request>) -> Result<Vec<Answer>, Refusal> {
        let ledger = self.ledger()?;
        let gated: Vec<Request> =
            requests.iter().filter(|request| Intents::needs_admission(request)).cloned().collect();
        if !gated.is_empty() {
            let gate = self.gate.clone();
            let admitted = tokio::task::spawn_blocking(move || intent_gate::admit(gate.as_deref(), gated)).await;
            // The books have not seen the requests yet.
            admitted.map_err(|_| Refusal::Unreachable)??;
        }
        Intents::submit(&ledger, requests).map_err(not_taken)?.answered().await.map_err(failed)
    }

    async fn open(
        &self,
        by: Principal,
        names: Vec<AccountName>,
    ) -> Result<Vec<Result<AccountId, OpenRejected>>, Refusal> {
        let ledger = self.ledger()?;
        let opened = tokio::task::spawn_blocking(move || ledger.open_accounts(&by, names)).await;
        // A thread that died may have made the call.
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
