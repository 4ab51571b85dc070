//! Transfers between accounts of one game server, and the two that a game makes all the time.

use axum::{extract::State, response::Response};
use bankroll_ledger::{AssetId, Name};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, amount},
    money::{AppliedBody, Operation, operate},
    state::Gate,
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferBody {
    #[schema(example = "arena/funds/1/0x9c1885f0c36b4a1d5e1f0c5e7a5e3f1d2c3b4a59")]
    pub from: String,
    #[schema(example = "arena/world/1")]
    pub to: String,
    #[schema(example = "1500")]
    pub amount: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldBody {
    #[schema(example = "25")]
    pub amount: String,
}

/// Moves money between two accounts
#[utoipa::path(post, path = "/v1/servers/{server}/transfer", tag = "money", security(("session" = [])),
    params(("server" = String, Path)), request_body = TransferBody, responses((status = 200, body = AppliedBody)))]
pub async fn transfer(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    operate(&funds, &server, &call, |_, _, TransferBody { from, to, amount: units }| {
        Ok(Operation::Move { from, to, amount: amount(&units)? })
    })
    .await
}

/// Puts pellets into the world
///
/// From the server's ecosystem account into its world.
#[utoipa::path(post, path = "/v1/servers/{server}/pellets", tag = "game", security(("session" = [])),
    params(("server" = String, Path)), request_body = WorldBody, responses((status = 200, body = AppliedBody)))]
pub async fn pellets(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    operate(&funds, &server, &call, |gate, server, body: WorldBody| {
        Ok(Operation::pellets(server, server_asset(gate, server)?, amount(&body.amount)?))
    })
    .await
}

/// Takes value out of the world
///
/// From the server's world into its ecosystem account.
#[utoipa::path(post, path = "/v1/servers/{server}/recycle", tag = "game", security(("session" = [])),
    params(("server" = String, Path)), request_body = WorldBody, responses((status = 200, body = AppliedBody)))]
pub async fn recycle(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    operate(&funds, &server, &call, |gate, server, body: WorldBody| {
        Ok(Operation::recycle(server, server_asset(gate, server)?, amount(&body.amount)?))
    })
    .await
}

/// The asset that a server plays with.
pub(super) fn server_asset(gate: &Gate, server: &Name) -> Result<AssetId, ApiError> {
    gate.registry.server(server).map(|entry| entry.asset).ok_or_else(|| ErrorCode::NotFound.into())
}
