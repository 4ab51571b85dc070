//! What a signed-in player sees and decides about themselves; and the developer's account.

use axum::{extract::State, response::Response};
use bankroll_ledger::{AccountKind, AccountName, Name, Scope};
use bankroll_registry::decide_link;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    accounts::{AccountBody, AccountPage, LineQuery, StatementBody, read_statement, shown},
    pages::PAGE_MAX,
    sign_in::{SignInBody, body_key, prove},
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time, time},
    money::applied_response,
    state::Gate,
};

#[derive(Debug, Serialize, ToSchema)]
pub struct PlayerBody {
    /// The wallet that the player first signed in with: the owner of their accounts.
    pub player: String,
    /// Every wallet that they have proved.
    pub wallets: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_until: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DepositAddressBody {
    pub server: String,
    pub chain: String,
    pub asset: u32,
    pub address: String,
    /// Whether the address is the player's alone. Otherwise payments count by their sender: pay from a proven wallet.
    pub is_own: bool,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PlayerServerQuery {
    /// The game server.
    #[param(required = true)]
    pub server: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// One of the player's accounts.
    #[param(required = true)]
    pub account: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub order: Option<String>,
    pub after: Option<String>,
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExclusionBody {
    /// Until when; it can only be made longer.
    #[schema(example = "2027-01-01T00:00:00Z")]
    pub until: String,
}

/// The signed-in player
#[utoipa::path(get, path = "/v1/me", tag = "players", responses((status = 200, body = PlayerBody)),
    security(("session" = [])))]
pub async fn me(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    applied_response(&player_body(&gate.registry, &player, gate.now), false)
}

/// The player's balances at all game servers
#[utoipa::path(get, path = "/v1/me/balances", tag = "players", responses((status = 200, body = AccountPage)),
    security(("session" = [])))]
pub async fn balances(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    let books = std::sync::Arc::clone(&gate.books);
    let names = players_accounts(&gate, &player);
    drop(gate);
    let accounts = books
        .readers
        .read(move |reader| {
            names.iter().filter_map(|name| reader.account_named(name).transpose()).collect::<Result<Vec<_>, _>>()
        })
        .await?;
    applied_response(&AccountPage { accounts: accounts.iter().map(shown).collect(), next: None }, false)
}

/// Where the player pays to
#[utoipa::path(get, path = "/v1/me/deposit-address", tag = "players", params(PlayerServerQuery),
    responses((status = 200, body = DepositAddressBody)), security(("session" = [])))]
pub async fn deposit_address(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    let query: PlayerServerQuery = call.query()?;
    let server = query.server.ok_or_else(|| ApiError::with(ErrorCode::QueryInvalid, "server is missing"))?;
    let server: Name = server.parse().map_err(|_| ErrorCode::NotFound)?;
    let entry = gate.registry.server(&server).ok_or(ErrorCode::NotFound)?;
    let account = gate.registry.deposit_account(entry, &player).ok_or(ErrorCode::NotFound)?;
    let body = DepositAddressBody {
        server: server.to_string(),
        chain: account.chain.to_string(),
        asset: account.asset.0,
        address: account.address.to_string(),
        is_own: account.player.is_some(),
    };
    applied_response(&body, false)
}

/// The changes of one of the player's accounts
#[utoipa::path(get, path = "/v1/me/history", tag = "players", params(HistoryQuery),
    responses((status = 200, body = StatementBody)), security(("session" = [])))]
pub async fn history(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    let HistoryQuery { account, from, to, order, after, limit } = call.query()?;
    let account = account.ok_or_else(|| ApiError::with(ErrorCode::QueryInvalid, "account is missing"))?;
    let name: AccountName = account.parse().map_err(|_| ErrorCode::NotFound)?;
    if !name.kind.is_players() || name.owner.as_ref() != Some(&player) {
        return Err(ErrorCode::NotFound.into());
    }
    let books = std::sync::Arc::clone(&gate.books);
    drop(gate);
    let query = LineQuery { from, to, order, after, limit };
    applied_response(&read_statement(&books, name, query).await?, false)
}

