//! Webhooks and their deliveries, as their managers read them.

use std::sync::Arc;

use axum::response::Response;
use bankroll_notify::{DeliveryFilter, DeliveryState, deliveries as deliveries_of, endpoints};
use bankroll_store::Reader;

use super::{
    super::pages::page_size,
    bodies::{DeliveriesPage, DeliveriesQuery, WebhookBody, WebhooksBody},
    place::{WebhookPath, find},
};
use crate::{ApiError, ErrorCode, Funds, input::ApiCall, money::applied_response};

pub(super) async fn list(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let server = at.reader(&gate)?;
    let books = Arc::clone(&gate.books);
    drop(gate);
    let all = books.pages.read(endpoints).await?;
    let visible = all.iter().filter(|endpoint| server.is_none() || endpoint.server == server);
    applied_response(&WebhooksBody { webhooks: visible.map(|one| WebhookBody::new(one, None)).collect() }, false)
}

pub(super) async fn show(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let (server, id) = (at.reader(&gate)?, at.id()?);
    let books = Arc::clone(&gate.books);
    drop(gate);
    let found = books.pages.read(move |reader| find(reader, &id, server.as_ref())).await?;
    applied_response(&WebhookBody::new(&found, None), false)
}

pub(super) async fn deliveries(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    let gate = funds.enter(&call).await?;
    let (server, id) = (at.reader(&gate)?, at.id()?);
    let DeliveriesQuery { state, after, limit } = call.query()?;
    let wrong = |detail: &'static str| ApiError::with(ErrorCode::QueryInvalid, detail);
    let parse = |state: &str| DeliveryState::parse(state).ok_or_else(|| wrong("state is pending or delivered"));
    let state = state.as_deref().map(parse).transpose()?;
    let place = |next: &str| position(next).ok_or_else(|| wrong("after is the next of another page"));
    let before = after.as_deref().map(place).transpose()?;
    let most = page_size(limit.as_deref())?;
    let books = Arc::clone(&gate.books);
    drop(gate);
    let read = move |reader: &Reader| {
        find(reader, &id, server.as_ref())?;
        Ok::<_, ApiError>(deliveries_of(reader, &id, &DeliveryFilter { state, before }, most)?)
    };
    let found = books.pages.read(read).await?;
    let last = found.last().filter(|_| found.len() == most);
    let next = last.map(|last| format!("{}.{}", last.position.0, last.position.1));
    let deliveries = found.into_iter().map(Into::into).collect();
    applied_response(&DeliveriesPage { deliveries, next }, false)
}

fn position(next: &str) -> Option<(u64, u64)> {
    let (seq, place) = next.split_once('.')?;
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| i64::try_from(*number).is_ok());
    Some((number(seq)?, number(place)?))
}
