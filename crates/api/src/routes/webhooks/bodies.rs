//! Webhooks as callers write and read them.

use bankroll_notify::{DeliveryView, WebhookEndpoint};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::input::show_time;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWebhookBody {
    #[schema(example = "https://hooks.example/bankroll")]
    pub url: String,
    /// `deposit.credited`, `spawn.*`; every type if missing.
    #[serde(default)]
    pub types: Vec<String>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookUpdateBody {
    pub url: Option<String>,
    pub types: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RotationBody {
    /// For how long the secret before it still signs as well; a day if missing, 0 if it is known to others.
    pub overlap_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResendBody {
    /// The id of the first event: `evt_81_0`.
    pub from: String,
    /// The id of the last one; the same as `from` if missing.
    #[serde(default)]
    pub to: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookBody {
    #[schema(example = "whe_0123456789abcdef0123456789abcdef")]
    pub webhook: String,
    pub url: String,
    pub types: Vec<String>,
    /// The game server whose events it gets; missing for those of the whole deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    pub enabled: bool,
    /// `operator`, `gone` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<String>,
    pub created_at: String,
    pub revision: u64,
    /// Until when the secret before this one signs as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_secret_until: Option<String>,
    /// What verifies its deliveries. Only in the answer that made it: keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct WebhooksBody {
    pub webhooks: Vec<WebhookBody>,
}

/// What the endpoint is about to get.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookRequestBody {
    pub webhook: String,
    /// `resend` or `test`.
    pub requested: &'static str,
}

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeliveriesQuery {
    /// `pending` or `delivered`.
    pub state: Option<String>,
    /// `next` of the page before.
    pub after: Option<String>,
    /// 1 to 1,000; 100 by default.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryBody {
    pub event: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub resource: String,
    /// `pending` or `delivered`.
    pub state: &'static str,
    pub attempts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_at: Option<String>,
    /// The status of the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_status: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The beginning of the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    pub created_at: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveriesPage {
    /// The newest event first.
    pub deliveries: Vec<DeliveryBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl WebhookBody {
    pub fn new(endpoint: &WebhookEndpoint, secret: Option<String>) -> Self {
        let disabled = endpoint.disabled.as_ref();
        Self {
            webhook: endpoint.id.to_string(),
            url: endpoint.url.clone(),
            types: endpoint.types.patterns().to_vec(),
            server: endpoint.server.as_ref().map(ToString::to_string),
            enabled: endpoint.is_enabled(),
            disabled_reason: disabled.map(|disabled| disabled.reason.clone()),
            disabled_at: disabled.map(|disabled| show_time(disabled.at)),
            created_at: show_time(endpoint.created_at),
            revision: endpoint.revision,
            previous_secret_until: endpoint.previous_secret.as_ref().map(|(_, until)| show_time(*until)),
            secret,
        }
    }
}

impl From<DeliveryView> for DeliveryBody {
    fn from(delivery: DeliveryView) -> Self {
        Self {
            event: delivery.event,
            kind: delivery.kind,
            resource: delivery.resource,
            state: delivery.state.as_str(),
            attempts: delivery.attempts,
            next_at: delivery.next_at.map(show_time),
            last_at: delivery.last_at.map(show_time),
            last_status: delivery.last_status,
            last_error: delivery.last_error,
            answer: delivery.answer,
            created_at: show_time(delivery.created_at),
        }
    }
}
