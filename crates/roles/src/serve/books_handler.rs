//! Calls of other nodes to the books: answered by the ledger while this node holds it, by "not the holder" otherwise.

use std::sync::{Arc, PoisonError, RwLock};

use bankroll_ledger::{AccountId, AccountName, OpenRejection, Principal, Request};
use bankroll_nodes::{Answer, CallHandler, CallRefusal, RelayHandler, RelayedRequest, RelayedResponse};
use bankroll_store::{Ledger, SubmitError, SubmitFailure, SubmitRefusal};
use bankroll_withdrawals::Intents;

use super::intent_gate::{self, IntentGate};

#[derive(Default)]
pub struct BooksHandler {
    held: RwLock<Option<HeldBooks>>,
    /// Admits forwarded payouts, if there is a chain to pay on.
    gate: Option<Arc<IntentGate>>,
}

/// What answers calls while this node holds the ledger.
#[derive(Clone)]
struct HeldBooks {
    ledger: Ledger,
    /// The Funds API, if it is served.
    api: Option<RelayHandler>,
}

impl BooksHandler {
    pub fn new(gate: Option<IntentGate>) -> Self {
        Self { held: RwLock::default(), gate: gate.map(Arc::new) }
    }

    /// Releases the database, after the last call.
    pub fn close(&self) {
        self.gate.iter().for_each(|gate| gate.close());
    }

    /// Calls are answered by this ledger, and by the Funds API on it, from here on.
    pub fn hold(&self, ledger: Ledger, api: Option<RelayHandler>) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Some(HeldBooks { ledger, api });
    }

    /// Calls are answered by "not the holder" from here on.
    pub fn release(&self) {
        self.held.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn held(&self) -> Result<HeldBooks, CallRefusal> {
        self.held.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or(CallRefusal::NotHolder)
    }

    fn ledger(&self) -> Result<Ledger, CallRefusal> {
        self.held().map(|held| held.ledger)
    }
}

impl CallHandler for BooksHandler {
    fn holds(&self) -> bool {
        self.ledger().is_ok()
    }

    async fn apply(&self, requests: Vec<Request>) -> Result<Vec<Answer>, CallRefusal> {
        let ledger = self.ledger()?;
        let gated: Vec<Request> =
            requests.iter().filter(|request| Intents::needs_admission(request)).cloned().collect();
        if !gated.is_empty() {
            let gate = self.gate.clone();
            let admitted = tokio::task::spawn_blocking(move || intent_gate::admit(gate.as_deref(), gated)).await;
            // The books have not seen the requests yet.
            admitted.map_err(|_| CallRefusal::Unreachable)??;
        }
        Intents::submit(&ledger, requests).map_err(not_taken)?.answered().await.map_err(failed)
    }

    async fn open(
        &self,
        by: Principal,
        names: Vec<AccountName>,
    ) -> Result<Vec<Result<AccountId, OpenRejection>>, CallRefusal> {
        let ledger = self.ledger()?;
        let opened = tokio::task::spawn_blocking(move || ledger.open_accounts(&by, names)).await;
        // A thread that died may have made the call.
        opened.map_err(|_| CallRefusal::Unknown)?.map_err(|error| match error {
            SubmitError::Refused(refused) => not_taken(refused),
            SubmitError::Failed(failure) => failed(failure),
        })
    }

    async fn relay(&self, request: RelayedRequest) -> Result<RelayedResponse, CallRefusal> {
        // The API starts after the ledger was acquired: a caller that retries reaches it.
        let api = self.held()?.api.ok_or(CallRefusal::Unreachable)?;
        Ok(api(request).await)
    }
}

impl std::fmt::Debug for BooksHandler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BooksHandler").field("holds", &self.holds()).finish_non_exhaustive()
    }
}

/// Nothing happened.
fn not_taken(refused: SubmitRefusal) -> CallRefusal {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    match refused {
        SubmitRefusal::Busy => CallRefusal::Busy,
        SubmitRefusal::CallSize { given, most } => CallRefusal::CallSize { given: count(given), most: count(most) },
        SubmitRefusal::Stopped => CallRefusal::NotHolder,
    }
}

fn failed(failure: SubmitFailure) -> CallRefusal {
    match failure {
        SubmitFailure::StorageFull => CallRefusal::StorageFull,
        SubmitFailure::Locked | SubmitFailure::Unreachable => CallRefusal::Unreachable,
        SubmitFailure::Unknown => CallRefusal::Unknown,
    }
}
