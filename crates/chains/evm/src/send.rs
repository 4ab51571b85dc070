//! Sends a signed transaction. A node's answer proves little, so most failures have an unknown outcome.
//!
//! Guarantees: every failure after which the node may have the transaction is [`SendOutcome::Unknown`]. Sending the
//! same bytes again is always safe; making other bytes for the same purpose never is.

use alloy_primitives::{B256, Bytes, hex, keccak256};
use serde_json::json;

use crate::{
    error::{Disagreement, RpcError, RpcRefusal},
    node::RpcNode,
    quirks::{self, SendVerdict},
    wire,
};

#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum SendOutcome {
    /// The node accepted it. It may still drop it.
    Accepted,
    /// The node has it already.
    AlreadyKnown,
    /// Its nonce is used, by itself or by another transaction. Only the chain shows which.
    NonceTooLow,
    /// The fees are below the node's minimum, or too low to replace the transaction with the same nonce.
    Underpriced(RpcRefusal),
    /// The node refused it for another reason.
    Refused(RpcRefusal),
    /// The node may have it or not.
    Unknown(RpcError),
}

/// The hash of a signed transaction.
pub fn transaction_hash(raw: &[u8]) -> B256 {
    keccak256(raw)
}

impl RpcNode {
    /// Sends the bytes of a signed transaction.
    pub fn send(&self, raw: &Bytes) -> SendOutcome {
        let method = "eth_sendRawTransaction";
        let sent = transaction_hash(raw);
        let answer = self.request(method, &json!([hex::encode_prefixed(raw)]));
        match answer.and_then(|answer| wire::read::<B256>(&answer, method)) {
            Ok(answered) if answered == sent => SendOutcome::Accepted,
            Ok(answered) => SendOutcome::Unknown(Disagreement::SentHash { sent, answered }.into()),
            Err(RpcError::Refused(refused)) => match quirks::verdict(&refused.message) {
                SendVerdict::AlreadyKnown => SendOutcome::AlreadyKnown,
                SendVerdict::NonceTooLow => SendOutcome::NonceTooLow,
                SendVerdict::Underpriced => SendOutcome::Underpriced(refused),
                SendVerdict::Other => SendOutcome::Refused(refused),
            },
            Err(unclear) => SendOutcome::Unknown(unclear),
        }
    }
}
