//! The people who run the deployment: who they are, their keys and sessions, and taking rights away at once.
//!
//! What gives a right needs several people: it is a proposal.

use axum::{extract::State, response::Response};
use bankroll_ledger::Name;
use bankroll_operators::{OperatorSession, Operators, Person, Right};
use bankroll_orders::Address;
use bankroll_registry::Caller;
use serde::Serialize;
use utoipa::ToSchema;

use super::holds::EmptyBody;
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
    money::applied_response,
    state::EnteredAct,
};

#[derive(Debug, Serialize, ToSchema)]
pub struct OperatorsBody {
    /// In the order of their names.
    pub people: Vec<PersonBody>,
    /// How many people must sign a proposal, its author included.
    pub quorum: u8,
    /// For which audience and chain people sign, once one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain_id: Option<u64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PersonBody {
    pub person: String,
    /// `viewer`, `support`, `operator`, `approver`, `policy_admin` or `owner`.
    pub roles: Vec<&'static str>,
    /// What they may do now: nothing while they are suspended.
    pub rights: Vec<&'static str>,
    pub keys: Vec<PersonKeyBody>,
    pub since: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PersonKeyBody {
    pub address: String,
    pub since: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OperatorSessionsBody {
    pub sessions: Vec<OperatorSessionBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct OperatorSessionBody {
    pub session: String,
    pub person: String,
    /// The key that opened it. When it is revoked, so is the session.
    pub key: String,
    pub since: String,
    pub expires_at: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RevokedBody {
    /// The key or the session that is revoked.
    pub revoked: String,
}

/// The people who run the deployment (`read_audit_log`)
#[utoipa::path(get, path = "/v1/operators", tag = "operators", responses((status = 200, body = OperatorsBody)),
    security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadAuditLog)?;
    let operators = gate.registry.operators();
    let (audience, chain_id) = operators.audience().map(|(name, chain)| (name.to_owned(), chain)).unzip();
    let people = operators.people().map(shown).collect();
    applied_response(&OperatorsBody { people, quorum: operators.quorum(), audience, chain_id }, false)
}

/// The person of this request
#[utoipa::path(get, path = "/v1/operators/me", tag = "operators", responses((status = 200, body = PersonBody)),
    security(("session" = [])))]
pub async fn me(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let Caller::Operator(person) = &gate.session()?.caller else { return Err(ErrorCode::Forbidden.into()) };
    applied_response(&person_of(gate.registry.operators(), person)?, false)
}

/// A person who runs the deployment (`read_audit_log`)
#[utoipa::path(get, path = "/v1/operators/{person}", tag = "operators", params(("person" = String, Path)),
    responses((status = 200, body = PersonBody)), security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts(person): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadAuditLog)?;
    let person: Name = person.parse().map_err(|_| ErrorCode::NotFound)?;
    applied_response(&person_of(gate.registry.operators(), &person)?, false)
}

/// Suspends a person at once (`manage_operators`)
///
/// Their keys and sessions stop with the answer, and what they have signed counts for no open proposal. Several people
/// lift it: propose `reinstate`.
#[utoipa::path(post, path = "/v1/operators/{person}/suspend", tag = "operators", params(("person" = String, Path)),
    request_body = EmptyBody, responses((status = 200, body = PersonBody)), security(("session" = [])))]
pub async fn suspend(
    State(funds): State<Funds>,
    PathParts(person): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ManageOperators)?;
    let EmptyBody {} = call.body()?;
    let person: Name = person.parse().map_err(|_| ErrorCode::NotFound)?;
    let EnteredAct { replayed, books, .. } = gate.enter_act(&call, None).await?;
    let registry = books.registry.read().await;
    applied_response(&person_of(registry.operators(), &person).map_err(ApiError::after_commit)?, replayed)
}

/// Revokes a key of a person, for ever (`manage_operators`, or one's own)
///
/// Its sessions stop with the answer. The last key of the last owner stays.
#[utoipa::path(delete, path = "/v1/operators/keys/{address}", tag = "operators", params(("address" = String, Path)),
    responses((status = 200, body = RevokedBody)), security(("session" = [])))]
pub async fn revoke_key(
    State(funds): State<Funds>,
    PathParts(address): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    let person = gate.signer()?;
    let address: Option<Address> = address.parse().ok();
    let own = gate.registry.operators().person(&person);
    if !address.is_some_and(|address| own.is_some_and(|own| own.keys.contains_key(&address))) {
        gate.operator(Right::ManageOperators)?;
    }
    let address = address.ok_or(ErrorCode::NotFound)?;
    let EnteredAct { replayed, .. } = gate.enter_act(&call, None).await?;
    applied_response(&RevokedBody { revoked: address.to_string() }, replayed)
}

/// Open sessions of people: all with `manage_operators`, one's own without
#[utoipa::path(get, path = "/v1/operators/sessions", tag = "operators",
    responses((status = 200, body = OperatorSessionsBody)), security(("session" = [])))]
pub async fn sessions(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let Caller::Operator(person) = &gate.session()?.caller else { return Err(ErrorCode::Forbidden.into()) };
    let sees_all = gate.operator(Right::ManageOperators).is_ok();
    let open = gate.registry.operators().sessions(gate.now);
    let sessions = open.filter(|session| sees_all || session.person == *person).map(session_body).collect();
    applied_response(&OperatorSessionsBody { sessions }, false)
}

/// Revokes a session of a person (`manage_operators`, or one's own)
#[utoipa::path(delete, path = "/v1/operators/sessions/{session}", tag = "operators",
    params(("session" = String, Path)), responses((status = 200, body = RevokedBody)), security(("session" = [])))]
pub async fn revoke_session(
    State(funds): State<Funds>,
    PathParts(session): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    let person = gate.signer()?;
    let open = gate.registry.operators().session(&session, gate.now);
    let is_others = open.is_none_or(|open| open.person != person);
    if is_others && gate.operator(Right::ManageOperators).is_err() && gate.earlier_act(&call).await?.is_none() {
        return Err(ErrorCode::Forbidden.into());
    }
    let EnteredAct { replayed, .. } = gate.enter_act(&call, None).await?;
    applied_response(&RevokedBody { revoked: session }, replayed)
}

fn person_of(operators: &Operators, person: &Name) -> Result<PersonBody, ApiError> {
    operators.person(person).map(shown).ok_or_else(|| ErrorCode::NotFound.into())
}

fn shown(person: &Person) -> PersonBody {
    let keys = person.keys.iter().map(|(address, key)| PersonKeyBody {
        address: address.to_string(),
        since: show_time(key.since),
        revoked_at: key.revoked_at.map(show_time),
    });
    PersonBody {
        person: person.name.to_string(),
        roles: person.roles.iter().map(|role| role.as_str()).collect(),
        rights: person.rights().iter().map(|right| right.as_str()).collect(),
        keys: keys.collect(),
        since: show_time(person.since),
        suspended_at: person.suspended_at.map(show_time),
    }
}

fn session_body(open: &OperatorSession) -> OperatorSessionBody {
    OperatorSessionBody {
        session: open.session.clone(),
        person: open.person.to_string(),
        key: open.key.to_string(),
        since: show_time(open.since),
        expires_at: show_time(open.expires_at),
    }
}
