//! Spawns: a place in a server's world, reserved, committed, released or refunded, once.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_deposits::credit::credited_buy_in;
use bankroll_ledger::Name;
use bankroll_registry::SpendSide;
use bankroll_spawns::{
    ConsumedDeposit, ReservedSpawn, SpawnEnd, SpawnError, SpawnId, SpawnOrder, SpawnTerms, SpawnView, Spawns,
    views::{self, SpawnRefusal},
};
use bankroll_store::Reader;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    accounts::player_of,
    holds::EmptyBody,
    pages::{PageQuery, page_size},
    redacted::players_response,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
    money::{Spent, applied_response, count},
    state::Gate,
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSpawnBody {
    /// The wallet of the player.
    pub player: String,
    /// The deposit that the place is paid with, which it consumes; without one it is paid from the balance.
    #[serde(default)]
    pub deposit: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SpawnBody {
    #[schema(example = "spn_0123456789abcdef0123456789abcdef")]
    pub spawn: String,
    pub player: String,
    /// `reserved`, `committed`, `released`, `refunded`, `expired` or `exited`.
    pub status: &'static str,
    /// What enters the world.
    pub amount: String,
    /// The amount as mass in the game: a decimal number.
    pub mass: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposit: Option<String>,
    /// The version of the server's configuration that set the price.
    pub version: u64,
    pub reserved_at: String,
    pub expires_at: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SpawnPage {
    pub spawns: Vec<SpawnBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EligibilityBody {
    pub player: String,
    pub eligible: bool,
    /// Why not: `paused`, `frozen`, `excluded` or `insufficient_funds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// What the player may stake now.
    pub funds: String,
    /// What may become a buy-in.
    pub unallocated: String,
    pub price: String,
    /// The price with the fees on top: what a player without funds pays in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<String>,
}

/// Whether a player could spawn now
///
/// Nothing is reserved: another request may take the money first.
#[utoipa::path(get, path = "/v1/servers/{server}/players/{wallet}/eligibility", tag = "game",
    params(("server" = String, Path), ("wallet" = String, Path)), responses((status = 200, body = EligibilityBody)),
    security(("session" = [])))]
pub async fn eligibility(
    State(funds): State<Funds>,
    PathParts((server, wallet)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    let chain = &gate.registry.server(&server).ok_or(ErrorCode::NotFound)?.chain;
    let player = player_of(&gate.registry, chain, &wallet).map_err(|_| ErrorCode::NotFound)?;
    let (terms, asset) = (terms(&gate, &server)?, super::transfers::server_asset(&gate, &server)?);
    let is_excluded = gate.registry.excluded_until(&player, gate.now).is_some();
    let is_frozen = gate.registry.frozen(&player).is_some();
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let wallet = player.clone();
    let found = books.pages.read(move |reader| views::eligibility(reader, &server, asset, &wallet, &terms)).await?;
    let reason = match found.refusal {
        Some(SpawnRefusal::Paused) => Some("paused"),
        _ if is_frozen => Some("frozen"),
        _ if is_excluded => Some("excluded"),
        Some(SpawnRefusal::InsufficientFunds) => Some("insufficient_funds"),
        None => None,
    };
    let body = EligibilityBody {
        player: player.to_string(),
        eligible: reason.is_none(),
        reason,
        funds: found.funds.to_string(),
        unallocated: found.unallocated.to_string(),
        price: found.price.to_string(),
        required: found.required.map(|required| required.to_string()),
    };
    players_response(&body, in_full)
}

/// Reserves a place in the world
///
/// The price is held in the player's funds for a minute. The same key returns the same reservation.
#[utoipa::path(post, path = "/v1/servers/{server}/spawns", tag = "game", params(("server" = String, Path)),
    request_body = NewSpawnBody, responses((status = 200, body = SpawnBody)), security(("session" = [])))]
