//! Deposits, as the people who decide about them see them; and their hold. What several people decide is a proposal.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_deposits::{
    DepositStage, review,
    view::{self, DepositFilter, DepositView},
};
use bankroll_operators::Right;
use bankroll_store::Reader;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{pages::page_size, redacted::players_response};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
    money::applied_response,
    state::{EnteredAct, HeldBooks, act_key},
};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldDepositBody {
    /// Why, for the people who will decide about it; 1 to 500 bytes.
    #[expect(dead_code, reason = "the act is read from the signed text; this is its strict form")]
    pub reason: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewedDepositBody {
    #[schema(example = "eip155:1:0x5f3a...:native:0")]
    pub deposit: String,
    /// Which inclusion, from 1: each time the chain replaces its block it is the next one. Proposals name it.
    pub inclusion: u64,
    pub asset: u32,
    /// In base units.
    pub amount: String,
    pub tx_hash: String,
    pub from: String,
    pub to: String,
    /// The server that was paid, or whose player has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The player who has or gets it; missing if the sender is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
    /// `seen`, `final`, `held`, `refused`, `credited`, `suspense`, `orphaned` or `reversed`.
    pub stage: &'static str,
    /// `none`, `screening`, `cleared`, `held`, `released` or `refused`.
    pub review: &'static str,
    /// Why it is not a player's money as it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Why it is in suspense, or no buy-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why the books refused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    pub confirmations: u64,
    pub required_confirmations: u64,
    pub first_seen_at: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewedDepositPage {
    /// The newest first.
    pub deposits: Vec<ReviewedDepositBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReviewedDepositQuery {
    /// `seen`, `final`, `held`, `refused`, `credited`, `suspense`, `orphaned` or `reversed`; all without it.
    pub stage: Option<String>,
    /// `next` of the page before.
    pub after: Option<String>,
    /// 1 to 1,000; 100 by default.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// Deposits of all chains (`read_money`)
///
/// What waits for people has the stage `held` or `suspense`.
#[utoipa::path(get, path = "/v1/deposits", tag = "operators", params(ReviewedDepositQuery),
    responses((status = 200, body = ReviewedDepositPage)), security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadMoney)?;
    let ReviewedDepositQuery { stage, after, limit } = call.query()?;
    let most = page_size(limit.as_deref())?;
    let stage = stage.map(|word| {
        let known = DepositStage::ALL.into_iter().find(|stage| stage.as_str() == word);
        known.ok_or_else(|| ApiError::with(ErrorCode::QueryInvalid, "there is no such stage"))
    });
    let filter = DepositFilter { stage: stage.transpose()?, after, ..DepositFilter::default() };
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    let found = books.pages.read(move |reader| view::list(reader, &filter, most)).await?;
    let next = found.last().filter(|_| found.len() == most).map(|last| last.id.to_string());
    players_response(&ReviewedDepositPage { deposits: found.iter().map(shown).collect(), next }, in_full)
}

/// A deposit (`read_money`)
#[utoipa::path(get, path = "/v1/deposits/{deposit}", tag = "operators", params(("deposit" = String, Path)),
    responses((status = 200, body = ReviewedDepositBody)), security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts(deposit): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadMoney)?;
    let (books, in_full) = (Arc::clone(&gate.books), gate.sees_players());
    drop(gate);
    players_response(&shown(&find(&books, deposit).await?), in_full)
}

/// Holds a deposit that is not booked, at once (`hold_deposits`)
///
/// Several people end it: propose `release_deposit` or `refuse_deposit`.
#[utoipa::path(post, path = "/v1/deposits/{deposit}/hold", tag = "operators", params(("deposit" = String, Path)),
    request_body = HoldDepositBody, responses((status = 200, body = ReviewedDepositBody)), security(("session" = [])))]
pub async fn hold(
    State(funds): State<Funds>,
    PathParts(deposit): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    let person = gate.operator(Right::HoldDeposits)?;
    let HoldDepositBody { .. } = call.body()?;
    let books = Arc::clone(&gate.books);
    let found = find(&books, deposit.clone()).await?;
    if gate.earlier_act(&call).await?.is_some() {
        return applied_response(&shown(&found), true);
    }
    let held = review::hold(&found, &act_key(&call, &person)?);
    let (fact, event) = held.map_err(|why| ApiError::with(ErrorCode::Conflict, why.to_string()))?;
    let EnteredAct { replayed, .. } = gate.enter_act_with(&call, None, (vec![fact], vec![event])).await?;
    applied_response(&shown(&find(&books, deposit).await.map_err(ApiError::after_commit)?), replayed)
}

async fn find(books: &HeldBooks, id: String) -> Result<DepositView, ApiError> {
    // No text of a path that is no id may reach the database.
    if id.chars().any(char::is_control) {
        return Err(ErrorCode::NotFound.into());
    }
    let read = move |reader: &Reader| {
        let found = view::find(reader, &id)?.into_iter().find(|found| found.id.as_str() == id);
        found.ok_or_else(|| ApiError::from(ErrorCode::NotFound))
    };
    books.pages.read(read).await
}

fn shown(deposit: &DepositView) -> ReviewedDepositBody {
    ReviewedDepositBody {
        deposit: deposit.id.to_string(),
        inclusion: deposit.epoch,
        asset: deposit.asset.0,
        amount: deposit.amount.clone(),
        tx_hash: deposit.tx_hash.clone(),
        from: deposit.from.clone(),
        to: deposit.to.clone(),
        server: deposit.server.clone(),
        player: deposit.wallet.clone(),
        stage: deposit.stage.as_str(),
        review: deposit.review_state.as_str(),
        doubt: deposit.doubt.clone(),
        reason: deposit.reason.clone(),
        refusal: deposit.refusal.clone(),
        confirmations: deposit.confirmations,
        required_confirmations: deposit.required,
        first_seen_at: show_time(deposit.first_seen_at),
    }
}
