//! Alerts: what a person must look at. Those who run the deployment read them, acknowledge them and close them.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bankroll_alerts::{
    Alert, AlertAct, AlertError, AlertId, AlertRefusal,
    views::{self, AlertFilter},
};
use bankroll_ledger::Time;
use bankroll_operators::Right;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{holds::EmptyBody, pages::page_size};
use crate::{
    ApiError, ErrorCode, Funds,
    input::{ApiCall, PathParts, show_time},
    money::applied_response,
    state::HeldBooks,
};

#[derive(Debug, Serialize, ToSchema)]
pub struct AlertBody {
    pub id: String,
    /// `wallet_stopped`, `deposits_suspended`, ...; each has a page in `docs/runbooks`.
    pub kind: &'static str,
    /// What it is about: a wallet, a chain, a node, a payout.
    pub subject: String,
    /// `info`, `warning` or `critical`.
    pub severity: &'static str,
    /// `open`, `acknowledged` or `closed`.
    pub state: &'static str,
    pub summary: String,
    #[schema(value_type = Object)]
    pub details: Value,
    /// How many deposits, payouts, ... it is about.
    pub items: u64,
    /// Which alert of its kind and subject it is, from 1.
    pub opening: u64,
    pub opened_at: String,
    pub changed_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<String>,
    /// Missing if it closed by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<String>,
    /// Whether it closes when its condition ends; otherwise a person closes it.
    pub closes_by_itself: bool,
    pub runbook: &'static str,
    pub next_step: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AlertPage {
    /// The newest first.
    pub alerts: Vec<AlertBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AlertsQuery {
    /// `open`, `acknowledged` or `closed`; without it, all that are not closed.
    pub state: Option<String>,
    pub kind: Option<String>,
    /// `info`, `warning` or `critical`.
    pub severity: Option<String>,
    /// `next` of the page before.
    pub after: Option<String>,
    /// 1 to 1,000; 100 by default.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// Alerts, the newest first (operator)
#[utoipa::path(get, path = "/v1/alerts", tag = "operators", params(AlertsQuery),
    responses((status = 200, body = AlertPage)), security(("session" = [])))]
pub async fn list(State(funds): State<Funds>, call: ApiCall) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadMoney)?;
    let AlertsQuery { state, kind, severity, after, limit } = call.query()?;
    let most = page_size(limit.as_deref())?;
    let mut filter = AlertFilter {
        state: word(state.as_deref())?,
        kind: word(kind.as_deref())?,
        severity: word(severity.as_deref())?,
        after: None,
    };
    let books = Arc::clone(&gate.books);
    drop(gate);
    if let Some(after) = after {
        let last = find(&books, &after).await?;
        filter.after = Some(last.ok_or_else(|| ApiError::with(ErrorCode::QueryInvalid, "after is no alert"))?);
    }
    let found = books.pages.read(move |reader| views::list(reader, &filter, most)).await?;
    let next = found.last().filter(|_| found.len() == most).map(|last| last.id.to_string());
    applied_response(&AlertPage { alerts: found.iter().map(shown).collect(), next }, false)
}

/// An alert (operator)
#[utoipa::path(get, path = "/v1/alerts/{alert}", tag = "operators", params(("alert" = String, Path)),
    responses((status = 200, body = AlertBody)), security(("session" = [])))]
pub async fn show(
    State(funds): State<Funds>,
    PathParts(alert): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    gate.operator(Right::ReadMoney)?;
    let books = Arc::clone(&gate.books);
    drop(gate);
    applied_response(&shown(&find(&books, &alert).await?.ok_or(ErrorCode::NotFound)?), false)
}

/// Acknowledges an alert: "I have seen it, and work on it" (operator)
///
/// It still closes by itself when its condition ends, if its kind does.
#[utoipa::path(post, path = "/v1/alerts/{alert}/acknowledge", tag = "operators", params(("alert" = String, Path)),
    request_body = EmptyBody, responses((status = 200, body = AlertBody)), security(("session" = [])))]
