//! Refusals: every way the signer says no. Values, not errors.

use serde::{Deserialize, Serialize};

/// Why nothing was signed by this request. Whether something was signed by an earlier one is not in it.
///
/// The variants stand in the order in which the rules are checked, so that the first broken rule is the one told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
pub enum SignerRefusal {
    // The signer itself.
    /// It has stopped for good, and a person must look.
    #[error("the signer has stopped: {0}")]
    Stopped(StopReason),
    /// The memory cannot take another entry. Nothing was written, nothing was signed.
    #[error("the signer's disk is full")]
    MemoryFull,

    // The request.
    /// The wallet is not one of its own.
    #[error("the signer has no such wallet")]
    WalletUnknown,
    /// The head that came along was not made with the wallet's key.
    #[error("the head is not one that this wallet's signer ever gave")]
    HeadForged,
    /// Approvals that it cannot check; it does not sign as if they were not there.
    #[error("the signer cannot check approvals")]
    ApprovalsNotUnderstood,

    // What was signed before.
    /// A cancel was signed for the intent, or may have been: it is never signed again.
    #[error("the intent was cancelled")]
    IntentCancelled,
    /// The signer promised never to sign the intent.
    #[error("the intent was revoked")]
    IntentRevoked,
    /// The order's id stands for another order.
    #[error("the order's id was used for another order")]
    OrderIdReused,
    /// The intent has its place on a chain, and this is another.
    #[error("the intent has another chain, wallet or nonce")]
    IntentElsewhere,
    /// The intent stands for another payment.
    #[error("the intent was signed with other content")]
    IntentMeansOther,
    /// The nonce belongs to another intent.
    #[error("the nonce belongs to another intent")]
    NonceTaken,
    /// Something is signed for the nonce, and this does not raise both fees by an eighth.
    #[error("a replacement raises both fees by at least 12.5 %")]
    FeesNotRaised,
    /// It cannot be revoked: something is signed for the intent, or may have been.
    #[error("something was signed for the intent")]
    IntentSigned,

    // The configuration.
    /// The chain is not in the signer's configuration.
    #[error("the signer does not know the chain")]
    ChainUnknown,
    /// The asset is not in the signer's configuration.
    #[error("the signer does not know the asset")]
    AssetUnknown,
    /// The chain wants the other manner of paying for gas.
    #[error("the chain wants the other kind of transaction")]
    PriceOfOtherKind,

    // The form.
    /// A payout of nothing.
    #[error("a payout of zero pays nobody")]
    AmountZero,
    /// Nobody, a token's contract or a wallet of our own.
    #[error("payouts do not go to this destination")]
    DestinationForbidden,
    /// A priority fee above the fee it is a part of.
    #[error("the priority fee is above the whole fee")]
    PriorityAboveFee,

    // Ceilings and limits.
    /// The order's time is over.
    #[error("the order has expired")]
    Expired,
    /// More gas than the chain's ceiling.
    #[error("the gas limit is above the ceiling")]
    GasAboveCeiling,
    /// A price above the chain's ceilings.
    #[error("the price of gas is above the ceiling")]
    PriceAboveCeiling,
    /// More than one payout may be.
    #[error("the amount is above the limit of one payout")]
    AmountAboveLimit,
    /// More than the wallet may pay of this asset in its time.
    #[error("the wallet has paid its limit for now")]
    PaidAboveLimit,
    /// More than the wallet may burn as fees on this chain in its time.
    #[error("the wallet has spent its limit of fees for now")]
    FeesAboveLimit,
}

/// Why a signer stops for good. What it remembers can no longer be all that it ever signed.
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
    /// Whether the same request is refused for ever, whatever time passes and whoever configures what: this much is
    /// proven. It does not say that nothing was signed; only a revoked intent says that.
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
