//! The allow-list: which key may act for which game server, and within which bounds.

use axum::{extract::State, response::Response};
use bankroll_ledger::{Amount, AssetId, Name};
use bankroll_orders::Address;
use bankroll_registry::{KeyBounds, ServerKeyDraft};
use serde::Deserialize;
use utoipa::ToSchema;

use super::registry::{ChangedBody, EntriesBody, changed, shown};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, amount, time},
    money::applied_response,
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerKeyBody {
    pub address: String,
    pub server: String,
    pub chain: String,
    pub asset: u32,
    pub custody_key: String,
    pub buy_in_min: String,
    pub buy_in_max: String,
    pub developer_bps_max: u32,
    pub world_bps_max: u32,
    /// What calls with this key may take out of players' reach in a minute; no limit if missing.
    #[serde(default)]
    pub spend_limit: Option<String>,
    /// The key is good until this time: the overlap of a rotation.
    #[serde(default)]
    pub valid_until: Option<String>,
}

/// Keys of game servers (owner)
#[utoipa::path(get, path = "/v1/registry/server-keys", tag = "registry",
    responses((status = 200, body = EntriesBody)), security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.owner()?;
    let entries = gate.registry.server_keys().map(shown).collect::<Result<_, _>>()?;
    applied_response(&EntriesBody { entries }, false)
}

/// Allow-lists a key of a game server (owner)
#[utoipa::path(post, path = "/v1/registry/server-keys", tag = "registry", request_body = ServerKeyBody,
    responses((status = 200, body = ChangedBody)), security(("session" = [])))]
pub async fn add(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.owner()?;
    let draft = draft(call.body()?)?;
    changed(gate, &call, |registry, _, now| registry.add_server_key(&draft, now)).await
}

/// Revokes a key of a game server (owner)
///
/// For ever. Its sessions are refused from the answer on.
#[utoipa::path(delete, path = "/v1/registry/server-keys/{address}", tag = "registry",
    params(("address" = String, Path)), responses((status = 200, body = ChangedBody)), security(("session" = [])))]
pub async fn revoke(
    State(funds): State<Funds>,
    PathParts(address): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.owner()?;
    let address: Address = address.parse().map_err(|_| ErrorCode::NotFound)?;
    changed(gate, &call, |registry, _, now| registry.revoke_server_key(address, now)).await
}

fn draft(body: ServerKeyBody) -> Result<ServerKeyDraft, ApiError> {
    let name = |field: &str, text: &str| -> Result<Name, ApiError> {
        text.parse().map_err(|error| ApiError::with(ErrorCode::BodyInvalid, format!("{field}: {error}")))
    };
    let address = body.address.parse();
    let limit: Option<Amount> = body.spend_limit.as_deref().map(amount).transpose()?;
    Ok(ServerKeyDraft {
        address: address.map_err(|_| ApiError::with(ErrorCode::BodyInvalid, "address is no address"))?,
        server: name("server", &body.server)?,
        chain: name("chain", &body.chain)?,
        asset: AssetId(body.asset),
        custody_key: name("custody_key", &body.custody_key)?,
        bounds: KeyBounds {
            buy_in_min: amount(&body.buy_in_min)?,
            buy_in_max: amount(&body.buy_in_max)?,
            developer_bps_max: body.developer_bps_max,
            world_bps_max: body.world_bps_max,
        },
        spend_limit: limit,
        valid_until: body.valid_until.map(|text| time(&text, ErrorCode::BodyInvalid)).transpose()?,
    })
}
