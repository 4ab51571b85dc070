//! One attempt to deliver one event to one endpoint.

use bankroll_ledger::{Seq, Time};
use bankroll_store::{
    EventPosition, Reader,
    columns::{BadRow, int, text},
};
use bankroll_terminal::when;
use serde_json::json;

use crate::{
    EVENT_VERSION, EndpointId, NotifyError, PublicEvent, WebhookEndpoint, WebhookRequest, WebhookSecret,
    delivery_log::delivery_event_id,
    plan::{DeliveryPosition, PendingDelivery},
    secrets_of,
};

/// The type of test events.
pub(crate) const TEST_EVENT: &str = "webhook.test";

/// Everything that a request to an endpoint is made from.
#[derive(Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    pub endpoint: EndpointId,
    /// The revision of the endpoint that it was planned for.
    pub revision: u64,
    pub url: String,
    pub position: DeliveryPosition,
    pub attempts_before: u64,
    /// The same in every attempt.
    pub event_id: String,
    /// The same in every attempt.
    pub body: String,
    /// The newest first.
    pub secrets: Vec<WebhookSecret>,
    pub planned_at: Time,
}

impl DeliveryAttempt {
    pub(crate) fn load(
        reader: &Reader,
        endpoint: &WebhookEndpoint,
        delivery: &PendingDelivery,
        now: Time,
    ) -> Result<Self, NotifyError> {
        let (seq, place) = delivery.position;
        let event = match seq {
            0 => test_event(reader, endpoint, place)?,
            _ => stored_event(reader, seq, place)?,
        };
        Ok(Self {
            endpoint: endpoint.id.clone(),
            revision: endpoint.revision,
            url: endpoint.url.clone(),
            position: delivery.position,
            attempts_before: delivery.attempts,
            event_id: event.id.clone(),
            body: event.to_json(),
            secrets: secrets_of(reader, endpoint, now)?,
            planned_at: now,
        })
    }
}

fn stored_event(reader: &Reader, seq: u64, place: u64) -> Result<PublicEvent, NotifyError> {
    let place = u16::try_from(place).map_err(|_| BadRow { column: "place" })?;
    let entry = reader.event_entry(EventPosition { seq: Seq(seq), place })?;
    Ok(PublicEvent::new(&entry.ok_or(BadRow { column: "seq" })?))
}

/// Made from the request for it, so that every attempt sends the same.
fn test_event(reader: &Reader, endpoint: &WebhookEndpoint, number: u64) -> Result<PublicEvent, NotifyError> {
    let sql = "SELECT * FROM webhook_requests WHERE endpoint = $1 AND number = $2";
    let rows = reader.rows(sql, vec![text(endpoint.id.as_str()), int(number)])?;
    let request = WebhookRequest::of_row(rows.first().ok_or(BadRow { column: "number" })?)?;
    Ok(PublicEvent {
        id: delivery_event_id(&endpoint.id, 0, number),
        kind: TEST_EVENT.into(),
        version: EVENT_VERSION,
        sequence: 0,
        resource: endpoint.id.to_string(),
        resource_sequence: number,
        time: when::show(request.requested_at),
        server: endpoint.server.as_ref().map(ToString::to_string),
        player: None,
        data: json!({ "endpoint": endpoint.id.as_str(), "test": number }),
    })
}

/// Neither the URL nor the secrets.
impl std::fmt::Debug for DeliveryAttempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { endpoint, event_id, attempts_before, .. } = self;
        write!(f, "DeliveryAttempt({event_id} to {endpoint}, after {attempts_before})")
    }
}
