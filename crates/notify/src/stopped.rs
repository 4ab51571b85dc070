//! Endpoints that were given up: what the worker has found becomes a change in the journal, with its announcement.
//!
//! The worker writes a row of its own; the role `books` turns it into one request, as it does with the outcomes of
//! payouts. The request's key names the revision: however often it is submitted, the endpoint is disabled once.

use bankroll_ledger::{Action, IdempotencyKey, Namespace, Principal, References, Request, Scope, Time};
use bankroll_store::{
    Ledger, Reader, SubmitError,
    columns::{BadRow, number_of, text_of},
};

use crate::{EndpointId, NotifyError, WebhookEndpoint, endpoint, endpoints};

/// Why endpoints that were given up are not disabled yet.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    #[error("the rows of webhooks cannot be read")]
    Notify(#[from] NotifyError),
    #[error("the ledger has no answer")]
    Submit(#[from] SubmitError),
}

/// The endpoints that delivery has disabled, by itself: a person must look at each.
///
/// # Errors
/// If the books cannot be read.
pub fn given_up(reader: &Reader) -> Result<Vec<WebhookEndpoint>, NotifyError> {
    let all = endpoints(reader)?.into_iter();
    let is_given_up = |endpoint: &WebhookEndpoint| {
        endpoint.disabled.as_ref().is_some_and(|disabled| matches!(disabled.reason.as_str(), "gone" | "failed"))
    };
    Ok(all.filter(is_given_up).collect())
}

/// Disables the endpoints that the worker has given up, each with the event `webhook.disabled`. Returns them.
///
/// # Errors
/// If the ledger has no answer; the next call finds the same endpoints again.
pub fn announce_stopped(ledger: &Ledger, reader: &Reader) -> Result<Vec<EndpointId>, StopError> {
    let stopped = stopped(reader)?;
    if stopped.is_empty() {
        return Ok(Vec::new());
    }
    let requests: Vec<Request> = stopped.iter().map(|(endpoint, reason, at)| request(endpoint, reason, *at)).collect();
    let answers = ledger.submit_in_turn(requests).map_err(SubmitError::from)?.wait().map_err(SubmitError::from)?;
    // A refusal: a person has changed the endpoint meanwhile, and the worker begins with its new revision.
    let disabled = stopped.iter().zip(answers).filter(|(_, answer)| answer.effects().is_ok());
    Ok(disabled.map(|((endpoint, ..), _)| endpoint.id.clone()).collect())
}

fn stopped(reader: &Reader) -> Result<Vec<(WebhookEndpoint, String, Time)>, NotifyError> {
    let sql = "SELECT p.endpoint, p.stop_reason, p.stopped_at FROM webhook_progress p
               JOIN webhook_endpoints e ON e.id = p.endpoint AND e.revision = p.revision
               WHERE e.state = 'enabled' AND p.stopped_at IS NOT NULL ORDER BY p.endpoint";
    let mut found = Vec::new();
    for row in reader.rows(sql, vec![])? {
        let id = EndpointId::parse(text_of(&row, "endpoint")?).ok_or(BadRow { column: "endpoint" })?;
        if let Some(endpoint) = endpoint(reader, &id)? {
            found.push((endpoint, text_of(&row, "stop_reason")?.to_owned(), Time(number_of(&row, "stopped_at")?)));
        }
    }
    Ok(found)
}

fn request(endpoint: &WebhookEndpoint, reason: &str, at: Time) -> Request {
    let (_, change) = endpoint.disable(reason, at);
    Request {
        key: IdempotencyKey {
            namespace: Namespace::System,
            scope: Scope::House,
            text: format!("webhook/{}/{}/disable", endpoint.id, endpoint.revision),
        },
        principal: Principal::System,
        confirmation: None,
        action: Action::Legs(Vec::new()),
        references: References::default(),
        facts: vec![change.fact],
        events: vec![change.event],
    }
}
