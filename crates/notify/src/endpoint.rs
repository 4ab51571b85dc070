//! Endpoints: where events are delivered to. Pure: each change is a fact for the journal, with its announcement.

use std::fmt;

use bankroll_ledger::{Column, ColumnValue, Event, Fact, Guard, GuardFailure, Name, RowKey, Time};
use bankroll_store::{
    EventPosition,
    columns::{int, text, time},
};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::{NewSecret, PublicEvent, SecretId, TypeFilter};

pub(crate) const ENDPOINTS_TABLE: &str = "webhook_endpoints";
const ID_DIGITS: usize = 32;

/// The id of an endpoint: `whe_` and 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(String);

impl EndpointId {
    /// The id of the endpoint that a request under this key makes: the same request again makes no second one.
    #[must_use]
    pub fn new(author: &str, request_key: &str) -> Self {
        // A zero byte is in no author, so that (ab, c) and (a, bc) differ.
        let digest = Sha256::new().chain_update(author).chain_update([0]).chain_update(request_key);
        let short: String = hex::encode(digest.finalize()).chars().take(ID_DIGITS).collect();
        Self(format!("whe_{short}"))
    }

    /// The id that a caller wrote; `None` if it cannot be one.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        let digits = id.strip_prefix("whe_")?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (digits.len() == ID_DIGITS && digits.bytes().all(is_digit)).then(|| Self(id.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EndpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why and since when an endpoint gets no events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisabledEndpoint {
    /// `operator`, `gone` (the endpoint answered 410) or `failed` (the last attempt of an event failed).
    pub reason: String,
    pub at: Time,
}

/// An endpoint as its row states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEndpoint {
    pub id: EndpointId,
    pub url: String,
    pub types: TypeFilter,
    /// The events of this server alone; `None` for the events of the whole deployment.
    pub server: Option<Name>,
    /// `None` while it is enabled.
    pub disabled: Option<DisabledEndpoint>,
    /// What its events are signed with.
    pub secret: SecretId,
    /// The secret before it, until this time, and what is signed with both until then.
    pub previous_secret: Option<(SecretId, Time)>,
    /// It gets the events after this one.
    pub from: EventPosition,
    pub created_at: Time,
    /// Counts the changes, from 1.
    pub revision: u64,
}

/// A new endpoint. The caller has checked its URL ([`crate::TargetPolicy::check_url`]) and writes the secret's row
/// ([`NewSecret::insert`]) before the change is committed.
#[derive(Clone, Debug)]
pub struct NewEndpoint<'a> {
    pub id: EndpointId,
    pub url: String,
    pub types: TypeFilter,
    pub server: Option<Name>,
    pub secret: &'a NewSecret,
    /// The newest event: the endpoint gets what comes after it.
    pub from: EventPosition,
    pub now: Time,
}

/// What a change of an endpoint puts into one request to the books.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointChange {
    pub fact: Fact,
    pub event: Event,
}

impl NewEndpoint<'_> {
    /// The endpoint, and the change that makes it.
    #[must_use]
    pub fn create(self) -> (WebhookEndpoint, EndpointChange) {
        let endpoint = WebhookEndpoint {
            secret: self.secret.id().clone(),
            id: self.id,
            url: self.url,
            types: self.types,
            server: self.server,
            disabled: None,
            previous_secret: None,
            from: self.from,
            created_at: self.now,
            revision: 1,
        };
        let mut set = endpoint.columns();
        set.extend([
            column("from_seq", int(endpoint.from.seq.0)),
            column("from_place", int(endpoint.from.place.into())),
            column("created_at", time(endpoint.created_at)),
        ]);
        let row = endpoint.row();
        let fact = Fact { row, guard: Guard::Absent, otherwise: GuardFailure::Conflict, set };
        let event = endpoint.event("webhook.created", None);
        (endpoint, EndpointChange { fact, event })
    }
}

