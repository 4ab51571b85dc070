//! The deposits of a game server, and which of them spawns have consumed. A spawn names the deposit that it consumes.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_deposits::view::{self, DepositFilter, DepositView, DepositViewError};
use bankroll_ledger::Name;
use bankroll_spawns::views::{DepositConsumption, consumption_of};
use bankroll_store::Reader;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    pages::{PageQuery, page_size},
    redacted::players_response,
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
};

#[derive(Debug, Serialize, ToSchema)]
pub struct DepositBody {
    /// What a spawn names to consume it.
    pub deposit: String,
    pub chain: String,
    pub asset: u32,
    pub tx_hash: String,
    pub from: String,
    /// The player who is credited; missing if the sender is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
    pub amount: String,
    /// `seen`, `final`, `held`, `refused`, `credited`, `suspense`, `orphaned` or `reversed`.
    pub stage: &'static str,
    pub confirmations: u64,
    pub required_confirmations: u64,
    /// Why it is not a buy-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Missing if no spawn has had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumption: Option<ConsumptionBody>,
    pub first_seen_at: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ConsumptionBody {
    /// The spawn that has or had it.
    pub spawn: String,
    /// `reserved`, `consumed` or `released`. Only a released one can be consumed by another spawn.
    pub status: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DepositPage {
    /// The newest first.
    pub deposits: Vec<DepositBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Deposits of a game server
#[utoipa::path(get, path = "/v1/servers/{server}/deposits", tag = "game",
    params(("server" = String, Path), PageQuery), responses((status = 200, body = DepositPage)),
    security(("session" = [])))]
pub async fn list(
    State(funds): State<Funds>,
    PathParts(server): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    let PageQuery { after, limit } = call.query()?;
    let most = page_size(limit.as_deref())?;
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let read = move |reader: &Reader| {
        let filter = DepositFilter { server: Some(server.clone()), after, ..DepositFilter::default() };
        let found = view::list(reader, &filter, most)?;
        let next = found.last().filter(|_| found.len() == most).map(|last| last.tx_hash.clone());
        let deposits = found.iter().map(|deposit| shown(reader, &server, deposit)).collect::<Result<_, _>>()?;
        Ok::<_, ApiError>(DepositPage { deposits, next })
    };
    players_response(&books.pages.read(read).await?, in_full)
}

/// A deposit of a game server
#[utoipa::path(get, path = "/v1/servers/{server}/deposits/{deposit}", tag = "game",
    params(("server" = String, Path), ("deposit" = String, Path)), responses((status = 200, body = DepositBody)),
    security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts((server, deposit)): PathParts<(String, String)>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = gate.reader_of(&server)?;
    // No text of a path that is no id may reach the database.
    if deposit.chars().any(char::is_control) {
        return Err(ErrorCode::NotFound.into());
    }
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let read = move |reader: &Reader| {
        let found = view::of_server(reader, &server, &deposit)?.ok_or(ErrorCode::NotFound)?;
        shown(reader, &server, &found)
    };
    players_response(&books.pages.read(read).await?, in_full)
}

fn shown(reader: &Reader, server: &Name, deposit: &DepositView) -> Result<DepositBody, ApiError> {
    let consumption = consumption_of(reader, server, deposit.id.as_str())?;
    let consumption =
        consumption.map(|DepositConsumption { spawn, status }| ConsumptionBody { spawn: spawn.to_string(), status });
    Ok(DepositBody {
        deposit: deposit.id.to_string(),
        chain: deposit.chain.clone(),
        asset: deposit.asset.0,
        tx_hash: deposit.tx_hash.clone(),
        from: deposit.from.clone(),
        player: deposit.wallet.clone(),
        amount: deposit.amount.clone(),
        stage: deposit.stage.as_str(),
        confirmations: deposit.confirmations,
        required_confirmations: deposit.required,
        reason: deposit.reason.clone(),
        consumption,
        first_seen_at: show_time(deposit.first_seen_at),
    })
}

impl From<DepositViewError> for ApiError {
    fn from(error: DepositViewError) -> Self {
        match error {
            DepositViewError::Store(error) => error.into(),
            DepositViewError::Row(_) => ErrorCode::BooksDamaged.into(),
        }
    }
}
