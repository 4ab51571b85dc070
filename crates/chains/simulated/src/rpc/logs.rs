//! Searching logs by block range, contract and topics.

use alloy_primitives::{Address, B256, Log};
use serde::Deserialize;
use serde_json::Value;

use super::{
    View,
    error::RpcErrorBody,
    params::{self, BlockParam, Params},
    show,
};
use crate::chain::SimulatedChain;

/// The most blocks one search goes through.
const RANGE_MAX: u64 = 10_000;

/// One value, several, or any.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOf<T> {
    Several(Vec<T>),
    One(T),
}

impl<T: PartialEq> OneOf<T> {
    fn has(&self, value: &T) -> bool {
        match self {
            Self::Several(values) => values.is_empty() || values.contains(value),
            Self::One(one) => one == value,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Filter {
    from_block: Option<Value>,
    to_block: Option<Value>,
    block_hash: Option<B256>,
    address: Option<OneOf<Address>>,
    #[serde(default)]
    topics: Vec<Option<OneOf<B256>>>,
}

impl Filter {
    fn fits(&self, log: &Log) -> bool {
        let topics = log.data.topics();
        let fits = |(place, wanted): (usize, &Option<OneOf<B256>>)| match wanted {
            Some(wanted) => topics.get(place).is_some_and(|topic| wanted.has(topic)),
            None => topics.len() > place,
        };
        let named = self.address.as_ref().is_none_or(|address| address.has(&log.address));
        named && self.topics.iter().enumerate().all(fits)
    }
}

impl SimulatedChain {
    pub(super) fn get_logs(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let filter = params.get(0).ok_or_else(|| RpcErrorBody::missing(0))?;
        let filter = Filter::deserialize(filter).map_err(|_| RpcErrorBody::invalid(0, "want a filter of logs"))?;
        let blocks = match filter.block_hash {
            Some(hash) => {
                vec![self.shown(view, BlockParam::Hash(hash)).ok_or_else(|| RpcErrorBody::server("unknown block"))?]
            }
            None => {
                let (from, to) = (self.edge(view, &filter.from_block)?, self.edge(view, &filter.to_block)?);
                if from > to || to.saturating_sub(from) >= RANGE_MAX {
                    return Err(RpcErrorBody::server("invalid block range params"));
                }
                (from..=to.min(view.head)).filter_map(|number| self.block(number)).collect()
            }
        };
        let mut found = Vec::new();
        for block in blocks {
            for (index, included) in block.transactions.iter().enumerate() {
                let shown = show::logs(block, index, included);
                let fitting = included.receipt.logs().iter().zip(shown).filter(|(log, _)| filter.fits(log));
                found.extend(fitting.map(|(_, shown)| shown));
            }
        }
        Ok(found.into())
    }

    fn edge(&self, view: View, edge: &Option<Value>) -> Result<u64, RpcErrorBody> {
        match edge.as_ref().map(params::block) {
            None => Ok(view.head),
            Some(Some(BlockParam::Number(number))) => Ok(number),
            Some(Some(at)) => self.state_at(view, at),
            Some(None) => Err(RpcErrorBody::invalid(0, "want a block's number or name")),
        }
    }
}
