//! Changes of the registry: decided from memory, committed by the ledger, then taken over into memory.
//!
//! The write guard is held from the decision to the commit, in a task of its own: a caller that goes away in between
//! must not leave memory behind the journal. Every stranger can sign in, so a change that only adds rows holds no guard
//! during its commit: money calls do not wait for strangers. Changes of the first kind wait for those that are on their
//! way.

use std::sync::{Arc, atomic::Ordering};

use bankroll_ledger::{Event, Fact, IdempotencyKey, Name, Namespace, Principal, Request, Scope, Time};
use bankroll_registry::{
    ChangeOrigin, Registry, RegistryChange, SessionClaims, change_request, player_request_fact, player_request_hash,
    recorded_change,
};
use bankroll_store::{Answer, SubmitFailure};
use sha2::{Digest, Sha256};
use tokio::sync::OwnedRwLockWriteGuard;

use super::{Funds, HeldBooks};
use crate::{
    ApiError, ErrorCode,
    input::{ApiCall, CallProof},
};

/// How often expired nonces and sessions are dropped from memory: once a minute, in microseconds.
const FORGET_EVERY: u64 = 60_000_000;

/// A request that may change the registry.
pub(crate) struct ChangeGate {
    pub funds: Funds,
    pub books: Arc<HeldBooks>,
    pub registry: OwnedRwLockWriteGuard<Registry>,
    pub now: Time,
    pub session: Option<SessionClaims>,
    /// Whether the caller signed this very request.
    pub is_signed: bool,
    /// Changes that only add rows wait until this one has ended.
    _alone: OwnedRwLockWriteGuard<()>,
}

/// Who changes what, for the journal.
pub(crate) struct ChangeAuthor {
    pub principal: Principal,
    pub scope: Scope,
    /// The text of the idempotency key.
    pub key: String,
    pub by: Name,
    pub request_hash: [u8; 32],
    /// The player who changes something about themselves, and their key: written as a row, for their retries.
    pub player: Option<(Name, String)>,
    /// The act of a person that this change is, with its entry of the audit log first.
    pub act: Vec<RegistryChange>,
}

/// What a caller gets after a change that only added rows.
pub(crate) struct Added<T> {
    pub decided: T,
    pub books: Arc<HeldBooks>,
    pub now: Time,
}

impl Funds {
    pub(crate) async fn enter_to_change(&self, call: &ApiCall) -> Result<ChangeGate, ApiError> {
        let books = self.books()?;
        let alone = Arc::clone(&books.additions).write_owned().await;
        let mut registry = Arc::clone(&books.registry).write_owned().await;
        let now = self.now();
        forget(&books, &mut registry, now);
        let session = self.prove(call, &books, &registry, now)?;
        let is_signed = matches!(call.proof, CallProof::Signature { .. });
        Ok(ChangeGate { funds: self.clone(), books, registry, now, session, is_signed, _alone: alone })
    }

    /// Commits a change that only adds rows, each guarded by its own absence. Memory has it when this returns.
    ///
    /// Of two such changes that contradict each other the ledger rejects one; the caller decides that one anew.
    pub(crate) async fn add_rows<T>(
        &self,
        call: &ApiCall,
        decide: impl FnOnce(&Registry, Time) -> Result<(T, ChangeAuthor, Vec<RegistryChange>), ApiError>,
    ) -> Result<Added<T>, ApiError> {
        let books = self.books()?;
        let turn = Arc::clone(&books.additions).read_owned().await;
        let (pending, changes, decided, now) = {
            let registry = books.registry.read().await;
            let now = self.now();
            self.prove(call, &books, &registry, now)?;
            let (decided, author, changes) = decide(&registry, now)?;
            (books.ledger.submit(vec![author.request(&changes, now)?])?, changes, decided, now)
        };
        let (funds, held) = (self.clone(), Arc::clone(&books));
        let commit = async move {
            let _turn = turn;
            let answer = committed(&funds, pending.await)?;
            // The same message at the same time as another one: that one has the effect.
            if answer.replayed {
                return Err(ErrorCode::IdempotencyMismatch.into());
            }
            let mut registry = held.registry.write().await;
            registry.apply(&changes);
            forget(&held, &mut registry, now);
            Ok(())
        };
        self.finish(tokio::spawn(commit)).await?;
        Ok(Added { decided, books, now })
    }

    /// Waits for a commit in its task. A caller that goes away drops this future, not the task.
    pub(super) async fn finish<T>(&self, task: tokio::task::JoinHandle<Result<T, ApiError>>) -> Result<T, ApiError> {
        let unknown = |_| {
            // The task has panicked: memory may be behind the journal.
            self.release();
            Err(ErrorCode::OutcomeUnknown.into())
        };
        task.await.unwrap_or_else(unknown)
    }