pub async fn reserve(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let (server, key) = (gate.game_server(&server)?, call.key()?);
    let NewSpawnBody { player, deposit } = call.body()?;
    let chain = &gate.registry.server(&server).ok_or(ErrorCode::NotFound)?.chain;
    let wallet = player_of(&gate.registry, chain, &player)?;
    let owners = gate.registry.owner_names(chain, &wallet);
    let consumed = |id: String| ConsumedDeposit { is_credited: credited_buy_in(&id, &server, &wallet), id };
    let deposit = deposit.map(consumed);
    let asset = super::transfers::server_asset(&gate, &server)?;
    let order = SpawnOrder { server, request_key: key.to_owned(), wallet, asset, deposit };
    let (terms, now, spawns) = (terms(&gate, &order.server)?, gate.now, funds.settings().spawns);
    let books = Arc::clone(&gate.books);
    let asked = order.clone();
    let is_excluded = gate.registry.excluded_until(&order.wallet, now).is_some();
    let is_frozen = gate.registry.frozen(&order.wallet).is_some();
    // A reservation that was made is returned whatever has changed since.
    let prepared = books.readers.read(move |reader| match known(reader, &asked, &owners)? {
        Some(known) => Ok(Err(known)),
        None if is_frozen => Err(ErrorCode::PlayerFrozen.into()),
        None if is_excluded => Err(ApiError::with(ErrorCode::NotEligible, "the player has excluded themselves")),
        None => Ok(Ok(spawns.reserve_requests(&asked, &terms, reader, now)?)),
    });
    let requests = match prepared.await? {
        Err(known) => return applied_response(&shown(&known.spawn), known.is_repeated),
        Ok(requests) => requests,
    };
    let spent = count(&gate, [(SpendSide::Taken, asset, terms.price)])?;
    let last = requests.last().cloned().ok_or(ErrorCode::Internal)?;
    let pending = books.ledger.submit(requests);
    drop(gate);
    let answers = spent.answers(&books, pending).await?;
    let answer = answers.last().cloned().ok_or(ErrorCode::OutcomeUnknown)?;
    spent.settle(&books, &answer);
    let reserved = books.readers.read(move |reader| Spawns::reserved(reader, &order, &last, &answer)).await;
    let reserved = reserved.map_err(ApiError::after_commit)?;
    Spawns::note_hold(&books.ledger, &reserved.spawn);
    applied_response(&shown(&reserved.spawn), reserved.is_repeated)
}

/// Live spawns: committed and not ended
#[utoipa::path(get, path = "/v1/servers/{server}/spawns", tag = "game", params(("server" = String, Path), PageQuery),
    responses((status = 200, body = SpawnPage)), security(("session" = [])))]
pub async fn list(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    let PageQuery { after, limit } = call.query()?;
    let after = after.map(|after| SpawnId::parse(&after).ok_or(ErrorCode::CursorInvalid)).transpose()?;
    let most = page_size(limit.as_deref())?;
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let found = books.pages.read(move |reader| views::live_spawns(reader, &server, after.as_ref(), most)).await?;
    let next = found.last().filter(|_| found.len() == most).map(|last| last.id.to_string());
    players_response(&SpawnPage { spawns: found.iter().map(shown).collect(), next }, in_full)
}

/// A spawn
#[utoipa::path(get, path = "/v1/servers/{server}/spawns/{spawn}", tag = "game",
    params(("server" = String, Path), ("spawn" = String, Path)), responses((status = 200, body = SpawnBody)),
    security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts((server, spawn)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let (server, now) = (gate.reader_of(&server)?, gate.now);
    let id = SpawnId::parse(&spawn).ok_or(ErrorCode::NotFound)?;
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let found = books.pages.read(move |reader| views::spawn_of(reader, &server, &id, now)).await?;
    players_response(&shown(&found.ok_or(ErrorCode::NotFound)?), in_full)
}

/// Commits a reservation: its price enters the world
#[utoipa::path(post, path = "/v1/servers/{server}/spawns/{spawn}/commit", tag = "game",
    params(("server" = String, Path), ("spawn" = String, Path)), request_body = EmptyBody,
    responses((status = 200, body = SpawnBody)), security(("session" = [])))]
pub async fn commit(
    State(funds): State<Funds>,
    PathParts((server, spawn)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    end(&funds, &server, &spawn, &call, SpawnEnd::Commit).await
}

/// Releases a reservation: its price is available again
#[utoipa::path(post, path = "/v1/servers/{server}/spawns/{spawn}/release", tag = "game",
    params(("server" = String, Path), ("spawn" = String, Path)), request_body = EmptyBody,
    responses((status = 200, body = SpawnBody)), security(("session" = [])))]
