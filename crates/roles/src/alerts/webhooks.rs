//! Webhooks that were given up: their receivers hear nothing until a person enables them again.

use bankroll_alerts::{AlertCondition, AlertKind::WebhookDisabled, AlertObservation};
use bankroll_ledger::Time;
use bankroll_notify::{WebhookEndpoint, given_up};
use bankroll_store::Reader;
use serde_json::json;

pub(super) fn disabled(reader: &Reader, _: Time) -> anyhow::Result<Vec<AlertObservation>> {
    let conditions = given_up(reader)?.iter().map(condition).collect();
    Ok(vec![AlertObservation::all(WebhookDisabled, conditions)])
}

/// Without the URL: it may contain a secret of the receiver.
fn condition(endpoint: &WebhookEndpoint) -> AlertCondition {
    let (id, reason) = (endpoint.id.to_string(), endpoint.disabled.as_ref().map(|disabled| disabled.reason.as_str()));
    let why = match reason {
        Some("gone") => "its receiver said that it is gone",
        _ => "its deliveries failed to the end of their schedule",
    };
    let condition = AlertCondition::new(WebhookDisabled, &id, &format!("webhook {id} is disabled: {why}"));
    condition.with(&json!({ "webhook": id, "server": endpoint.server, "reason": reason }))
}
