//! What a signed-in player sees and decides about themselves; and the developer's account.

use axum::{extract::State, response::Response};
use bankroll_ledger::{AccountKind, AccountName, Name, Scope};
use bankroll_registry::{RegistryChange, ServerAccount, decide_link};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    accounts::{AccountBody, AccountPage, LineQuery, StatementBody, read_statement, shown},
    sign_in::{SignInBody, prove},
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time, time},
    money::applied_response,
    state::Gate,
};

/// How many accounts are looked up for one answer: four kinds, at each server, for each wallet of the player.
const LOOKUPS_MAX: usize = 4_096;

#[derive(Debug, Serialize, ToSchema)]
pub struct PlayerBody {
    /// The wallet that the player first signed in with: the owner of their accounts.
    pub player: String,
    /// Every wallet that they have proved.
    pub wallets: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_until: Option<String>,
    /// Whether an operator has frozen the player: no spawn and no payout.
    pub frozen: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DepositAddressBody {
    pub server: String,
    pub chain: String,
    pub asset: u32,
    pub address: String,
    /// Whether the address is the player's alone. Otherwise payments count by their sender: pay from a proven wallet.
    pub is_own: bool,
    /// Whether coins at this address can be paid out as they are. Those at a player's own address are not spendable yet:
    /// payouts wait (`waiting_funds`) until the operator has moved them to the hot wallet.
    pub spendable: bool,
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
///
/// With the accounts that were opened for a wallet before the player linked it: their owner is that wallet.
#[utoipa::path(get, path = "/v1/me/balances", tag = "players", responses((status = 200, body = AccountPage)),
    security(("session" = [])))]
pub async fn balances(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    let books = std::sync::Arc::clone(&gate.books);
    let names = players_accounts(&gate, &player);
    drop(gate);
    let accounts = books
        .pages
        .read(move |reader| {
            names.iter().filter_map(|name| reader.account_named(name).transpose()).collect::<Result<Vec<_>, _>>()
        })
        .await?;
    applied_response(&AccountPage { accounts: accounts.iter().map(shown).collect(), next: None }, false)
}

/// Where the player pays to
///
/// At a server whose players have addresses of their own, the first request makes the player's.
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
    if entry.player_addresses && account.player.is_none() {
        let chain = entry.chain.clone();
        drop(gate);
        let account = make_address(&funds, &call, &server, &chain, &player).await?;
        return applied_response(&address_body(&account), false);
    }
    applied_response(&address_body(account), false)
}

/// Derives the player's own address, which is watched from the newest block on.
async fn make_address(
    funds: &Funds,
    call: &ApiCall,
    server: &Name,
    chain: &Name,
    player: &Name,
) -> Result<ServerAccount, ApiError> {
    let start_block = funds.newest_block(chain.clone()).await?;
    let gate = funds.enter_to_change(call).await?;
    gate.session()?;
    let changes = gate.registry.add_player_address(server, player, start_block, gate.now)?;
    if changes.is_empty() {
        // Another request of theirs was faster.
        let entry = gate.registry.server(server).ok_or(ErrorCode::NotFound)?;
        return gate.registry.deposit_account(entry, player).cloned().ok_or_else(|| ErrorCode::NotFound.into());
    }
    let key = format!("player-address/{player}/{}", gate.now.0);
    let author = Funds::system_author(call, Scope::Server(server.clone()), key, &format!("player:{player}"))?;
    let changes = gate.commit(author, changes).await?;
    let made = changes.into_iter().find_map(|change| match change {
        RegistryChange::ServerAccount(account) => Some(account),
        _ => None,
    });
    made.ok_or_else(|| ErrorCode::Internal.into())
}

fn address_body(account: &ServerAccount) -> DepositAddressBody {
    DepositAddressBody {
        server: account.server.to_string(),
        chain: account.chain.to_string(),
        asset: account.asset.0,
        address: account.address.to_string(),
        is_own: account.player.is_some(),
        spendable: account.player.is_none(),
    }
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
    if !name.kind.is_players() || !is_own(&gate, &player, &name) {
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
    let author = Funds::player_author(&call, &player)?;
    let body: SignInBody = call.body()?;
    if funds.is_players_retry(&call, &player).await? {
        return me_now(&funds, &player, true).await;
    }
    let proven = prove(&funds, &body).await?;
    let gate = funds.enter_to_change(&call).await?;
    gate.session()?;
    let changes = decide_link(&gate.registry, &player, proven, gate.now)?;
    gate.commit(author, changes).await?;
    me_now(&funds, &player, false).await
}

/// Excludes the player until a time
///
/// No buy-ins and no spawns until then; their money can be paid out. It can only be made longer.
#[utoipa::path(post, path = "/v1/me/exclusion", tag = "players", request_body = ExclusionBody,
    responses((status = 200, body = PlayerBody)), security(("session" = [])))]
pub async fn exclude(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let player = funds.enter(&call).await?.player()?;
    let author = Funds::player_author(&call, &player)?;
    let ExclusionBody { until } = call.body()?;
    let until = time(&until, ErrorCode::BodyInvalid)?;
    if funds.is_players_retry(&call, &player).await? {
        return me_now(&funds, &player, true).await;
    }
    let gate = funds.enter_to_change(&call).await?;
    gate.session()?;
    let changes = gate.registry.exclude(&player, until, gate.now)?;
    gate.commit(author, changes).await?;
    me_now(&funds, &player, false).await
}

async fn me_now(funds: &Funds, player: &Name, replayed: bool) -> Result<Response, ApiError> {
    let books = funds.books().map_err(ApiError::after_commit)?;
    let registry = books.registry.read().await;
    applied_response(&player_body(&registry, player, funds.now()), replayed)
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
    let account = books.pages.read(move |reader| reader.account_named(&name)).await?;
    applied_response(&shown(&account.ok_or(ErrorCode::NotFound)?), false)
}

/// The accounts that a player can have, at every server.
pub(super) fn players_accounts(gate: &Gate, player: &Name) -> Vec<AccountName> {
    let kinds = [AccountKind::Funds, AccountKind::Unallocated, AccountKind::PlayOnly, AccountKind::Debt];
    let of = |server: &bankroll_registry::RegisteredServer| {
        let (scope, asset) = (Scope::Server(server.name.clone()), server.asset);
        let owners = gate.registry.owner_names(&server.chain, player);
        let of_owner = move |owner: Name| {
            kinds.map(|kind| AccountName { scope: scope.clone(), kind, asset, owner: Some(owner.clone()) })
        };
        owners.into_iter().flat_map(of_owner)
    };
    gate.registry.servers().flat_map(of).take(LOOKUPS_MAX).collect()
}

/// Whether an account at a server is this player's: in their own name, or in that of a wallet that they have proved on
/// the server's chain.
pub(super) fn is_own(gate: &Gate, player: &Name, account: &AccountName) -> bool {
    let (Some(owner), Scope::Server(server)) = (&account.owner, &account.scope) else { return false };
    let Some(entry) = gate.registry.server(server) else { return false };
    gate.registry.owner_names(&entry.chain, player).contains(owner)
}

fn player_body(registry: &bankroll_registry::Registry, player: &Name, now: bankroll_ledger::Time) -> PlayerBody {
    let mut wallets: Vec<String> = registry.wallets_of(player).map(|wallet| wallet.wallet.to_string()).collect();
    wallets.sort_unstable();
    PlayerBody {
        player: player.to_string(),
        wallets,
        excluded_until: registry.excluded_until(player, now).map(show_time),
        frozen: registry.frozen(player).is_some(),
    }
}
