//! Why a signed message of a game server or an owner is refused, each reason with its own code.

use bankroll_ledger::{Amount, Name};
use bankroll_orders::Address;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationRefusal {
    #[error("{field} is malformed")]
    Malformed { field: &'static str },
    #[error("the message is for another deployment: this one is {expected}")]
    WrongAudience { expected: String },
    #[error("the message has expired: the server's time is {server_time}")]
    Expired { server_time: u64 },
    #[error("the message expires more than ten minutes ahead: the server's time is {server_time}")]
    TooFarAhead { server_time: u64 },
    #[error("the signature is by {signer}, which is not allow-listed: check the key, the domain and every field")]
    UnknownKey { signer: Address },
    #[error("the key is revoked")]
    RevokedKey,
    #[error("the key's time is over: the server has a newer one")]
    ExpiredKey,
    #[error("the key is for server {expected}")]
    WrongServer { expected: Name },
    #[error("the key is for chain {expected}: sign with that chain id in the domain")]
    WrongChain { expected: Name },
    #[error("the nonce is used: sign a new message")]
    NonceUsed,
    #[error("{field} is out of bounds: from {least} to {most}")]
    OutOfBounds { field: &'static str, least: Amount, most: Amount },
    #[error("the payout address is not a hot wallet of the registry on that chain")]
    PayoutAddressUnknown,
    /// The fees of players go to that wallet: a stolen key must not take them over.
    #[error("the server's developer is {expected}: only the owner changes it")]
    DeveloperChanged { expected: Address },
    #[error("the key's custody key or its wallet is not registered")]
    CustodyKeyUnknown,
}

impl RegistrationRefusal {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "malformed",
            Self::WrongAudience { .. } => "wrong_audience",
            Self::Expired { .. } => "expired",
            Self::TooFarAhead { .. } => "too_far_ahead",
            Self::UnknownKey { .. } => "unknown_key",
            Self::RevokedKey => "revoked_key",
            Self::ExpiredKey => "expired_key",
            Self::WrongServer { .. } => "wrong_server",
            Self::WrongChain { .. } => "wrong_chain",
            Self::NonceUsed => "nonce_used",
            Self::OutOfBounds { .. } => "out_of_bounds",
            Self::PayoutAddressUnknown => "payout_address_unknown",
            Self::DeveloperChanged { .. } => "developer_changed",
            Self::CustodyKeyUnknown => "custody_key_unknown",
        }
    }
}