/// Links one more wallet
///
/// With a message of that wallet as for a sign-in, and with the `Request ID` `link:` and the `player` of `/v1/me`: only
/// the wallet's own signature, made for this player, attributes payments from it.
#[utoipa::path(post, path = "/v1/me/wallets", tag = "players", request_body = SignInBody,
    responses((status = 200, body = PlayerBody)), security(("session" = [])))]
pub async fn link_wallet(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let player = funds.enter(&call).await?.player()?;
    call.key()?;
    let body: SignInBody = call.body()?;
    let proven = prove(&funds, &body).await?;
    let gate = funds.enter_to_change(&call).await?;
    gate.session()?;
    let changes = decide_link(&gate.registry, &player, proven, gate.now)?;
    let key = format!("sign-in/{}", body_key(&body));
    let author = gate.system_author(&call, Scope::House, key, &format!("player:{player}"))?;
    let (books, now) = (std::sync::Arc::clone(&gate.books), gate.now);
    gate.commit(author, changes).await?;
    let registry = books.registry.read().await;
    applied_response(&player_body(&registry, &player, now), false)
}

/// Excludes the player until a time
///
/// No buy-ins and no spawns until then; their money can be paid out. It can only be made longer.
#[utoipa::path(post, path = "/v1/me/exclusion", tag = "players", request_body = ExclusionBody,
    responses((status = 200, body = PlayerBody)), security(("session" = [])))]
pub async fn exclude(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let player = funds.enter(&call).await?.player()?;
    let idempotency_key = call.key()?;
    let ExclusionBody { until } = call.body()?;
    let until = time(&until, ErrorCode::BodyInvalid)?;
    let gate = funds.enter_to_change(&call).await?;
    gate.session()?;
    let changes = gate.registry.exclude(&player, until, gate.now)?;
    let key = format!("exclusion/{player}/{idempotency_key}");
    let author = gate.system_author(&call, Scope::House, key, &format!("player:{player}"))?;
    let (books, now) = (std::sync::Arc::clone(&gate.books), gate.now);
    gate.commit(author, changes).await?;
    let registry = books.registry.read().await;
    applied_response(&player_body(&registry, &player, now), false)
}

/// The developer's account of a game server
///
/// For the wallet that the server named as its developer's at its registration.
#[utoipa::path(get, path = "/v1/servers/{server}/developer", tag = "players", params(("server" = String, Path)),
    responses((status = 200, body = AccountBody)), security(("session" = [])))]
pub async fn developer(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let (server, _) = gate.developer(&server)?;
    let asset = super::transfers::server_asset(&gate, &server)?;
    let name = AccountName { scope: Scope::Server(server), kind: AccountKind::Developer, asset, owner: None };
    let books = std::sync::Arc::clone(&gate.books);
    drop(gate);
    let account = books.readers.read(move |reader| reader.account_named(&name)).await?;
    applied_response(&shown(&account.ok_or(ErrorCode::NotFound)?), false)
}

/// The accounts that a player can have, at every server.
fn players_accounts(gate: &Gate, player: &Name) -> Vec<AccountName> {
    let kinds = [AccountKind::Funds, AccountKind::Unallocated, AccountKind::PlayOnly, AccountKind::Debt];
    let of = |server: &bankroll_registry::RegisteredServer| {
        let (scope, asset) = (Scope::Server(server.name.clone()), server.asset);
        kinds.map(|kind| AccountName { scope: scope.clone(), kind, asset, owner: Some(player.clone()) })
    };
    gate.registry.servers().flat_map(of).take(PAGE_MAX).collect()
}

fn player_body(registry: &bankroll_registry::Registry, player: &Name, now: bankroll_ledger::Time) -> PlayerBody {
    let mut wallets: Vec<String> = registry
        .player_wallets()
        .filter(|wallet| wallet.player == *player)
        .map(|wallet| wallet.wallet.to_string())
        .collect();
    wallets.sort_unstable();
    PlayerBody {
        player: player.to_string(),
        wallets,
        excluded_until: registry.excluded_until(player, now).map(show_time),
    }
}
