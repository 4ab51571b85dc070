//! Sending: what really happens to a transaction, and what its sender is told.

use serde_json::{Value, json};

use super::{error::RpcError, params::Params};
use crate::{chain::Chain, fault::Fault, pool::Refusal, transaction::Transaction};

impl Chain {
    pub(super) fn send_raw(&mut self, node: usize, params: &Params<'_>) -> Result<Value, RpcError> {
        let raw = params.bytes(0)?;
        let transaction = Transaction::decode(&raw)?;
        if self.nodes.happens(node, Fault::SaysUnderpriced) {
            return Err(Refusal::Underpriced { tip: transaction.tip_at(0).unwrap_or_default() }.into());
        }
        let hash = self.send(&raw)?;
        if self.nodes.happens(node, Fault::SaysAlreadyKnown) {
            return Err(Refusal::AlreadyKnown.into());
        }
        if self.nodes.happens(node, Fault::SaysNonceTooLow) {
            let nonce = transaction.nonce();
            return Err(Refusal::NonceTooLow { next: nonce.saturating_add(1), nonce }.into());
        }
        if self.nodes.happens(node, Fault::AcceptedAndForgotten) {
            self.pool.forget(hash);
        }
        Ok(json!(hash))
    }
}
