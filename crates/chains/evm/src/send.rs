//! Sending a signed transaction, and what the answer proves: less than one would like.
//!
//! Guarantees: [`SendOutcome::Unknown`] is the answer to every failure in which the transaction may be with the node. Sending the
//! same bytes again is always safe; making other bytes for the same purpose never is.

use alloy_primitives::{B256, Bytes, hex, keccak256};
use serde_json::json;

use crate::{
    error::{Disagreement, RpcError, RpcRefusal},
    node::RpcNode,
    quirks::{self, SendVerdict},
    wire,
};

/// What is known after a transaction was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum SendOutcome {
    /// The node took it. It may still forget it.
    Accepted,
    /// The node has it already.
    AlreadyKnown,
    /// Its number is used: by itself, included before, or by another. Only the chain can tell which.
    NonceTooLow,
    /// The node wants higher fees, than it asks of everybody or than those of the transaction it has under this number.
    Underpriced(RpcRefusal),
    /// The node will not have it, for another reason.
    Refused(RpcRefusal),
    /// Nobody knows whether the node has it.
    Unknown(RpcError),
}

/// What a signed transaction will be known by.
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
