//! The keys of owners: one that was stolen can be revoked, and never the last one.

use axum::{extract::State, response::Response};
use bankroll_orders::Address;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    registry::{ChangedBody, EntriesBody, changed, shown},
    registry_bodies::name,
    sessions::address_of,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts},
    money::applied_response,
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnerKeyBody {
    /// The person: the same one with a second key, or another.
    pub owner: String,
    pub address: String,
}

/// Keys of owners (owner)
#[utoipa::path(get, path = "/v1/registry/owner-keys",
    responses((status = 200, body = EntriesBody)), security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.owner()?;
    let entries = gate.registry.owner_keys().map(shown).collect::<Result<_, _>>()?;
    applied_response(&EntriesBody { entries }, false)
}

/// Adds a key of an owner (owner)
#[utoipa::path(post, path = "/v1/registry/owner-keys", request_body = OwnerKeyBody,
    responses((status = 200, body = ChangedBody)), security(("session" = [])))]
pub async fn add(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.owner()?;
    let OwnerKeyBody { owner, address } = call.body()?;
    let (owner, address) = (name("owner", &owner)?, address_of("address", &address)?);
    changed(gate, &call, |registry, _, now| registry.add_owner_key(owner, address, now)).await
}

/// Revokes a key of an owner (owner)
///
/// For ever. Its sessions are refused from the answer on. The last key cannot be revoked.
#[utoipa::path(delete, path = "/v1/registry/owner-keys/{address}",
    params(("address" = String, Path)), responses((status = 200, body = ChangedBody)), security(("session" = [])))]
pub async fn revoke(
    State(funds): State<Funds>,
    PathParts(address): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.owner()?;
    let address: Address = address.parse().map_err(|_| ErrorCode::NotFound)?;
    changed(gate, &call, |registry, _, now| registry.revoke_owner_key(address, now)).await
}