impl WebhookEndpoint {
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.disabled.is_none()
    }

    /// Whether an event is for this endpoint: its type, and its server if the endpoint is a server's.
    #[must_use]
    pub fn wants(&self, event: &PublicEvent) -> bool {
        let is_ours = self.server.as_ref().is_none_or(|server| event.server.as_deref() == Some(server.as_str()));
        is_ours && self.types.accepts(&event.kind)
    }

    /// The change to another URL or other types.
    #[must_use]
    pub fn change(&self, url: String, types: TypeFilter) -> (Self, EndpointChange) {
        self.changed(Self { url, types, ..self.clone() }, "webhook.changed", None)
    }

    /// Delivery begins where it ended: what the endpoint has missed is delivered first.
    #[must_use]
    pub fn enable(&self) -> (Self, EndpointChange) {
        self.changed(Self { disabled: None, ..self.clone() }, "webhook.enabled", None)
    }

    #[must_use]
    pub fn disable(&self, reason: &str, now: Time) -> (Self, EndpointChange) {
        let disabled = Some(DisabledEndpoint { reason: reason.to_owned(), at: now });
        self.changed(Self { disabled, ..self.clone() }, "webhook.disabled", Some(reason))
    }

    /// The next secret. Events are signed with both for this long (see [`crate::SECRET_OVERLAP`]); with 0 the secret
    /// before it ends at once. The row of the secret ([`NewSecret::insert`]) is written first.
    #[must_use]
    pub fn rotate(&self, next: &NewSecret, overlap_micros: u64, now: Time) -> (Self, EndpointChange) {
        let until = Time(now.0.saturating_add(overlap_micros));
        let previous_secret = Some((self.secret.clone(), until));
        let after = Self { secret: next.id().clone(), previous_secret, ..self.clone() };
        self.changed(after, "webhook.secret_rotated", None)
    }

    fn changed(&self, after: Self, kind: &str, reason: Option<&str>) -> (Self, EndpointChange) {
        let after = Self { revision: self.revision.saturating_add(1), ..after };
        let fact = Fact {
            row: after.row(),
            guard: Guard::Is(vec![column("revision", int(self.revision))]),
            otherwise: GuardFailure::Conflict,
            set: after.columns(),
        };
        let event = after.event(kind, reason);
        (after, EndpointChange { fact, event })
    }

    fn row(&self) -> RowKey {
        RowKey { table: ENDPOINTS_TABLE.into(), columns: vec![column("id", text(self.id.as_str()))] }
    }

    /// The columns that changes write. A fact that names one sets all: one revision is one whole row.
    fn columns(&self) -> Vec<Column> {
        let optional = |value: Option<ColumnValue>| value.unwrap_or(ColumnValue::Null);
        let disabled = self.disabled.as_ref();
        let previous = self.previous_secret.as_ref();
        vec![
            column("url", text(&self.url)),
            column("types", text(&self.types.to_string())),
            column("server", optional(self.server.as_ref().map(|server| text(server.as_str())))),
            column("state", text(if self.is_enabled() { "enabled" } else { "disabled" })),
            column("disabled_reason", optional(disabled.map(|disabled| text(&disabled.reason)))),
            column("disabled_at", optional(disabled.map(|disabled| time(disabled.at)))),
            column("secret", text(self.secret.as_str())),
            column("previous_secret", optional(previous.map(|(id, _)| text(id.as_str())))),
            column("previous_until", optional(previous.map(|(_, until)| time(*until)))),
            column("revision", int(self.revision)),
        ]
    }

    /// Without the URL: its path or query may be a secret of the receiver.
    fn event(&self, kind: &str, reason: Option<&str>) -> Event {
        let body = json!({
            "endpoint": self.id.as_str(), "server": self.server, "types": self.types.patterns(),
            "enabled": self.is_enabled(), "revision": self.revision, "reason": reason,
        });
        Event { kind: kind.parse().expect("a legal name"), resource: self.id.to_string(), body: body.to_string() }
    }
}

pub(crate) fn column(name: &str, value: ColumnValue) -> Column {
    (name.to_owned(), value)
}
