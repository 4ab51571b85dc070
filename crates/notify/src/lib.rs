//! Events as others read them, and their delivery to webhooks.
//!
//! The books announce each change in the outbox, in its commit. Here an announcement becomes a [`PublicEvent`]: one
//! JSON form for the stream (SSE) and for webhooks. The role `notify` delivers it to every endpoint that wants it.
//!
//! It guarantees:
//! - an event has the same id, sequence and content whenever it is read, after a crash or a rebuild, too;
//! - every event reaches every enabled endpoint that wants it at least once, and the events about one resource in
//!   order: a later one waits until the earlier one is delivered;
//! - an endpoint that is dead or slow delays no other endpoint; it follows its schedule, then it is disabled, and what it
//!   has missed is kept for the day it is enabled again;
//! - no request leaves for an address inside of the deployment's network, whatever a URL or a name server says;
//! - a secret is in no record of the journal, no log and no error.
//!
//! Bounds: 1,000 waiting events and 4 requests in flight for each endpoint, 15 seconds and 64 KiB for each answer.
//!
//! It has no clock, thread or chance of its own: times, jitter and random bytes are arguments. It deliberately does not
//! know: who may make endpoints, HTTP routes, what an event means.
//!
//! | to learn | read |
//! | --- | --- |
//! | the form of an event | [`PublicEvent`], [`event_id`] |
//! | endpoints, their secrets, what people ask of them | [`WebhookEndpoint`], [`WebhookSecret`], [`WebhookRequest`] |
//! | what was delivered | [`deliveries`] |
//! | which targets are allowed | [`TargetPolicy`] |
//! | when an attempt is due, and what follows from its outcome (pure) | [`schedule`], [`plan`] |
//! | the work of the role `notify` | [`DeliveryWorker`], [`WebhookClient`] |
//! | what the books do when an endpoint is given up | [`announce_stopped`] |
//! | the tables, and who may write them | [`NOTIFY`], [`NOTIFY_GRANTS`] |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

mod attempt;
mod client;
mod delivery_log;
mod endpoint;
mod endpoint_rows;
mod error;
mod event;
mod event_pages;
mod grants;
pub mod plan;
mod progress;
mod resolver;
pub mod schedule;
mod secret;
mod signature;
mod stopped;
mod target;
mod type_filter;
mod webhook_request;
mod worker;
mod worker_rows;

pub use attempt::DeliveryAttempt;
pub use client::{ClientLimits, WebhookClient};
pub use delivery_log::{DeliveryFilter, DeliveryState, DeliveryView, deliveries};
pub use endpoint::{DisabledEndpoint, EndpointChange, EndpointId, NewEndpoint, WebhookEndpoint};
pub use endpoint_rows::{endpoint, endpoints};
pub use error::NotifyError;
pub use event::{EVENT_VERSION, PublicEvent, event_id, parse_event_id, sequence_of};
pub use grants::{NOTIFY, NOTIFY_GRANTS};
pub use resolver::{HostResolver, TargetError};
pub use schedule::{AttemptOutcome, Jitter};
pub use secret::{NewSecret, SECRET_OVERLAP, SecretId, WebhookSecret, secrets_of};
pub use signature::signatures;
pub use stopped::{StopError, announce_stopped, given_up};
pub use target::{TargetHost, TargetPolicy, TargetRefusal, WebhookTarget};
pub use type_filter::{BadTypeFilter, TypeFilter};
pub use webhook_request::{ResendRange, WebhookRequest, WebhookRequestKind, next_request_number};
pub use worker::{DeliveryRound, DeliveryWorker, WAITING_MAX, WorkerSettings};
