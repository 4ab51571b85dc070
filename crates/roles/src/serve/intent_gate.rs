//! The gate in front of the books: admits the payouts that other nodes request.
//!
//! Guarantees: a row that gates a payout comes in only as the books themselves would write it, for the account that it
//! names, in the coin of the chain that it is paid on. Everything else is refused, and nothing has happened; but a key
//! that is decided already returns its first answer, whatever the policy is by now.

use std::sync::{Mutex, PoisonError};

use bankroll_ledger::Request;
use bankroll_nodes::{CallRefusal, NodeRole, PrincipalClaim, Rights};
use bankroll_store::{Location, Reader, StoreError};
use bankroll_withdrawals::{EXITS_TABLE, INTENT_CREATED, INTENTS_TABLE, Intents, PayoutChain};

use crate::flows::FlowSetup;

#[derive(Debug)]
pub struct IntentGate {
    setup: FlowSetup,
    location: Location,
    /// Opened on first use, and again after a failure.
    reader: Mutex<Option<Reader>>,
}

impl IntentGate {
    pub fn new(setup: FlowSetup, location: Location) -> Self {
        Self { setup, location, reader: Mutex::default() }
    }

    /// What nodes may request in addition to moving money.
    pub fn rights(&self) -> Rights {
        [INTENTS_TABLE, EXITS_TABLE]
            .into_iter()
            .fold(Rights::default(), |rights, table| rights.with_facts(NodeRole::Api, table))
            .with_events(NodeRole::Api, INTENT_CREATED)
    }

    /// Releases the database, from a thread that may wait for it.
    pub fn close(&self) {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn admits(&self, request: &Request) -> Result<bool, StoreError> {
        let mut slot = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match slot.take() {
            Some(reader) => reader,
            None => Reader::open(&self.location)?,
        };
        let chain = self.setup.listed(&reader)?.map(|coin| PayoutChain { name: self.setup.chain(), coin });
        let admits = Intents::new(self.setup.policy).admit(request, chain.as_ref(), &reader)?;
        *slot = Some(reader);
        Ok(admits)
    }
}

/// Refuses all of them for the first that is not admitted.
pub fn admit(gate: Option<&IntentGate>, requests: Vec<Request>) -> Result<(), CallRefusal> {
    let refused = || CallRefusal::NotAllowed(PrincipalClaim::Fact { table: INTENTS_TABLE.into() });
    let gate = gate.ok_or_else(refused)?;
    for request in requests {
        match gate.admits(&request) {
            Ok(true) => {}
            Ok(false) => return Err(refused()),
            Err(_) => return Err(CallRefusal::Unreachable),
        }
    }
    Ok(())
}
