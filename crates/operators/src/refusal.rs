//! Why an act is refused.

use bankroll_ledger::Name;

use crate::Right;

/// A refused act. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperatorRefusal {
    #[error("the deployment has its first owner already")]
    FirstOwnerExists,
    #[error("the request has no valid signature of its key")]
    SignatureInvalid,
    #[error("the signature has expired, or expires too far ahead")]
    SignatureExpired,
    /// A session's token is not enough: the node that relays it could use it for another request.
    #[error("this act needs the signature of the person over the request itself, not a session")]
    SignatureNeeded,
    #[error("people sign for audience {audience} on chain {chain_id} here")]
    OtherAudience { audience: String, chain_id: u64 },
    #[error("no person has this key, or it is revoked, or the person is suspended")]
    UnknownKey,
    #[error("{person} has not the right {right}")]
    NoRight { person: Name, right: Right },
    #[error("{person} cannot grant the right {right} without having it")]
    CannotGrant { person: Name, right: Right },
    #[error("{what} {id} does not exist")]
    NotFound { what: &'static str, id: String },
    #[error("{what} {id} exists already")]
    AlreadyExists { what: &'static str, id: String },
    #[error("{field}: {why}")]
    Malformed { field: &'static str, why: &'static str },
    #[error("the body: {why}")]
    Body { why: String },
    #[error("the proposal is not open any more")]
    ProposalEnded,
    #[error("the proposal has another content")]
    OtherContent,
    #[error("{person} has signed this proposal already: it needs another person")]
    AlreadySigned { person: Name },
    #[error("it is the last key of the last owner")]
    LastOwner,
    #[error("{person} has another state already")]
    NoChange { person: Name },
    /// The signature covers another act than the one that is to be entered.
    #[error("the signed request does not say this act")]
    ActMismatch,
}

impl OperatorRefusal {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::FirstOwnerExists => "first_owner_exists",
            Self::SignatureInvalid => "signature_invalid",
            Self::SignatureExpired => "signature_expired",
            Self::SignatureNeeded => "signature_needed",
            Self::OtherAudience { .. } => "other_audience",
            Self::UnknownKey => "unknown_key",
            Self::NoRight { .. } => "no_right",
            Self::CannotGrant { .. } => "cannot_grant",
            Self::NotFound { .. } => "not_found",
            Self::AlreadyExists { .. } => "already_exists",
            Self::Malformed { .. } | Self::Body { .. } => "malformed",
            Self::ProposalEnded => "proposal_ended",
            Self::OtherContent => "other_content",
            Self::AlreadySigned { .. } => "already_signed",
            Self::LastOwner => "last_owner",
            Self::NoChange { .. } => "no_change",
            Self::ActMismatch => "act_mismatch",
        }
    }
}
