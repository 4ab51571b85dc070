//! Players, as the people who run the deployment see them: each look is an entry of the audit log. And their freeze.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_ledger::{AccountName, Name};
use bankroll_operators::Right;
use bankroll_orders::Address;
use bankroll_registry::Registry;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    accounts::{AccountBody, shown},
    players::players_accounts,
    redacted::players_response,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
    money::applied_response,
    state::EnteredAct,
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FreezePlayerBody {
    /// Why, for the people who will decide on lifting it; 1 to 500 bytes.
    pub reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PlayerViewBody {
    /// The wallet that the player first signed in with: the owner of their accounts.
    #[schema(example = "0x9c18...4a59")]
    pub player: String,
    /// Every wallet that they have proved.
    pub wallets: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_signed_in_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_until: Option<String>,
    /// Why they are frozen; missing if they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen: Option<String>,
    /// Their accounts at all game servers.
    pub accounts: Vec<AccountBody>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FrozenBody {
    pub player: String,
    pub reason: String,
}

/// A player (`read_players`)
///
/// By any of their wallets. The look is written to the audit log before the answer leaves. Without `read_players_in_full`
/// wallets are redacted: `0x9c18...4a59`.
#[utoipa::path(get, path = "/v1/players/{player}", tag = "operators", params(("player" = String, Path)),
    responses((status = 200, body = PlayerViewBody)), security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts(player): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadPlayers)?;
    let asked = wallet_name(&player)?;
    if call.path.contains('?') {
        return Err(ApiError::with(ErrorCode::QueryInvalid, "this request has no parameters"));
    }
    let player = gate.registry.player_behind(&asked).clone();
    let names = players_accounts(&gate, &player);
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    let mut body = view_of(&gate.registry, &player, gate.now);
    let is_known = gate.registry.player(&player).is_some() || body.frozen.is_some();
    drop(gate);
    body.accounts = accounts_of(&books, names).await?;
    if !is_known && body.accounts.is_empty() {
        return Err(ErrorCode::NotFound.into());
    }
    // Under the write guard once more: a caller who lost the right in the meantime is refused here.
    funds.enter_to_change(&call).await?.log_read(&call, asked).await?;
    players_response(&body, in_full)
}

/// Freezes a player at once: no spawn and no payout (`freeze_players`)
///
/// Several people lift it: propose `unfreeze_player`.
#[utoipa::path(post, path = "/v1/players/{player}/freeze", tag = "operators", params(("player" = String, Path)),
    request_body = FreezePlayerBody, responses((status = 200, body = FrozenBody)), security(("session" = [])))]
pub async fn freeze(
    State(funds): State<Funds>,
    PathParts(player): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    gate.operator(Right::FreezePlayers)?;
    let player = wallet_name(&player)?;
    let FreezePlayerBody { reason } = call.body()?;
    let EnteredAct { replayed, .. } = gate.enter_act(&call, None).await?;
    applied_response(&FrozenBody { player: player.to_string(), reason }, replayed)
}

/// A player is known by a wallet; all else names none.
fn wallet_name(text: &str) -> Result<Name, ApiError> {
    let wallet: Address = text.parse().map_err(|_| ErrorCode::NotFound)?;
    wallet.lower_hex().parse().map_err(|_| ErrorCode::Internal.into())
}

fn view_of(registry: &Registry, player: &Name, now: bankroll_ledger::Time) -> PlayerViewBody {
    let mut wallets: Vec<String> = registry.wallets_of(player).map(|wallet| wallet.wallet.lower_hex()).collect();
    wallets.sort_unstable();
    PlayerViewBody {
        player: player.to_string(),
        wallets,
        first_signed_in_at: registry.player(player).map(|entry| show_time(entry.first_signed_in_at)),
        excluded_until: registry.excluded_until(player, now).map(show_time),
        frozen: registry.frozen(player).map(str::to_owned),
        accounts: Vec::new(),
    }
}

async fn accounts_of(books: &crate::state::HeldBooks, names: Vec<AccountName>) -> Result<Vec<AccountBody>, ApiError> {
    let read = move |reader: &bankroll_store::Reader| {
        let found = names.iter().filter_map(|name| reader.account_named(name).transpose());
        found.map(|account| account.map(|account| shown(&account))).collect::<Result<Vec<_>, _>>()
    };
    books.pages.read(read).await
}
