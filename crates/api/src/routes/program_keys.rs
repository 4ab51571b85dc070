//! Keys of programs: they read, within the rights that a person gave them. Shown once; the books keep a hash.

use axum::{extract::State, response::Response};
use bankroll_operators::{Act, ProgramKey, Right};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::operators::RevokedBody;
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
    money::applied_response,
    state::{EnteredAct, MadeProgramKey},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the act is read from the signed text; this is its documentation, and its strict form")]
pub struct NewProgramKeyBody {
    /// What it is for, 1 to 500 bytes.
    pub label: String,
    /// `read_money`, `read_players` or `read_audit_log`.
    pub rights: Vec<String>,
    /// Until it is revoked, if missing.
    #[serde(default)]
    pub lifetime_seconds: Option<u64>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProgramKeyBody {
    pub id: String,
    pub label: String,
    pub rights: Vec<&'static str>,
    pub created_by: String,
    pub since: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct MadeProgramKeyBody {
    pub program_key: ProgramKeyBody,
    /// For `Authorization: Bearer`. Shown once: a retry of the request does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Without the key.
impl std::fmt::Debug for MadeProgramKeyBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MadeProgramKeyBody({:?})", self.program_key)
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ProgramKeysBody {
    pub program_keys: Vec<ProgramKeyBody>,
}

/// Keys of programs (`manage_operators`)
#[utoipa::path(get, path = "/v1/program-keys", tag = "operators", responses((status = 200, body = ProgramKeysBody)),
    security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ManageOperators)?;
    let program_keys = gate.registry.operators().program_keys().map(shown).collect();
    applied_response(&ProgramKeysBody { program_keys }, false)
}

/// Makes a key for a program (`manage_operators`)
///
/// The key is in the answer, once. If the answer is lost, revoke the key and make another.
#[utoipa::path(post, path = "/v1/program-keys", tag = "operators", request_body = NewProgramKeyBody,
    responses((status = 200, body = MadeProgramKeyBody)), security(("session" = [])))]
pub async fn create(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ManageOperators)?;
    let _: NewProgramKeyBody = call.body()?;
    let made = MadeProgramKey::new()?;
    let EnteredAct { act, replayed, books } = gate.enter_act(&call, Some(&made.kept)).await?;
    let Act::CreateProgramKey { id, .. } = act else { return Err(ErrorCode::IdempotencyMismatch.into()) };
    let registry = books.registry.read().await;
    let key = registry.operators().program_key(&id);
    let program_key = shown(key.ok_or(ErrorCode::Internal).map_err(|code| ApiError::from(code).after_commit())?);
    applied_response(&MadeProgramKeyBody { program_key, key: (!replayed).then_some(made.text) }, replayed)
}

/// Revokes a key of a program, for ever (`manage_operators`)
#[utoipa::path(delete, path = "/v1/program-keys/{key}", tag = "operators", params(("key" = String, Path)),
    responses((status = 200, body = RevokedBody)), security(("session" = [])))]
pub async fn revoke(
    State(funds): State<Funds>,
    PathParts(id): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ManageOperators)?;
    let EnteredAct { replayed, .. } = gate.enter_act(&call, None).await?;
    applied_response(&RevokedBody { revoked: id }, replayed)
}

fn shown(key: &ProgramKey) -> ProgramKeyBody {
    ProgramKeyBody {
        id: key.id.to_string(),
        label: key.label.clone(),
        rights: key.rights.iter().map(|right| right.as_str()).collect(),
        created_by: key.created_by.to_string(),
        since: show_time(key.since),
        expires_at: key.expires_at.map(show_time),
        revoked_at: key.revoked_at.map(show_time),
    }
}
