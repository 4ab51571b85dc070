//! Why the registry refuses a change that a person asked for.

use bankroll_ledger::{Name, Time};

/// A refused change. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryRefusal {
    #[error("{what} {id} is already registered")]
    AlreadyExists { what: &'static str, id: String },
    #[error("{what} {id} is not registered")]
    NotFound { what: &'static str, id: String },
    #[error("{field}: {why}")]
    Malformed { field: &'static str, why: &'static str },
    /// Two servers with one deposit address could not tell their players' payments apart.
    #[error("custody key {custody_key} belongs to server {server}: a server needs a custody key of its own")]
    CustodyKeyTaken { custody_key: Name, server: Name },
    /// Both keys of a rotation act for the same server, with the same money.
    #[error("server {server} has keys for {field} {expected}: the new key must have the same, or revoke the old first")]
    KeyMismatch { server: Name, field: &'static str, expected: String },
    #[error("key {address} was revoked: a revoked key stays revoked, make another")]
    RevokedKey { address: String },
    /// A self-exclusion is never shortened.
    #[error("the exclusion lasts until {until}: it can only be made longer")]
    ExclusionNotLater { until: Time },
    #[error("server {server} has no addresses for single players")]
    NoPlayerAddresses { server: Name },
}

impl RegistryRefusal {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::AlreadyExists { .. } => "already_exists",
            Self::NotFound { .. } => "not_found",
            Self::Malformed { .. } => "malformed",
            Self::CustodyKeyTaken { .. } => "custody_key_taken",
            Self::KeyMismatch { .. } => "key_mismatch",
            Self::RevokedKey { .. } => "revoked_key",
            Self::ExclusionNotLater { .. } => "exclusion_not_later",
            Self::NoPlayerAddresses { .. } => "no_player_addresses",
        }
    }
}

pub(crate) fn missing(what: &'static str, id: &impl ToString) -> RegistryRefusal {
    RegistryRefusal::NotFound { what, id: id.to_string() }
}

pub(crate) fn exists(what: &'static str, id: &impl ToString) -> RegistryRefusal {
    RegistryRefusal::AlreadyExists { what, id: id.to_string() }
}
