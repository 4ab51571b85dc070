//! Sending: what happens to a transaction, and what the node answers.

use serde_json::{Value, json};

use super::{error::RpcErrorBody, params::Params};
use crate::{chain::SimulatedChain, fault::NodeFault, pool::PoolRefusal, transaction::SimulatedTransaction};

impl SimulatedChain {
    pub(super) fn send_raw(&mut self, node: usize, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        self.submit(node, &params.bytes(0)?)
    }

    /// Gives a signed transaction to the mempool, as this node does with its faults.
    pub(super) fn submit(&mut self, node: usize, raw: &[u8]) -> Result<Value, RpcErrorBody> {
        let transaction = SimulatedTransaction::decode(raw)?;
        if self.nodes.take_fault(node, NodeFault::SaysUnderpriced) {
            return Err(PoolRefusal::Underpriced { tip: transaction.tip_at(0).unwrap_or_default() }.into());
        }
        let hash = self.send_to(node, raw)?;
        if self.nodes.take_fault(node, NodeFault::SaysAlreadyKnown) {
            return Err(PoolRefusal::AlreadyKnown.into());
        }
        if self.nodes.take_fault(node, NodeFault::SaysNonceTooLow) {
            let nonce = transaction.nonce();
            return Err(PoolRefusal::NonceTooLow { next: nonce.saturating_add(1), nonce }.into());
        }
        if self.nodes.take_fault(node, NodeFault::AcceptedAndForgotten) {
            self.forget_everywhere(&transaction);
        }
        Ok(json!(hash))
    }
}
