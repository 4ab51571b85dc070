//! Reading blocks, transactions and receipts, as far as a node shows the chain.

use serde_json::Value;

use super::{
    View,
    error::RpcErrorBody,
    params::{BlockParam, Params},
    show,
};
use crate::{block::SimulatedBlock, chain::SimulatedChain};

impl SimulatedChain {
    /// The requested block, if this node has it. By hash it may be an orphan.
    pub(super) fn shown(&self, view: View, at: BlockParam) -> Option<&SimulatedBlock> {
        let behind = |depth| view.head.saturating_sub(depth);
        let number = match at {
            BlockParam::Hash(hash) => {
                let on_chain = self.block_with(hash).filter(|block| block.number() <= view.head);
                return on_chain.or_else(|| self.orphan(hash));
            }
            BlockParam::Number(number) => number,
            BlockParam::Latest | BlockParam::Pending => view.head,
            BlockParam::Safe => behind(self.config.safe_depth.saturating_sub(view.safe_ahead)),
            BlockParam::Finalized => behind(self.config.finalized_depth.saturating_sub(view.finalized_ahead)),
        };
        (number <= view.head).then(|| self.block(number)).flatten()
    }

    /// The height of a block whose state is available.
    pub(super) fn state_at(&self, view: View, at: BlockParam) -> Result<u64, RpcErrorBody> {
        let block = self.shown(view, at).ok_or_else(|| RpcErrorBody::server("header not found"))?;
        match self.block_with(block.hash) {
            Some(block) => Ok(block.number()),
            None => Err(RpcErrorBody::server(format!("hash {} is not currently canonical", block.hash))),
        }
    }

    pub(super) fn get_block(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let (at, whole) = (params.block(0)?, params.flag(1)?);
        Ok(self.shown(view, at).map_or(Value::Null, |block| show::block(block, whole)))
    }

    pub(super) fn get_block_receipts(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        Ok(self.shown(view, params.block(0)?).map_or(Value::Null, show::receipts))
    }

    pub(super) fn get_transaction(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let hash = params.hash(0)?;
        let included = self.find(hash).filter(|(block, _)| block.number() <= view.head);
        let shown = included.map(|(block, index)| show::in_block(block, index));
        Ok(shown.or_else(|| self.waiting(hash).map(show::waiting)).unwrap_or_default())
    }

    pub(super) fn get_receipt(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let included = self.find(params.hash(0)?).filter(|(block, _)| block.number() <= view.head);
        Ok(included.map_or(Value::Null, |(block, index)| show::receipt(block, index)))
    }
}