pub async fn release(
    State(funds): State<Funds>,
    PathParts((server, spawn)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    end(&funds, &server, &spawn, &call, SpawnEnd::Release).await
}

/// Refunds a live spawn: its price goes back to the player
#[utoipa::path(post, path = "/v1/servers/{server}/spawns/{spawn}/refund", tag = "game",
    params(("server" = String, Path), ("spawn" = String, Path)), request_body = EmptyBody,
    responses((status = 200, body = SpawnBody)), security(("session" = [])))]
pub async fn refund(
    State(funds): State<Funds>,
    PathParts((server, spawn)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    end(&funds, &server, &spawn, &call, SpawnEnd::Refund).await
}

/// The reservation that was made under this key, also for a wallet that the player has linked since.
fn known(reader: &Reader, order: &SpawnOrder, owners: &[Name]) -> Result<Option<ReservedSpawn>, SpawnError> {
    let mut found = Spawns::known(reader, order);
    for owner in owners.iter().filter(|owner| **owner != order.wallet) {
        if matches!(found, Err(SpawnError::OtherSpawn)) {
            found = Spawns::known(reader, &SpawnOrder { wallet: owner.clone(), ..order.clone() });
        }
    }
    found
}

async fn end(funds: &Funds, server: &str, spawn: &str, call: &ApiCall, end: SpawnEnd) -> Result<Response, ApiError> {
    let gate = funds.enter(call).await?;
    let (server, key) = (gate.game_server(server)?, call.key()?.to_owned());
    let EmptyBody {} = call.body()?;
    let id = SpawnId::parse(spawn).ok_or(ErrorCode::NotFound)?;
    let books = Arc::clone(&gate.books);
    let (request, spawn) =
        books.readers.read(move |reader| Spawns::end_request(end, &server, &id, &key, reader)).await?;
    // A reservation of a player who was frozen since is not committed; a retry of what was gets its answer.
    let is_frozen = end == SpawnEnd::Commit && gate.registry.frozen(&spawn.wallet).is_some();
    if is_frozen && books.decided_keys(vec![request.key.clone()]).await?.is_empty() {
        return Err(ErrorCode::PlayerFrozen.into());
    }
    // The player can have a refund paid out, so a stolen key must not empty the world with refunds at once.
    let given = (end == SpawnEnd::Refund).then_some((SpendSide::Given, spawn.asset, spawn.amount));
    let spent = match count(&gate, given) {
        Ok(spent) => spent,
        Err(refusal) if books.decided_keys(vec![request.key.clone()]).await?.is_empty() => return Err(refusal),
        Err(_) => Spent::default(),
    };
    let pending = books.ledger.submit(vec![request]);
    drop(gate);
    let answers = spent.answers(&books, pending).await?;
    let answer = answers.first().ok_or(ErrorCode::OutcomeUnknown)?;
    spent.settle(&books, answer);
    answer.effects()?;
    applied_response(&shown(&spawn), answer.replayed)
}

/// The configuration of a server as spawns need it.
fn terms(gate: &Gate, server: &Name) -> Result<SpawnTerms, ApiError> {
    let entry = gate.registry.server(server).ok_or(ErrorCode::NotFound)?;
    let asset = gate.registry.asset(entry.asset).ok_or(ErrorCode::Internal)?;
    let fee = |bps: u32| entry.terms.buy_in.basis_points(bps).ok_or(ErrorCode::BalanceOverflow);
    Ok(SpawnTerms {
        price: entry.terms.buy_in,
        developer_fee: fee(entry.terms.developer_bps)?,
        world_fee: fee(entry.terms.world_bps)?,
        mass_per_coin: entry.terms.mass_per_coin.units(),
        decimals: asset.decimals,
        accepts: entry.pauses.allows_spawns(),
        allocates: entry.pauses.accepts_deposits(),
        version: entry.version,
    })
}

fn shown(spawn: &SpawnView) -> SpawnBody {
    SpawnBody {
        spawn: spawn.id.to_string(),
        player: spawn.wallet.to_string(),
        status: spawn.status.as_str(),
        amount: spawn.amount.to_string(),
        mass: spawn.mass.to_string(),
        deposit: spawn.deposit.clone(),
        version: spawn.version,
        reserved_at: show_time(spawn.reserved_at),
        expires_at: show_time(spawn.expires_at),
    }
}
