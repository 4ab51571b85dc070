//! What is asked of the signer, and what it answers.

use serde::{Deserialize, Serialize};

use crate::{Address, IntentId, MalformedMessage, MemoryHead, Order, SignerRefusal, StopReason, canonical};

/// The most approvals that can travel with an order.
pub const APPROVALS_MAX: usize = 16;

/// One thing asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignerRequest {
    /// Sign this order, or give the bytes that were signed for it before.
    Sign {
        /// The order.
        order: Order,
        /// Who agreed to it, over its digest. The signer cannot check any yet, and refuses what has some.
        approvals: Vec<Approval>,
        /// The newest head that the asker has of the order's wallet.
        head: MemoryHead,
    },
    /// Never sign this intent, and say so: the proof that a payment can be given back.
    Revoke {
        /// The intent.
        intent: IntentId,
        /// The wallet whose key seals the heads.
        wallet: Address,
        /// The newest head that the asker has of it.
        head: MemoryHead,
    },
    /// Where does the memory stand? The first thing to ask, because everything else wants a head.
    Status {
        /// The wallet whose key seals the head.
        wallet: Address,
    },
}

/// An approver's signature over an order's digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Who.
    pub approver: Address,
    /// `r`, `s` and the recovery id.
    pub signature: Vec<u8>,
}

/// What the signer says to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignerAnswer {
    /// Signed, now or before: these bytes and no others.
    Signed(SignedTransaction),
    /// The intent has no signature and never will have one.
    Revoked {
        /// Where the memory stands now.
        head: MemoryHead,
    },
    /// Where the memory stands.
    Status(SignerStatus),
    /// No. This request released no bytes.
    Refused {
        /// Why not.
        refusal: SignerRefusal,
        /// Where the memory stands; none for a wallet that the signer does not have.
        head: Option<MemoryHead>,
    },
    /// The memory failed in the middle: what it has of this request is not known until the signer has been started
    /// again. The same may be asked then.
    Failed,
    /// The frame was no request.
    NotUnderstood,
}

/// A signed transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedTransaction {
    /// The bytes to send to a node.
    pub raw: Vec<u8>,
    /// The transaction's hash.
    pub hash: [u8; 32],
    /// Where the memory stands now.
    pub head: MemoryHead,
}

/// Where the memory stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerStatus {
    /// How far.
    pub head: MemoryHead,
    /// Whether it has stopped for good.
    pub stopped: Option<StopReason>,
}

impl SignerRequest {
    /// The one encoding of the request.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        canonical::encode(self)
    }

    /// Reads [`SignerRequest::encode`] back.
    ///
    /// # Errors
    /// Bytes that are no request's encoding.
    pub fn decode(bytes: &[u8]) -> Result<Self, MalformedMessage> {
        let request = canonical::decode(bytes, "request")?;
        match &request {
            Self::Sign { approvals, .. } if approvals.len() > APPROVALS_MAX => {
                Err(MalformedMessage { what: "request" })
            }
            _ => Ok(request),
        }
    }

    /// The wallet it is about.
    #[must_use]
    pub const fn wallet(&self) -> Address {
        match self {
            Self::Sign { order, .. } => order.slot.wallet,
            Self::Revoke { wallet, .. } | Self::Status { wallet } => *wallet,
        }
    }

    /// The head that came along.
    #[must_use]
    pub const fn head(&self) -> Option<&MemoryHead> {
        match self {
            Self::Sign { head, .. } | Self::Revoke { head, .. } => Some(head),
            Self::Status { .. } => None,
        }
    }
}

impl SignerAnswer {
    /// The one encoding of the answer.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        canonical::encode(self)
    }

    /// Reads [`SignerAnswer::encode`] back.
    ///
    /// # Errors
    /// Bytes that are no answer's encoding.
    pub fn decode(bytes: &[u8]) -> Result<Self, MalformedMessage> {
        canonical::decode(bytes, "answer")
    }

    /// Where the memory stands, if the answer says it.
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
