//! Changes of webhooks: made, changed, enabled and disabled, their secrets rotated, events requested again.

use std::sync::Arc;

use axum::response::Response;
use bankroll_ledger::{Name, Time};
use bankroll_notify::{
    EndpointChange, EndpointId, NewEndpoint, ResendRange, SECRET_OVERLAP, TypeFilter, WebhookEndpoint, WebhookRequest,
    WebhookRequestKind, endpoints, next_request_number, parse_event_id,
};
use bankroll_store::Reader;

use super::{
    bodies::{NewWebhookBody, ResendBody, RotationBody, WebhookBody, WebhookRequestBody, WebhookUpdateBody},
    place::{WebhookManager, WebhookPath, find},
    secrets::{shown_secret, written_secret},
};
use crate::{
    ApiError, ErrorCode, Funds,
    input::ApiCall,
    money::applied_response,
    state::{ChangeGate, HeldBooks},
};

/// Enabled webhooks of one game server, and of the deployment.
const ENABLED_MAX: usize = 32;
const URL_BYTES_MAX: usize = 2_000;
/// A week: whoever has not taken the new secret over by then does not look.
const OVERLAP_SECONDS_MAX: u64 = 7 * 86_400;

pub(super) async fn create(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    let gate = funds.enter_to_change(&call).await?;
    let manager = at.manager(&gate)?;
    let body: NewWebhookBody = call.body()?;
    let (url, types) = (checked_url(&funds, body.url)?, checked_types(&body.types)?);
    let (id, server) = (EndpointId::new(&manager.author(), call.key()?), manager.server().cloned());
    let (known, of) = (id.clone(), server.clone());
    let from = gate.books.readers.read(move |reader| {
        let exists = bankroll_notify::endpoint(reader, &known)?.is_some();
        if !exists {
            check_count(reader, of.as_ref())?;
        }
        Ok::<_, ApiError>(reader.newest_event()?)
    });
    let from = from.await?;
    let books = Arc::clone(&gate.books);
    let secret = written_secret(&books, &manager, &call, &id, gate.now).await?;
    let now = gate.now;
    let (created, change) = NewEndpoint { id, url, types, server, secret: &secret, from, now }.create();
    let replayed = commit(gate, &manager, &call, change).await?;
    answer(&books, &created, Some(secret.id().clone()), replayed).await
}

pub(super) async fn update(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    let (gate, manager, endpoint) = entered(&funds, &call, &at).await?;
    let WebhookUpdateBody { url, types } = call.body()?;
    let url = url.map_or_else(|| Ok(endpoint.url.clone()), |url| checked_url(&funds, url))?;
    let types = types.map_or_else(|| Ok(endpoint.types.clone()), |types| checked_types(&types))?;
    let (after, change) = endpoint.change(url, types);
    let books = Arc::clone(&gate.books);
    let replayed = commit(gate, &manager, &call, change).await?;
    answer(&books, &after, None, replayed).await
}

pub(super) async fn enable(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    changed(&funds, &call, &at, |endpoint, _| endpoint.enable()).await
}

pub(super) async fn disable(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    changed(&funds, &call, &at, |endpoint, now| endpoint.disable("operator", now)).await
}

pub(super) async fn rotate(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    let (gate, manager, endpoint) = entered(&funds, &call, &at).await?;
    let RotationBody { overlap_seconds } = call.body()?;
    let overlap = overlap_seconds.map_or(SECRET_OVERLAP, |seconds| seconds.saturating_mul(1_000_000));
    if overlap > OVERLAP_SECONDS_MAX * 1_000_000 {
        let detail = format!("overlap_seconds is at most {OVERLAP_SECONDS_MAX}");
        return Err(ApiError::with(ErrorCode::BodyInvalid, detail));
    }
    let books = Arc::clone(&gate.books);
    let secret = written_secret(&books, &manager, &call, &endpoint.id, gate.now).await?;
    let (rotated, change) = endpoint.rotate(&secret, overlap, gate.now);
    let replayed = commit(gate, &manager, &call, change).await?;
    answer(&books, &rotated, Some(secret.id().clone()), replayed).await
}

pub(super) async fn resend(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    let entered = entered(&funds, &call, &at).await?;
    let range = resend_range(&call.body()?)?;
    requested(&call, entered, "resend", WebhookRequestKind::Resend(range)).await
}

pub(super) async fn test(funds: Funds, call: ApiCall, at: WebhookPath) -> Result<Response, ApiError> {
    let entered = entered(&funds, &call, &at).await?;
    requested(&call, entered, "test", WebhookRequestKind::Test).await
}

