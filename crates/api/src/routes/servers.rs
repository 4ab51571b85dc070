//! Game servers: their configuration, its versions, their pauses.

use axum::{extract::State, response::Response};
use bankroll_ledger::Name;
use bankroll_operators::Right;
use bankroll_registry::{Pauses, RegisteredServer, Registry, ServerStatus, server_versions};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{pages::page_size, registry::changed, sessions::address_of};
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
    /// How long a player holds the exit in the game before they leave. The game enforces it: what happens in the world is
    /// not in the books.
    pub exit_hold_ms: u64,
    /// `active`, `paused_deposits`, `paused_spawns`, `paused_withdrawals` or `disabled`.
    pub status: &'static str,
    pub pauses: PausesBody,
    /// Whether each player has a deposit address of their own.
    pub player_addresses: bool,
    /// For people.
    pub labels: String,
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

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeveloperBody {
    /// A wallet; it signs in as players do.
    pub developer: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LabelsBody {
    #[schema(example = "europe, ranked")]
    pub labels: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayerAddressesBody {
    pub enabled: bool,
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
    gate.operator(Right::ReadMoney)?;
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
    let versions = books.pages.read(move |reader| server_versions(reader, &server, below, most)).await?;
    applied_response(&ServerPage { servers: versions.iter().map(shown).collect() }, false)
}

/// Sets the pauses of a game server (`pause_servers`)
///
/// Effective for every call that begins after the answer. One person adds pauses. To lift one, propose `resume_server`;
/// with a quorum of one this request lifts them as well.
#[utoipa::path(put, path = "/v1/servers/{server}/pauses", tag = "servers", params(("server" = String, Path)),
    request_body = PausesBody, responses((status = 200, body = super::registry::ChangedBody)),
    security(("session" = [])))]
pub async fn set_pauses(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::PauseServers)?;
    let name: Name = server.parse().map_err(|_| ErrorCode::NotFound)?;
    let PausesBody { deposits, spawns, withdrawals, disabled } = call.body()?;
    let pauses = Pauses { deposits, spawns, withdrawals, disabled };
    changed(gate, &call, Right::PauseServers, |registry, author, now| {
        let known = registry.pauses(&name).ok_or(ErrorCode::NotFound)?;
        if lifts_one(known, pauses) && registry.operators().quorum() > 1 {
            let advice = "lifting a pause needs several people: propose resume_server";
            return Err(ApiError::with(ErrorCode::ConfirmationNeeded, advice));
        }
        Ok(registry.set_pauses(&name, pauses, author.clone(), now)?)
    })
    .await
}

const fn lifts_one(known: Pauses, wanted: Pauses) -> bool {
    (known.deposits && !wanted.deposits)
        || (known.spawns && !wanted.spawns)
        || (known.withdrawals && !wanted.withdrawals)
        || (known.disabled && !wanted.disabled)
}

/// Names another developer of a game server (owner)
///
/// The wallet that reaches the server's fees. A registration cannot change it: a stolen key must not take the fees.
#[utoipa::path(put, path = "/v1/servers/{server}/developer", tag = "servers", params(("server" = String, Path)),
    request_body = DeveloperBody, responses((status = 200, body = super::registry::ChangedBody)),
    security(("session" = [])))]
pub async fn set_developer(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ChangeRegistry)?;
    let name: Name = server.parse().map_err(|_| ErrorCode::NotFound)?;
    let DeveloperBody { developer } = call.body()?;
    let developer = address_of("developer", &developer)?;
    changed(gate, &call, Right::ChangeRegistry, |registry, author, now| {
        registry.set_developer(&name, developer, author.clone(), now)
    })
    .await
}

/// Sets the labels of a game server (owner)
#[utoipa::path(put, path = "/v1/servers/{server}/labels", tag = "servers", params(("server" = String, Path)),
    request_body = LabelsBody, responses((status = 200, body = super::registry::ChangedBody)),
    security(("session" = [])))]
pub async fn set_labels(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ChangeRegistry)?;
    let name: Name = server.parse().map_err(|_| ErrorCode::NotFound)?;
    let LabelsBody { labels } = call.body()?;
    changed(gate, &call, Right::ChangeRegistry, |registry, author, now| {
        registry.set_labels(&name, &labels, author.clone(), now)
    })
    .await
}

/// Gives each player of a game server a deposit address of their own, or stops it (owner)
///
/// Addresses that were given out stay their players'. Coins at such an address can be paid out only after they were moved
/// to the hot wallet.
#[utoipa::path(put, path = "/v1/servers/{server}/player-addresses", tag = "servers",
    params(("server" = String, Path)), request_body = PlayerAddressesBody,
    responses((status = 200, body = super::registry::ChangedBody)), security(("session" = [])))]
pub async fn set_player_addresses(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::ChangeRegistry)?;
    let name: Name = server.parse().map_err(|_| ErrorCode::NotFound)?;
    let PlayerAddressesBody { enabled } = call.body()?;
    let decide =
        |registry: &Registry, author: &Name, now| registry.set_player_addresses(&name, enabled, author.clone(), now);
    changed(gate, &call, Right::ChangeRegistry, decide).await
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
        labels: server.labels.clone(),
        version: server.version,
        changed_by: server.changed_by.to_string(),
        changed_at: show_time(server.changed_at),
        created_at: show_time(server.created_at),
    }
}
