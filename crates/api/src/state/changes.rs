//! Changes of the registry: decided from memory, committed by the ledger, then taken over into memory.
//!
//! The write guard is held from the decision to the commit, in a task of its own: a caller that goes away in between
//! must not leave memory behind the journal.

use std::sync::{Arc, atomic::Ordering};

use bankroll_ledger::{IdempotencyKey, Name, Namespace, Principal, Scope, Time};
use bankroll_registry::{ChangeOrigin, Registry, RegistryChange, SessionClaims, change_request, recorded_change};
use bankroll_store::SubmitFailure;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedRwLockWriteGuard;

use super::{Funds, HeldBooks, gate};
use crate::{ApiError, ErrorCode, input::ApiCall};

/// How often expired nonces and sessions are dropped from memory: once a minute, in microseconds.
const FORGET_EVERY: u64 = 60_000_000;

/// A request that may change the registry.
pub(crate) struct ChangeGate {
    pub funds: Funds,
    pub books: Arc<HeldBooks>,
    pub registry: OwnedRwLockWriteGuard<Registry>,
    pub now: Time,
    pub session: Option<SessionClaims>,
}

/// Who changes what, for the journal.
pub(crate) struct ChangeAuthor {
    pub principal: Principal,
    pub scope: Scope,
    /// The text of the idempotency key.
    pub key: String,
    pub by: Name,
    pub request_hash: [u8; 32],
}

impl Funds {
    pub(crate) async fn enter_to_change(&self, call: &ApiCall) -> Result<ChangeGate, ApiError> {
        let books = self.books()?;
        let mut registry = Arc::clone(&books.registry).write_owned().await;
        let now = self.now();
        // A walk over all nonces: not for each caller, who may have proved nothing yet.
        if now.0.saturating_sub(books.forgotten_at.load(Ordering::Relaxed)) >= FORGET_EVERY {
            books.forgotten_at.store(now.0, Ordering::Relaxed);
            registry.forget_expired(now);
        }
        let session = self.prove(call, &books, &registry, now)?;
        Ok(ChangeGate { funds: self.clone(), books, registry, now, session })
    }
}

impl ChangeGate {
    pub fn session(&self) -> Result<&SessionClaims, ApiError> {
        self.session.as_ref().ok_or_else(|| ErrorCode::Unauthenticated.into())
    }

    pub fn owner(&self) -> Result<Name, ApiError> {
        gate::owner_of(self.session()?)
    }

    /// The owner as the author of a change, under the key of this request.
    pub fn owner_author(&self, call: &ApiCall) -> Result<ChangeAuthor, ApiError> {
        let owner = self.owner()?;
        let key = format!("admin/{owner}/key/{}", call.key()?);
        let by = format!("owner:{owner}").parse().map_err(|_| ErrorCode::Internal)?;
        Ok(ChangeAuthor {
            principal: Principal::Admin(owner),
            scope: Scope::House,
            key,
            by,
            request_hash: request_hash(call),
        })
    }

    /// Bankroll itself as the author, for a change whose proof is in its rows.
    pub fn system_author(&self, call: &ApiCall, scope: Scope, key: String, by: &str) -> Result<ChangeAuthor, ApiError> {
        let by = by.parse().map_err(|_| ErrorCode::Internal)?;
        Ok(ChangeAuthor { principal: Principal::System, scope, key, by, request_hash: request_hash(call) })
    }

    /// What an earlier request with this key has changed, so that a retry gets the same answer.
    pub async fn earlier(&self, author: &ChangeAuthor) -> Result<Option<Vec<RegistryChange>>, ApiError> {
        let key = author.idempotency_key();
        let found = self.books.readers.read(move |reader| recorded_change(reader, &key)).await?;
        match found {
            Some(found) if found.request_hash == author.request_hash => Ok(Some(found.changes)),
            Some(_) => Err(ErrorCode::IdempotencyMismatch.into()),
            None => Ok(None),
        }
    }

    /// Commits changes, and takes them over into memory. Without changes the key is committed alone: a signed request
    /// that had no effect must have none later either.
    pub async fn commit(
        self,
        author: ChangeAuthor,
        changes: Vec<RegistryChange>,
    ) -> Result<Vec<RegistryChange>, ApiError> {
        // A caller that goes away drops this future, not the task.
        tokio::spawn(self.commit_now(author, changes)).await.unwrap_or_else(|_| Err(ErrorCode::OutcomeUnknown.into()))
    }

    async fn commit_now(
        mut self,
        author: ChangeAuthor,
        changes: Vec<RegistryChange>,
    ) -> Result<Vec<RegistryChange>, ApiError> {
        let key = author.idempotency_key();
        let ChangeAuthor { principal, by, request_hash, .. } = author;
        let origin = ChangeOrigin { principal, key, by, request_hash, now: self.now };
        let request = change_request(&origin, &changes);
        let request = request.map_err(|error| ApiError::with(ErrorCode::RequestTooLarge, error.to_string()))?;
        match self.books.ledger.submit(vec![request])?.await {
            Ok(answers) => {
                let answer = answers.first().ok_or(ErrorCode::OutcomeUnknown)?;
                answer.effects()?;
                self.registry.apply(&changes);
                Ok(changes)
            }
            Err(failure) => {
                // Memory may be behind the journal now: it must be read again before it decides anything.
                if failure == SubmitFailure::Unknown {
                    self.funds.release();
                }
                Err(failure.into())
            }
        }
    }
}

impl ChangeAuthor {
    fn idempotency_key(&self) -> IdempotencyKey {
        IdempotencyKey { namespace: Namespace::Registry, scope: self.scope.clone(), text: self.key.clone() }
    }
}

/// What two requests with one key are compared by.
fn request_hash(call: &ApiCall) -> [u8; 32] {
    let head = format!("{} {}\n", call.method, call.path);
    Sha256::new().chain_update(head).chain_update(call.raw_body()).finalize().into()
}
