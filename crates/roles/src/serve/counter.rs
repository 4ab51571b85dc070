//! The counter: looks at the payouts that other nodes ask for before the books do.
//!
//! Guarantees: a row that gates a payout comes in only as the books themselves would write it, for an account that is the
//! one it names, in the coin of the chain that it is paid on. Everything else is refused, and nothing has happened; but
//! for a key that is decided already, which hears its first answer whatever the policy says by now.

use std::sync::{Mutex, PoisonError};

use bankroll_ledger::Request;
use bankroll_nodes::{Claim, NodeRole, Refusal, Rights};
use bankroll_store::{Location, Reader, StoreError};
use bankroll_withdrawals::asked;

use crate::flows::Setup;

#[derive(Debug)]
pub struct Counter {
    setup: Setup,
    location: Location,
    /// Opened when it is first needed, and anew after a failure.
    reader: Mutex<Option<Reader>>,
}

impl Counter {
    pub fn new(setup: Setup, location: Location) -> Self {
        Self { setup, location, reader: Mutex::default() }
    }

    /// What nodes may ask for beyond moving money.
    pub fn rights(&self) -> Rights {
        Rights::default().with_facts(NodeRole::Api, asked::TABLE).with_events(NodeRole::Api, asked::CREATED)
    }

    /// Lets go of the database, from a thread that may wait for it.
    pub fn close(&self) {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn lets_through(&self, request: &Request) -> Result<bool, StoreError> {
        let mut slot = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match slot.take() {
            Some(reader) => reader,
            None => Reader::open(&self.location)?,
        };
        // A key is decided once: what the books are asked again under it cannot do anything any more.
        let lets = self.is_sound(&reader, request)? || reader.find_key(&request.key)?.is_some();
        *slot = Some(reader);
        Ok(lets)
    }

    fn is_sound(&self, reader: &Reader, request: &Request) -> Result<bool, StoreError> {
        let Some((wanted, account)) = asked::understand(request, self.setup.policy) else { return Ok(false) };
        let named = reader.account_named(&wanted.account)?;
        let coin = self.setup.listed(reader)?;
        let is_its_own = named.is_some_and(|named| named.id == account) && wanted.account.owner == Some(wanted.wallet);
        Ok(is_its_own && coin == Some(wanted.account.asset) && wanted.chain == *self.setup.chain())
    }
}

/// Refuses them all for the first that is no payout as it should be.
pub fn look(counter: Option<&Counter>, requests: Vec<Request>) -> Result<(), Refusal> {
    let refused = || Refusal::NotAllowed(Claim::Fact { table: asked::TABLE.into() });
    let counter = counter.ok_or_else(refused)?;
    for request in requests {
        match counter.lets_through(&request) {
            Ok(true) => {}
            Ok(false) => return Err(refused()),
            Err(_) => return Err(Refusal::Unreachable),
        }
    }
    Ok(())
}
