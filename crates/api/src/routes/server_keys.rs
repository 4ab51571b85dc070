//! The allow-list: which key may act for which game server, and within which bounds.

use axum::{extract::State, response::Response};
use bankroll_ledger::{Amount, AssetId};
use bankroll_operators::Right;
use bankroll_orders::Address;
use bankroll_registry::{KeyBounds, ServerKey, ServerKeyDraft, ServerKeyUpdate};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::{
    registry::{ChangedBody, EntriesBody, changed, shown},
    registry_bodies::name,
    sessions::address_of,
};
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

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerKeyUpdateBody {
    pub buy_in_min: Option<String>,
    pub buy_in_max: Option<String>,
    pub developer_bps_max: Option<u32>,
    pub world_bps_max: Option<u32>,
    /// `null`: no limit.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    pub spend_limit: Option<Option<String>>,
    /// `null`: until it is revoked.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    pub valid_until: Option<Option<String>>,
}

/// Keys of game servers (owner)
#[utoipa::path(get, path = "/v1/registry/server-keys",
    responses((status = 200, body = EntriesBody)), security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadMoney)?;
    let entries = gate.registry.server_keys().map(shown).collect::<Result<_, _>>()?;
    applied_response(&EntriesBody { entries }, false)
}

/// Allow-lists a key of a game server (owner)
#[utoipa::path(post, path = "/v1/registry/server-keys", request_body = ServerKeyBody,
    responses((status = 200, body = ChangedBody)), security(("session" = [])))]
pub async fn add(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ChangeRegistry)?;
    let draft = draft(call.body()?)?;
    changed(gate, &call, Right::ChangeRegistry, |registry, _, now| registry.add_server_key(&draft, now)).await
}

/// Revokes a key of a game server (owner)
///
/// For ever. Its sessions are refused from the answer on.
#[utoipa::path(delete, path = "/v1/registry/server-keys/{address}",
    params(("address" = String, Path)), responses((status = 200, body = ChangedBody)), security(("session" = [])))]
pub async fn revoke(
    State(funds): State<Funds>,
    PathParts(address): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ChangeRegistry)?;
    let address: Address = address.parse().map_err(|_| ErrorCode::NotFound)?;
    changed(gate, &call, Right::ChangeRegistry, |registry, _, now| registry.revoke_server_key(address, now)).await
}

/// Changes the bounds, the limit or the end of a key of a game server (owner)
///
/// Fields that are missing stay as they are. With `valid_until` the old key of a rotation ends while the new one is
/// already used.
#[utoipa::path(patch, path = "/v1/registry/server-keys/{address}", params(("address" = String, Path)),
    request_body = ServerKeyUpdateBody, responses((status = 200, body = ChangedBody)), security(("session" = [])))]
pub async fn update(
    State(funds): State<Funds>,
    PathParts(address): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ChangeRegistry)?;
    let address: Address = address.parse().map_err(|_| ErrorCode::NotFound)?;
    let known = gate.registry.server_key(address).ok_or(ErrorCode::NotFound)?;
    let update = updated(call.body()?, known)?;
    changed(gate, &call, Right::ChangeRegistry, |registry, _, _| registry.update_server_key(address, &update)).await
}

fn updated(body: ServerKeyUpdateBody, known: &ServerKey) -> Result<ServerKeyUpdate, ApiError> {
    let bound = |text: Option<String>, known| text.as_deref().map_or(Ok(known), amount);
    let KeyBounds { buy_in_min, buy_in_max, developer_bps_max, world_bps_max } = known.bounds;
    let limit = body.spend_limit.map(|limit| limit.as_deref().map(amount).transpose()).transpose()?;
    let until = body.valid_until.map(|until| until.map(|text| time(&text, ErrorCode::BodyInvalid)).transpose());
    Ok(ServerKeyUpdate {
        bounds: KeyBounds {
            buy_in_min: bound(body.buy_in_min, buy_in_min)?,
            buy_in_max: bound(body.buy_in_max, buy_in_max)?,
            developer_bps_max: body.developer_bps_max.unwrap_or(developer_bps_max),
            world_bps_max: body.world_bps_max.unwrap_or(world_bps_max),
        },
        spend_limit: limit.unwrap_or(known.spend_limit),
        valid_until: until.transpose()?.unwrap_or(known.valid_until),
    })
}

/// A field that is there, maybe as null; serde alone takes null for a missing field.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(value).map(Some)
}

fn draft(body: ServerKeyBody) -> Result<ServerKeyDraft, ApiError> {
    let limit: Option<Amount> = body.spend_limit.as_deref().map(amount).transpose()?;
    Ok(ServerKeyDraft {
        address: address_of("address", &body.address)?,
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
