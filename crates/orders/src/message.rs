//! Requests to the signer and its answers.

use serde::{Deserialize, Serialize};

use crate::{Address, IntentId, MalformedMessage, MemoryHead, Order, SignerRefusal, StopReason, canonical};

/// The most approvals in one request.
pub const APPROVALS_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignerRequest {
    /// Sign this order, or return the bytes that were signed for it before.
    Sign {
        order: Order,
        /// Signatures over the order's digest. The signer cannot check approvals yet, and refuses orders that have any.
        approvals: Vec<SignedApproval>,
        /// The newest head of the order's wallet that the caller has stored.
        head: MemoryHead,
    },
    /// Never sign this intent. The answer is the proof that the payment can be refunded.
    Revoke {
        intent: IntentId,
        wallet: Address,
        /// The newest head of the wallet that the caller has stored.
        head: MemoryHead,
    },
    /// Return the head of the memory. It is the first request of a new caller, because all others need a head.
    Status { wallet: Address },
}

/// An approver's signature over an order's digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedApproval {
    pub approver: Address,
    /// `r`, `s` and the recovery id.
    pub signature: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignerAnswer {
    /// Signed, now or before: always the same bytes.
    Signed(SignedTransaction),
    /// The intent has no signature and will never have one.
    Revoked {
        head: MemoryHead,
    },
    Status(SignerStatus),
    /// This request released no bytes.
    Refused {
        refusal: SignerRefusal,
        /// `None` for a wallet that the signer does not have.
        head: Option<MemoryHead>,
    },
    /// The memory failed during the request. Whether the request took effect is unknown until the signer restarts; then
    /// the caller retries the same request.
    Failed,
    /// The frame is not a request.
    NotUnderstood,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedTransaction {
    pub raw: Vec<u8>,
    pub hash: [u8; 32],
    pub head: MemoryHead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerStatus {
    pub head: MemoryHead,
    /// Set if the signer has stopped permanently.
    pub stopped: Option<StopReason>,
}

impl SignerRequest {
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        canonical::encode(self)
    }

    /// Reads [`SignerRequest::encode`] back.
    ///
    /// # Errors
    /// The bytes are not the encoding of a request.
    pub fn decode(bytes: &[u8]) -> Result<Self, MalformedMessage> {
        let request = canonical::decode(bytes, "request")?;
        match &request {
            Self::Sign { approvals, .. } if approvals.len() > APPROVALS_MAX => {
                Err(MalformedMessage { what: "request" })
            }
            _ => Ok(request),
        }
    }

    #[must_use]
    pub const fn wallet(&self) -> Address {
        match self {
            Self::Sign { order, .. } => order.slot.wallet,
            Self::Revoke { wallet, .. } | Self::Status { wallet } => *wallet,
        }
    }

    #[must_use]
    pub const fn head(&self) -> Option<&MemoryHead> {
        match self {
            Self::Sign { head, .. } | Self::Revoke { head, .. } => Some(head),
            Self::Status { .. } => None,
        }
    }
}

impl SignerAnswer {
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        canonical::encode(self)
    }

    /// Reads [`SignerAnswer::encode`] back.
    ///
    /// # Errors
    /// The bytes are not the encoding of an answer.
    pub fn decode(bytes: &[u8]) -> Result<Self, MalformedMessage> {
        canonical::decode(bytes, "answer")
    }

    #[must_use]
    pub const fn head(&self) -> Option<&MemoryHead> {
        match self {
            Self::Signed(SignedTransaction { head, .. })
            | Self::Revoked { head }
            | Self::Status(SignerStatus { head, .. }) => Some(head),
            Self::Refused { head, .. } => head.as_ref(),
            Self::Failed | Self::NotUnderstood => None,
        }
    }
}