pub async fn acknowledge(
    State(funds): State<Funds>,
    PathParts(alert): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    act(&funds, &alert, &call, AlertAct::Acknowledge).await
}

/// Closes an alert (operator)
///
/// If its condition holds on and its kind closes by itself, it opens again as another alert.
#[utoipa::path(post, path = "/v1/alerts/{alert}/close", tag = "operators", params(("alert" = String, Path)),
    request_body = EmptyBody, responses((status = 200, body = AlertBody)), security(("session" = [])))]
pub async fn close(
    State(funds): State<Funds>,
    PathParts(alert): PathParts<String>,
    call: ApiCall,
) -> Result<Response, ApiError> {
    act(&funds, &alert, &call, AlertAct::Close).await
}

async fn act(funds: &Funds, alert: &str, call: &ApiCall, act: AlertAct) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(call).await?;
    let by = gate.operator(Right::HandleAlerts)?;
    let EmptyBody {} = call.body()?;
    call.key()?;
    let books = Arc::clone(&gate.books);
    let found = find(&books, alert).await?.ok_or(ErrorCode::NotFound)?;
    let Some(change) = act.decide(&found, by.as_str(), gate.now)? else {
        // It is so already: by an earlier request of this person, maybe the same one.
        return applied_response(&shown(&found), true);
    };
    if gate.commit_act(call, Right::HandleAlerts, change.facts(), change.events()).await? {
        // The key was used before, for what the alert has been through since.
        let found = find(&books, alert).await?.ok_or(ErrorCode::NotFound)?;
        return applied_response(&shown(&found), true);
    }
    applied_response(&shown(change.alert()), false)
}

async fn find(books: &HeldBooks, id: &str) -> Result<Option<Alert>, ApiError> {
    let Some(id) = AlertId::parse(id) else { return Ok(None) };
    books.pages.read(move |reader| views::find(reader, &id)).await
}

/// A word of the query.
fn word<T: std::str::FromStr<Err = &'static str>>(text: Option<&str>) -> Result<Option<T>, ApiError> {
    text.map(|text| text.parse().map_err(|why| ApiError::with(ErrorCode::QueryInvalid, why))).transpose()
}

fn shown(alert: &Alert) -> AlertBody {
    let at = |time: &Time| show_time(*time);
    let (acknowledged, closed) = (alert.acknowledged.as_ref(), alert.closed.as_ref());
    AlertBody {
        id: alert.id.to_string(),
        kind: alert.kind.as_str(),
        subject: alert.subject.clone(),
        severity: alert.kind.severity().as_str(),
        state: alert.state.as_str(),
        summary: alert.summary.clone(),
        details: serde_json::from_str(&alert.details).unwrap_or(Value::Null),
        items: alert.items,
        opening: alert.opening,
        opened_at: at(&alert.opened_at),
        changed_at: at(&alert.changed_at),
        acknowledged_at: acknowledged.map(|(time, _)| at(time)),
        acknowledged_by: acknowledged.map(|(_, by)| by.clone()),
        closed_at: closed.map(|(time, _)| at(time)),
        closed_by: closed.and_then(|(_, by)| by.clone()),
        closes_by_itself: alert.kind.closes_by_itself(),
        runbook: alert.kind.runbook(),
        next_step: alert.kind.next_step(),
    }
}

impl From<AlertError> for ApiError {
    fn from(error: AlertError) -> Self {
        match error {
            AlertError::Call(error) => error.into(),
            AlertError::Store(error) => error.into(),
            AlertError::Row(_) => ErrorCode::BooksDamaged.into(),
        }
    }
}

impl From<AlertRefusal> for ApiError {
    fn from(refusal: AlertRefusal) -> Self {
        Self::with(ErrorCode::Conflict, refusal.to_string())
    }
}