fn resend_range(body: &ResendBody) -> Result<ResendRange, ApiError> {
    let wrong = |detail: &'static str| ApiError::with(ErrorCode::BodyInvalid, detail);
    let position = |id: &str| parse_event_id(id).ok_or_else(|| wrong("from and to are ids of events, as in evt_81_0"));
    let from = position(&body.from)?;
    let to = body.to.as_deref().map_or(Ok(from), position)?;
    if to < from { Err(wrong("to is an earlier event than from")) } else { Ok(ResendRange { from, to }) }
}

/// Records what a caller wants an endpoint to get; the worker finds it.
async fn requested(
    call: &ApiCall,
    (gate, manager, endpoint): EnteredWebhook,
    what: &'static str,
    kind: WebhookRequestKind,
) -> Result<Response, ApiError> {
    if !endpoint.is_enabled() {
        return Err(ApiError::with(ErrorCode::Conflict, "the webhook is disabled; enable it first"));
    }
    let id = endpoint.id.clone();
    let number = gate.books.readers.read(move |reader| next_request_number(reader, &id)).await?;
    let request = WebhookRequest { endpoint: endpoint.id.clone(), number, kind, requested_at: gate.now };
    let replayed = manager.commit(gate, call, vec![request.fact()], Vec::new()).await?;
    applied_response(&WebhookRequestBody { webhook: endpoint.id.to_string(), requested: what }, replayed)
}

async fn changed(
    funds: &Funds,
    call: &ApiCall,
    at: &WebhookPath,
    decide: impl FnOnce(&WebhookEndpoint, Time) -> (WebhookEndpoint, EndpointChange),
) -> Result<Response, ApiError> {
    let (gate, manager, endpoint) = entered(funds, call, at).await?;
    let (after, change) = decide(&endpoint, gate.now);
    let books = Arc::clone(&gate.books);
    let replayed = commit(gate, &manager, call, change).await?;
    answer(&books, &after, None, replayed).await
}

/// The proven manager and the webhook, while no other change can come in between.
type EnteredWebhook = (ChangeGate, WebhookManager, WebhookEndpoint);

async fn entered(funds: &Funds, call: &ApiCall, at: &WebhookPath) -> Result<EnteredWebhook, ApiError> {
    let gate = funds.enter_to_change(call).await?;
    let manager = at.manager(&gate)?;
    let (id, server) = (at.id()?, manager.server().cloned());
    let endpoint = gate.books.readers.read(move |reader| find(reader, &id, server.as_ref())).await?;
    Ok((gate, manager, endpoint))
}

async fn commit(
    gate: ChangeGate,
    manager: &WebhookManager,
    call: &ApiCall,
    change: EndpointChange,
) -> Result<bool, ApiError> {
    manager.commit(gate, call, vec![change.fact], vec![change.event]).await
}

/// The webhook after the change; for a retry, as it is now. The secret is in the answer of the request that made it,
/// and in no other.
async fn answer(
    books: &HeldBooks,
    after: &WebhookEndpoint,
    secret: Option<bankroll_notify::SecretId>,
    replayed: bool,
) -> Result<Response, ApiError> {
    let (known, after) = (after.id.clone(), after.clone());
    let read = move |reader: &Reader| {
        let shown = if replayed { find(reader, &known, None)? } else { after };
        let secret = secret.filter(|secret| *secret == shown.secret);
        let secret = secret.map(|_| shown_secret(reader, &shown)).transpose()?;
        Ok::<_, ApiError>(WebhookBody::new(&shown, secret))
    };
    let body = books.readers.read(read).await.map_err(ApiError::after_commit)?;
    applied_response(&body, replayed)
}

fn check_count(reader: &Reader, server: Option<&Name>) -> Result<(), ApiError> {
    let all = endpoints(reader)?;
    let enabled = all.iter().filter(|endpoint| endpoint.is_enabled() && endpoint.server.as_ref() == server);
    if enabled.count() < ENABLED_MAX {
        return Ok(());
    }
    let detail = format!("there are {ENABLED_MAX} enabled webhooks already; disable one first");
    Err(ApiError::with(ErrorCode::Conflict, detail))
}

fn checked_url(funds: &Funds, url: String) -> Result<String, ApiError> {
    let refused = |detail: String| ApiError::with(ErrorCode::WebhookTarget, detail);
    if url.len() > URL_BYTES_MAX || url.contains(|letter: char| letter.is_control() || letter.is_whitespace()) {
        return Err(refused(format!("a URL has at most {URL_BYTES_MAX} bytes, and no blanks")));
    }
    (funds.settings().check_webhook_url)(&url).map_err(refused)?;
    Ok(url)
}

fn checked_types(types: &[String]) -> Result<TypeFilter, ApiError> {
    let filter = TypeFilter::of(types.iter().map(String::as_str));
    filter.map_err(|error| ApiError::with(ErrorCode::BodyInvalid, error.to_string()))
}
