//! Game servers: their configuration, its versions, their pauses.

use axum::{extract::State, response::Response};
use bankroll_ledger::Name;
use bankroll_registry::{Pauses, RegisteredServer, ServerStatus, server_versions};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{pages::page_size, registry::changed};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
    money::applied_response,
};

#[derive(Debug, Serialize, ToSchema)]
pub struct ServerBody {
    pub server: String,
    pub chain: String,
    pub asset: u32,
    /// Where players pay to.
    pub deposit_address: String,
    pub payout_address: String,
    pub developer: String,
    pub buy_in: String,
    pub developer_fee_bps: u32,
    pub world_fee_bps: u32,
    pub mass_per_coin: String,
    pub exit_hold_ms: u64,
    /// `active`, `paused_deposits`, `paused_spawns`, `paused_withdrawals` or `disabled`.
    pub status: &'static str,
    pub pauses: PausesBody,
    /// Whether each player has a deposit address of their own.
    pub player_addresses: bool,
    pub version: u64,
    pub changed_by: String,
    pub changed_at: String,
    pub created_at: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PausesBody {
    pub deposits: bool,
    pub spawns: bool,
    pub withdrawals: bool,
    /// Closed: no buy-ins and no spawns; players can leave and be paid.
    pub disabled: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ServerPage {
    /// In the order of their names, or the newest version first.
    pub servers: Vec<ServerBody>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VersionQuery {
    /// Only versions below this one.
    #[param(value_type = Option<u64>)]
    pub below: Option<String>,
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// All game servers (owner)
#[utoipa::path(get, path = "/v1/servers", tag = "servers", responses((status = 200, body = ServerPage)),
    security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.owner()?;
    applied_response(&ServerPage { servers: gate.registry.servers().map(shown).collect() }, false)
}

/// A game server
#[utoipa::path(get, path = "/v1/servers/{server}", tag = "servers", params(("server" = String, Path)),
    responses((status = 200, body = ServerBody)), security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    applied_response(&shown(gate.registry.server(&server).ok_or(ErrorCode::NotFound)?), false)
}

/// All versions of a game server's configuration, the newest first
#[utoipa::path(get, path = "/v1/servers/{server}/versions", tag = "servers",
    params(("server" = String, Path), VersionQuery), responses((status = 200, body = ServerPage)),
    security(("session" = [])))]
pub async fn versions(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    let query: VersionQuery = call.query()?;
    // The document says int64: what is larger is no version, not all versions.
    let below = query.below.map(|below| below.parse::<u64>().ok().filter(|below| i64::try_from(*below).is_ok()));
    let wrong = || ApiError::with(ErrorCode::QueryInvalid, "below is the number of a version");
    let below = below.map(|below| below.ok_or_else(wrong)).transpose()?;
    let most = page_size(query.limit.as_deref())?;
    let books = std::sync::Arc::clone(&gate.books);
    drop(gate);
    let versions = books.readers.read(move |reader| server_versions(reader, &server, below, most)).await?;
    applied_response(&ServerPage { servers: versions.iter().map(shown).collect() }, false)
}

/// Sets the pauses of a game server (owner)
///
/// Effective for every call that begins after the answer.
#[utoipa::path(put, path = "/v1/servers/{server}/pauses", tag = "servers", params(("server" = String, Path)),
    request_body = PausesBody, responses((status = 200, body = super::registry::ChangedBody)),
    security(("session" = [])))]
pub async fn set_pauses(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.owner()?;
    let name: Name = server.parse().map_err(|_| ErrorCode::NotFound)?;
    let PausesBody { deposits, spawns, withdrawals, disabled } = call.body()?;
    let pauses = Pauses { deposits, spawns, withdrawals, disabled };
    changed(gate, &call, |registry, author, now| registry.set_pauses(&name, pauses, author.clone(), now)).await
}

pub(super) fn shown(server: &RegisteredServer) -> ServerBody {
    let (terms, pauses) = (&server.terms, server.pauses);
    ServerBody {
        server: server.name.to_string(),
        chain: server.chain.to_string(),
        asset: server.asset.0,
        deposit_address: server.deposit_address.to_string(),
        payout_address: terms.payout_address.to_string(),
        developer: terms.developer.to_string(),
        buy_in: terms.buy_in.to_string(),
        developer_fee_bps: terms.developer_bps,
        world_fee_bps: terms.world_bps,
        mass_per_coin: terms.mass_per_coin.to_string(),
        exit_hold_ms: terms.exit_hold_ms,
        status: match server.status() {
            ServerStatus::Active => "active",
            ServerStatus::PausedDeposits => "paused_deposits",
            ServerStatus::PausedSpawns => "paused_spawns",
            ServerStatus::PausedWithdrawals => "paused_withdrawals",
            ServerStatus::Disabled => "disabled",
        },
        pauses: PausesBody {
            deposits: pauses.deposits,
            spawns: pauses.spawns,
            withdrawals: pauses.withdrawals,
            disabled: pauses.disabled,
        },
        player_addresses: server.player_addresses,
        version: server.version,
        changed_by: server.changed_by.to_string(),
        changed_at: show_time(server.changed_at),
        created_at: show_time(server.created_at),
    }
}
