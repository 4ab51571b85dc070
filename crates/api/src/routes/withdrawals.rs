//! Withdrawals: what was requested to be paid out, and how far it is.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_ledger::{AssetId, Name};
use bankroll_orders::IntentId;
use bankroll_withdrawals::views::{self, PayoutFilter, PayoutView};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    pages::{PageQuery, page_size},
    redacted::players_response,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts},
    state::Gate,
};

#[derive(Debug, Serialize, ToSchema)]
pub struct WithdrawalBody {
    pub withdrawal: String,
    pub server: String,
    /// Who asked: `server`, `exit`, `player/...`, `developer`.
    pub asker: String,
    pub request_id: String,
    pub player: String,
    pub account: String,
    pub chain: String,
    pub asset: u32,
    pub to: String,
    pub amount: String,
    pub fee_cap: String,
    /// `awaiting_approval`, `waiting`, `signing`, `sent`, `mined`, `settling`, `unknown`, `paid` or `failed`.
    pub stage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WithdrawalPage {
    /// The newest first.
    pub withdrawals: Vec<WithdrawalBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Withdrawals of a game server
#[utoipa::path(get, path = "/v1/servers/{server}/withdrawals", tag = "withdrawals",
    params(("server" = String, Path), PageQuery), responses((status = 200, body = WithdrawalPage)),
    security(("session" = [])))]
pub async fn of_server(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    list(gate, &call, PayoutFilter { server: Some(server), ..PayoutFilter::default() }).await
}

/// A withdrawal of a game server
#[utoipa::path(get, path = "/v1/servers/{server}/withdrawals/{id}", tag = "withdrawals",
    params(("server" = String, Path), ("id" = String, Path)), responses((status = 200, body = WithdrawalBody)),
    security(("session" = [])))]
pub async fn show_of_server(
    State(funds): State<Funds>,
    PathParts((server, id)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    show(gate, &id, move |found| found.server == server.as_str()).await
}

/// The player's withdrawals
#[utoipa::path(get, path = "/v1/me/withdrawals", tag = "withdrawals", params(PageQuery),
    responses((status = 200, body = WithdrawalPage)), security(("session" = [])))]
pub async fn of_player(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    let players = all_names(&gate, &player);
    list(gate, &call, PayoutFilter { players, ..PayoutFilter::default() }).await
}

/// One of the player's withdrawals
#[utoipa::path(get, path = "/v1/me/withdrawals/{id}", tag = "withdrawals", params(("id" = String, Path)),
    responses((status = 200, body = WithdrawalBody)), security(("session" = [])))]
pub async fn show_of_player(
    State(funds): State<Funds>,
    PathParts(id): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let player = gate.player()?;
    let names = all_names(&gate, &player);
    show(gate, &id, move |found| names.iter().any(|name| found.wallet == name.as_str())).await
}

async fn list(gate: Gate, call: &ApiCall, filter: PayoutFilter) -> Result<Response, ApiError> {
    let PageQuery { after, limit } = call.query()?;
    let most = page_size(limit.as_deref())?;
    let filter = PayoutFilter { after, ..filter };
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let found = books.pages.read(move |reader| views::list_payouts(reader, &filter, most)).await?;
    let next = found.last().filter(|_| found.len() == most).map(|last| last.intent.to_string());
    players_response(&WithdrawalPage { withdrawals: found.iter().map(shown).collect(), next }, in_full)
}

async fn show(gate: Gate, id: &str, is_own: impl Fn(&PayoutView) -> bool) -> Result<Response, ApiError> {
    let id = IntentId(id.parse().map_err(|_| ErrorCode::NotFound)?);
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let found = books.pages.read(move |reader| views::payout_of(reader, &id)).await?;
    players_response(&shown(&found.filter(is_own).ok_or(ErrorCode::NotFound)?), in_full)
}

fn shown(payout: &PayoutView) -> WithdrawalBody {
    let AssetId(asset) = payout.asset;
    WithdrawalBody {
        withdrawal: payout.intent.to_string(),
        server: payout.server.clone(),
        asker: payout.asker.clone(),
        request_id: payout.request_id.clone(),
        player: payout.wallet.clone(),
        account: payout.account.clone(),
        chain: payout.chain.clone(),
        asset,
        to: payout.to.to_string(),
        amount: payout.amount.to_string(),
        fee_cap: payout.fee_cap.map_or_else(|| "0".to_owned(), |cap| cap.to_string()),
        stage: payout.stage.as_str(),
        tx_hash: payout.final_tx_hash.clone(),
        fee: payout.fee.map(|fee| fee.to_string()),
        reason: payout.reason.clone(),
    }
}

/// The names that a player's withdrawals may have.
fn all_names(gate: &Gate, player: &Name) -> Vec<Name> {
    let mut names: Vec<Name> =
        gate.registry.chains().flat_map(|chain| gate.registry.owner_names(&chain.name, player)).collect();
    names.push(player.clone());
    names.sort_unstable();
    names.dedup();
    names
}
