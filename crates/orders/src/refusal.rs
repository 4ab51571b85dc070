//! Every reason for which the signer refuses a request. Refusals are values, not errors.

use serde::{Deserialize, Serialize};

/// Why this request signed nothing. It does not say whether an earlier request signed something.
///
/// The variants are in the order in which the rules are checked; the signer reports the first broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
pub enum SignerRefusal {
    // The signer itself.
    /// It has stopped permanently and needs an operator.
    #[error("the signer has stopped: {0}")]
    Stopped(StopReason),
    /// The memory cannot store another entry. Nothing was written or signed.
    #[error("the signer's disk is full")]
    MemoryFull,

    // The request.
    #[error("the signer has no such wallet")]
    WalletUnknown,
    /// The head in the request was not sealed with the wallet's key.
    #[error("the head was not sealed by this wallet's signer")]
    HeadForged,
    /// The signer cannot check approvals, and does not ignore them.
    #[error("the signer cannot check approvals")]
    ApprovalsNotUnderstood,

    // What was signed before.
    /// A cancel was signed for the intent, or may have been. Its payment is never signed again.
    #[error("the intent was cancelled")]
    IntentCancelled,
    #[error("the intent was revoked")]
    IntentRevoked,
    #[error("the order's id was used for another order")]
    OrderIdReused,
    /// The intent was signed for another slot.
    #[error("the intent has another chain, wallet or nonce")]
    IntentElsewhere,
    #[error("the intent was signed with other content")]
    IntentMeansOther,
    #[error("the nonce belongs to another intent")]
    NonceTaken,
    /// The nonce has a signed transaction, and this order does not raise both fees by an eighth.
    #[error("a replacement raises both fees by at least 12.5 %")]
    FeesNotRaised,
    /// The intent cannot be revoked: something is signed for it, or may have been.
    #[error("something was signed for the intent")]
    IntentSigned,

    // The configuration.
    #[error("the signer does not know the chain")]
    ChainUnknown,
    #[error("the signer does not know the asset")]
    AssetUnknown,
    #[error("the chain is configured for the other transaction type")]
    PriceOfOtherKind,

    // The form.
    #[error("the amount of the payout is zero")]
    AmountZero,
    /// The zero address, a token contract or one of the signer's own wallets.
    #[error("payouts do not go to this destination")]
    DestinationForbidden,
    #[error("the priority fee is above the maximum fee")]
    PriorityAboveFee,

    // Ceilings and limits.
    #[error("the order has expired")]
    Expired,
    #[error("the gas limit is above the ceiling")]
    GasAboveCeiling,
    #[error("the price of gas is above the ceiling")]
    PriceAboveCeiling,
    #[error("the amount is above the limit of one payout")]
    AmountAboveLimit,
    /// More than the wallet may pay of this asset within the window.
    #[error("the wallet has reached its payout limit for this window")]
    PaidAboveLimit,
    /// More than the wallet may spend on fees on this chain within the window.
    #[error("the wallet has reached its fee limit for this window")]
    FeesAboveLimit,
}

/// Why a signer stops permanently: its memory may not contain everything it has signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
pub enum StopReason {
    /// A head that it gave is further than its memory: this is an older copy.
    #[error("its memory is older than what it has answered before")]
    MemoryOlder,
    /// A head that it gave is not in its memory: somewhere another copy went on.
    #[error("its memory is not the one it answered from before")]
    MemoryForked,
    /// A head with its key's seal comes from another memory.
    #[error("its key has answered from another memory")]
    MemoryOther,
}

impl SignerRefusal {
    /// Whether the same request is refused forever, independent of time and configuration. It does not prove that
    /// nothing was signed; only a revoked intent proves that.
    #[must_use]
    pub const fn is_permanent(self) -> bool {
        match self {
            Self::IntentCancelled
            | Self::IntentRevoked
            | Self::OrderIdReused
            | Self::IntentElsewhere
            | Self::IntentMeansOther
            | Self::NonceTaken
            | Self::FeesNotRaised
            | Self::IntentSigned
            | Self::AmountZero
            | Self::PriorityAboveFee
            | Self::Expired => true,
            Self::Stopped(_)
            | Self::MemoryFull
            | Self::WalletUnknown
            | Self::HeadForged
            | Self::ApprovalsNotUnderstood
            | Self::ChainUnknown
            | Self::AssetUnknown
            | Self::PriceOfOtherKind
            | Self::DestinationForbidden
            | Self::GasAboveCeiling
            | Self::PriceAboveCeiling
            | Self::AmountAboveLimit
            | Self::PaidAboveLimit
            | Self::FeesAboveLimit => false,
        }
    }
}
