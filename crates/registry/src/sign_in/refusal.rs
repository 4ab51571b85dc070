//! Why a sign-in is refused, each reason with its own code.

use bankroll_ledger::Name;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignInRefusal {
    #[error("the message is not an EIP-4361 message: {why}")]
    Malformed { why: String },
    #[error("the message is for another domain")]
    WrongDomain,
    #[error("the message is for another URI")]
    WrongUri,
    #[error("chain {chain_id} is not registered")]
    WrongChain { chain_id: u64 },
    #[error("the message has expired, or was issued too long ago: the server's time is {server_time}")]
    Expired { server_time: u64 },
    #[error("the message is not valid yet: the server's time is {server_time}")]
    NotYetValid { server_time: u64 },
    #[error("the nonce was not issued by this deployment")]
    UnknownNonce,
    #[error("the nonce has expired: ask for another")]
    NonceExpired,
    #[error("the nonce is used: ask for another")]
    NonceUsed,
    /// Who sees a message on its way must not be able to use it for something else.
    #[error("the message is for something else: a sign-in has no Request ID, and a link has link: and the player")]
    WrongPurpose,
    #[error("the signature does not belong to the message's address")]
    BadSignature,
    #[error("the wallet is another player's")]
    WalletTaken,
    /// A contract of the same address on another chain may be another person's.
    #[error("the wallet is a contract on {chain}: sign in with that chain")]
    OtherChainsContract { chain: Name },
    #[error("the wallet belongs to the operator or to a game server")]
    OperatorsWallet,
    #[error("the player has 16 wallets: more cannot be linked")]
    TooManyWallets,
}

impl SignInRefusal {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "malformed",
            Self::WrongDomain => "wrong_domain",
            Self::WrongUri => "wrong_audience",
            Self::WrongChain { .. } | Self::OtherChainsContract { .. } => "wrong_chain",
            Self::Expired { .. } => "expired",
            Self::NotYetValid { .. } => "not_yet_valid",
            Self::UnknownNonce => "unknown_nonce",
            Self::NonceExpired => "nonce_expired",
            Self::NonceUsed => "nonce_used",
            Self::WrongPurpose => "wrong_purpose",
            Self::BadSignature => "bad_signature",
            Self::WalletTaken => "wallet_taken",
            Self::OperatorsWallet => "operators_wallet",
            Self::TooManyWallets => "too_many_wallets",
        }
    }
}