    /// Whether an earlier request of this player has the same key. With another body it is a mismatch.
    pub(crate) async fn is_players_retry(&self, call: &ApiCall, player: &Name) -> Result<bool, ApiError> {
        let (books, key, player) = (self.books()?, call.key()?.to_owned(), player.clone());
        let found = books.pages.read(move |reader| player_request_hash(reader, &player, &key)).await?;
        match found {
            Some(hash) if hash == request_hash(call) => Ok(true),
            Some(_) => Err(ErrorCode::IdempotencyMismatch.into()),
            None => Ok(false),
        }
    }

    /// Bankroll itself as the author, for a change whose proof is in its rows.
    pub(crate) fn system_author(call: &ApiCall, scope: Scope, key: String, by: &str) -> Result<ChangeAuthor, ApiError> {
        let by = by.parse().map_err(|_| ErrorCode::Internal)?;
        let request_hash = request_hash(call);
        Ok(ChangeAuthor { principal: Principal::System, scope, key, by, request_hash, player: None, act: Vec::new() })
    }

    /// A player as the author of a change about themselves, under the key of this request.
    pub(crate) fn player_author(call: &ApiCall, player: &Name) -> Result<ChangeAuthor, ApiError> {
        let key = call.key()?.to_owned();
        let text = format!("player/{player}/key/{key}");
        let author = Self::system_author(call, Scope::House, text, &format!("player:{player}"))?;
        Ok(ChangeAuthor { player: Some((player.clone(), key)), ..author })
    }
}

/// Drops what has expired, once in a while: it walks over all nonces.
fn forget(books: &HeldBooks, registry: &mut Registry, now: Time) {
    if now.0.saturating_sub(books.forgotten_at.load(Ordering::Relaxed)) >= FORGET_EVERY {
        books.forgotten_at.store(now.0, Ordering::Relaxed);
        registry.forget_expired(now);
    }
}

/// Whether the change is committed. If that is unknown, memory must be read again before it decides anything.
fn committed(funds: &Funds, answered: Result<Vec<Answer>, SubmitFailure>) -> Result<Answer, ApiError> {
    match answered {
        Ok(answers) => match answers.into_iter().next() {
            Some(answer) => {
                answer.effects()?;
                Ok(answer)
            }
            None => {
                funds.release();
                Err(ErrorCode::OutcomeUnknown.into())
            }
        },
        Err(failure) => {
            if failure == SubmitFailure::Unknown {
                funds.release();
            }
            Err(failure.into())
        }
    }
}

impl ChangeGate {
    pub fn session(&self) -> Result<&SessionClaims, ApiError> {
        self.session.as_ref().ok_or_else(|| ErrorCode::Unauthenticated.into())
    }

    /// What an earlier request with this key has changed, so that a retry gets the same answer.
    pub async fn earlier(
        &self,
        call: &ApiCall,
        author: &ChangeAuthor,
    ) -> Result<Option<Vec<RegistryChange>>, ApiError> {
        // The audit log has every request; the list of changes has only what they wrote.
        if self.earlier_act(call).await?.is_none() {
            return Ok(None);
        }
        Ok(Some(self.recorded(author).await?.unwrap_or_default()))
    }

    /// What the list of changes has under this key.
    async fn recorded(&self, author: &ChangeAuthor) -> Result<Option<Vec<RegistryChange>>, ApiError> {
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
        let funds = self.funds.clone();
        funds.finish(tokio::spawn(self.commit_now(author, changes, Default::default()))).await
    }

    pub(super) async fn commit_now(
        mut self,
        mut author: ChangeAuthor,
        changes: Vec<RegistryChange>,
        (facts, events): (Vec<Fact>, Vec<Event>),
    ) -> Result<Vec<RegistryChange>, ApiError> {
        let all: Vec<RegistryChange> = author.act.drain(..).chain(changes).collect();
        let mut request = author.request(&all, self.now)?;
        request.facts.extend(facts);
        request.events.extend(events);
        committed(&self.funds, self.books.ledger.submit(vec![request])?.await)?;
        self.registry.apply(&all);
        self.books.rights_changed();
        Ok(all)
    }
}

impl ChangeAuthor {
    fn idempotency_key(&self) -> IdempotencyKey {
        IdempotencyKey { namespace: Namespace::Registry, scope: self.scope.clone(), text: self.key.clone() }
    }

    fn request(self, changes: &[RegistryChange], now: Time) -> Result<Request, ApiError> {
        let key = self.idempotency_key();
        let Self { principal, by, request_hash, player, .. } = self;
        let request = change_request(&ChangeOrigin { principal, key, by, request_hash, now }, changes);
        let mut request = request.map_err(|error| ApiError::with(ErrorCode::RequestTooLarge, error.to_string()))?;
        request.facts.extend(player.map(|(player, key)| player_request_fact(&player, &key, &request_hash)));
        Ok(request)
    }
}

/// What two requests with one key are compared by.
pub(super) fn request_hash(call: &ApiCall) -> [u8; 32] {
    let head = format!("{} {}\n", call.method, call.path);
    Sha256::new().chain_update(head).chain_update(call.raw_body()).finalize().into()
}

mod server_acts;
#[cfg(test)]
mod tests;
