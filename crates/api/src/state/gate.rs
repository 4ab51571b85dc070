//! The gate: from the proof of a request to a caller with rights, while the registry cannot change.
//!
//! What is missing, what is another's and what this kind of caller cannot see all answer `not_found`. `forbidden` is
//! for callers who can see the resource anyway.

use std::sync::Arc;

use bankroll_ledger::{Name, Time};
use bankroll_operators::Right;
use bankroll_orders::Address;
use bankroll_registry::{Caller, Registry, SessionClaims, SessionId, SessionRefusal, as_developer};
use tokio::sync::OwnedRwLockReadGuard;

use super::{Funds, HeldBooks, signature};
use crate::{
    ApiError, ErrorCode,
    input::{ApiCall, CallProof, show_time},
};

/// A request inside: the books, the registry as it is until this is dropped, and the proven caller.
pub(crate) struct Gate {
    pub books: Arc<HeldBooks>,
    pub registry: OwnedRwLockReadGuard<Registry>,
    pub now: Time,
    session: Option<SessionClaims>,
}

impl Funds {
    /// Checks the proof of a request. A request without a proof gets in without a caller.
    pub(crate) async fn enter(&self, call: &ApiCall) -> Result<Gate, ApiError> {
        let books = self.books()?;
        let registry = Arc::clone(&books.registry).read_owned().await;
        let now = self.now();
        let session = self.prove(call, &books, &registry, now)?;
        Ok(Gate { books, registry, now, session })
    }

    /// Whom the proof of a request speaks for.
    pub(super) fn prove(
        &self,
        call: &ApiCall,
        books: &HeldBooks,
        registry: &Registry,
        now: Time,
    ) -> Result<Option<SessionClaims>, ApiError> {
        match &call.proof {
            CallProof::None => Ok(None),
            CallProof::Token(token) => {
                let claims = books.keys.verify(token, registry, now);
                claims.map(Some).map_err(|refusal| session_error(refusal, now))
            }
            CallProof::Signature { signature, address, expires } => {
                let signed = signature::SignedCall { signature, address, expires: *expires };
                let (caller, opened_by) = signature::verify(call, &signed, self.settings(), registry, now)?;
                // Not a session: there is nothing to close.
                let id = SessionId([0; 16]);
                Ok(Some(SessionClaims { id, caller, opened_by, issued_at: now, expires_at: now }))
            }
        }
    }
}

fn session_error(refusal: SessionRefusal, now: Time) -> ApiError {
    let code = match refusal {
        SessionRefusal::Malformed | SessionRefusal::Forged => ErrorCode::SessionInvalid,
        SessionRefusal::Expired => ErrorCode::SessionExpired,
        SessionRefusal::RevokedKey | SessionRefusal::RevokedSession => ErrorCode::SessionRevoked,
    };
    ApiError::with(code, format!("{refusal}; the time of the service is {}", show_time(now)))
}

impl Gate {
    /// The proven session.
    pub fn session(&self) -> Result<&SessionClaims, ApiError> {
        self.session.as_ref().ok_or_else(|| ErrorCode::Unauthenticated.into())
    }

    pub fn opened_by(&self) -> Option<Address> {
        self.session.as_ref().map(|session| session.opened_by)
    }

    /// The game server of this name, for changes.
    pub fn game_server(&self, server: &str) -> Result<Name, ApiError> {
        match &self.session()?.caller {
            Caller::GameServer(own) if own.as_str() == server => Ok(own.clone()),
            // They can read it, so there is nothing to hide.
            Caller::Operator(_) if self.find_server(server).is_some() => Err(ErrorCode::Forbidden.into()),
            _ => Err(ErrorCode::NotFound.into()),
        }
    }

    /// The game server itself or the owner, for reads.
    pub fn reader_of(&self, server: &str) -> Result<Name, ApiError> {
        match &self.session()?.caller {
            Caller::GameServer(own) if own.as_str() == server => Ok(own.clone()),
            Caller::Operator(_) => self.find_server(server).ok_or_else(|| ErrorCode::NotFound.into()),
            _ => Err(ErrorCode::NotFound.into()),
        }
    }

    /// The developer of a server: the wallet that it named at its registration.
    pub fn developer(&self, server: &str) -> Result<(Name, Name), ApiError> {
        let session = self.session()?;
        let server = self.find_server(server).ok_or(ErrorCode::NotFound)?;
        match as_developer(&self.registry, session, &server) {
            Some(Caller::Developer(server, wallet)) => Ok((server, wallet)),
            _ if matches!(session.caller, Caller::Operator(_)) => Err(ErrorCode::Forbidden.into()),
            _ => Err(ErrorCode::NotFound.into()),
        }
    }

    /// The signed-in player.
    pub fn player(&self) -> Result<Name, ApiError> {
        match &self.session()?.caller {
            Caller::Player(player) => Ok(player.clone()),
            _ => Err(ErrorCode::Forbidden.into()),
        }
    }

    /// A person who runs the deployment and has this right.
    pub fn operator(&self, right: Right) -> Result<Name, ApiError> {
        operator_of(self.session()?, &self.registry, right)
    }

    fn find_server(&self, server: &str) -> Option<Name> {
        let name: Name = server.parse().ok()?;
        self.registry.server(&name).map(|entry| entry.name.clone())
    }
}

/// The person of a session, if they have this right now.
pub(super) fn operator_of(session: &SessionClaims, registry: &Registry, right: Right) -> Result<Name, ApiError> {
    match &session.caller {
        Caller::Operator(person) if registry.operators().person(person).is_some_and(|found| found.may(right)) => {
            Ok(person.clone())
        }
        // That there is a registry is no secret; what is in it is.
        _ => Err(ErrorCode::Forbidden.into()),
    }
}
