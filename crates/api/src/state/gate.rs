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

use super::{Funds, HeldBooks, program_key, signature};
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
            CallProof::Token(key) if program_key::is_program_key(key) => {
                let caller = Caller::Program(program_key::program_of(key, registry, now)?);
                Ok(Some(unopened(caller, Address::ZERO, now)))
            }
            CallProof::Token(token) => {
                let claims = books.keys.verify(token, registry, now);
                claims.map(Some).map_err(|refusal| session_error(refusal, now))
            }
            CallProof::Signature { signature, address, expires } => {
                let signed = signature::SignedCall { signature, address, expires: *expires };
                let (caller, opened_by) = signature::verify(call, &signed, self.settings(), registry, now)?;
                Ok(Some(unopened(caller, opened_by, now)))
            }
        }
    }
}

/// A caller who proves each request by itself: there is no session to close.
fn unopened(caller: Caller, opened_by: Address, now: Time) -> SessionClaims {
    SessionClaims { id: SessionId([0; 16]), caller, opened_by, issued_at: now, expires_at: now }
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
            _ if self.operator(Right::ReadMoney).is_ok() && self.find_server(server).is_some() => {
                Err(ErrorCode::Forbidden.into())
            }
            _ => Err(ErrorCode::NotFound.into()),
        }
    }

    /// The game server itself, or a person or program that reads money.
    pub fn reader_of(&self, server: &str) -> Result<Name, ApiError> {
        match &self.session()?.caller {
            Caller::GameServer(own) if own.as_str() == server => Ok(own.clone()),
            Caller::Operator(_) | Caller::Program(_) => {
                self.operator(Right::ReadMoney)?;
                self.find_server(server).ok_or_else(|| ErrorCode::NotFound.into())
            }
            _ => Err(ErrorCode::NotFound.into()),
        }
    }

    /// Whether this caller sees the wallets of players: servers and players see their own, of the people who run the
    /// deployment those who have the right. All others see them redacted.
    pub fn sees_players(&self) -> bool {
        match self.session.as_ref().map(|session| &session.caller) {
            Some(Caller::Operator(_) | Caller::Program(_)) => self.operator(Right::ReadPlayersInFull).is_ok(),
            _ => true,
        }
    }

    /// The developer of a server: the wallet that it named at its registration.
    pub fn developer(&self, server: &str) -> Result<(Name, Name), ApiError> {
        let session = self.session()?;
        let server = self.find_server(server).ok_or(ErrorCode::NotFound)?;
        match as_developer(&self.registry, session, &server) {
            Some(Caller::Developer(server, wallet)) => Ok((server, wallet)),
            _ if self.operator(Right::ReadMoney).is_ok() => Err(ErrorCode::Forbidden.into()),
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

    /// A person who runs the deployment, or a program of theirs, that has this right: enough to read.
    pub fn operator(&self, right: Right) -> Result<Name, ApiError> {
        operator_of(self.session()?, &self.registry, right)
    }

    fn find_server(&self, server: &str) -> Option<Name> {
        let name: Name = server.parse().ok()?;
        self.registry.server(&name).map(|entry| entry.name.clone())
    }
}

/// The person or program of a proof, if they have this right now.
pub(super) fn operator_of(session: &SessionClaims, registry: &Registry, right: Right) -> Result<Name, ApiError> {
    let operators = registry.operators();
    match &session.caller {
        Caller::Operator(person) if operators.person(person).is_some_and(|found| found.may(right)) => {
            Ok(person.clone())
        }
        Caller::Program(id) if operators.program_key(id).is_some_and(|key| key.rights.contains(&right)) => {
            format!("program:{id}").parse().map_err(|_| ErrorCode::Internal.into())
        }
        // That there is a registry is no secret; what is in it is.
        _ => Err(ErrorCode::Forbidden.into()),
    }
}
