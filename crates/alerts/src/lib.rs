//! Alerts: what a person must look at, as objects that open, are acknowledged and close.
//!
//! A caller observes conditions again and again. [`AlertWatch`] compares them with the alerts that are known, and says
//! what to write: a condition that begins opens an alert, one that holds on opens no second one, and when it ends the
//! alert closes by itself. A few kinds stay until a person closes them ([`AlertEnding`]).
//!
//! It guarantees:
//! - each change of an alert is a request to the books with its row and its event, guarded by the row before it: of a
//!   kind and a subject at most one alert is not closed, with any writer, and an audit compares every row;
//! - what could not be observed closes nothing;
//! - an alert whose number of items grows is written again at most once a minute;
//! - a process that dies at any point loses no alert, and opens none twice.
//!
//! It has no clock, thread or chance of its own. It deliberately does not know: the conditions (each flow says its own,
//! `crates/roles` wires them), who may acknowledge, and how people are called to the phone.
//!
//! | to learn | read |
//! | --- | --- |
//! | every kind: severity, delays, how it ends, the next step | [`AlertKind`], and `docs/runbooks/` |
//! | the decision (pure) | [`AlertWatch`] |
//! | the requests to the books (pure) | [`AlertChange`] |
//! | one round of a loop | [`round`] |
//! | one alert, lists, counts | [`views`] |
//! | the table | [`ALERTS`], `migrations/` |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

mod alert;
mod change;
mod condition;
mod error;
mod grants;
mod id;
mod kind;
mod known;
mod round;
mod rows;
pub mod views;
mod watch;

pub use alert::{Alert, AlertState};
pub use change::{AlertAct, AlertChange, AlertRefusal};
pub use condition::{AlertCondition, AlertObservation, ObservedScope};
pub use error::AlertError;
pub use grants::ALERTS_GRANTS;
pub use id::AlertId;
pub use kind::{AlertEnding, AlertKind, AlertSeverity};
pub use known::KnownAlerts;
pub use round::{AlertRound, round};
pub use rows::ALERTS;
pub use watch::AlertWatch;

#[cfg(test)]
mod tests;
