//! The present price of gas, as claimed by this node. The caller decides what to pay.

use alloy_primitives::U256;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    error::{MalformedAnswer, RpcError},
    node::RpcNode,
    quirks,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fees {
    /// EIP-1559.
    Market {
        /// Of the next block. It rises by at most an eighth per block.
        base_fee: u128,
        /// The usual priority fee.
        tip: u128,
    },
    /// Chains without a base fee.
    Legacy { gas_price: u128 },
}

/// Which fees transactions of a chain offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeeKind {
    /// What the node's answers show.
    #[default]
    Automatic,
    /// A base fee and a tip. A node that names no base fee is wrong.
    Market,
    /// A gas price, whatever the node says of base fees.
    Legacy,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FeeHistory {
    base_fee_per_gas: Option<Vec<U256>>,
}

impl RpcNode {
    pub fn fees(&self) -> Result<Fees, RpcError> {
        let base_fee = match self.request_as::<FeeHistory>("eth_feeHistory", &json!(["0x1", "latest", []])) {
            Ok(history) => history.base_fee_per_gas.and_then(|fees| fees.last().copied()),
            Err(error) if quirks::has_no_method(&error) => None,
            Err(error) => return Err(error),
        };
        // Nodes of chains without EIP-1559 return a history of zeros.
        let Some(base_fee) = base_fee.filter(|fee| !fee.is_zero()) else {
            return Ok(Fees::Legacy { gas_price: self.price("eth_gasPrice")? });
        };
        let base_fee =
            u128::try_from(base_fee).map_err(|_| MalformedAnswer::new("eth_feeHistory", "an absurd base fee"))?;
        let tip = match self.price("eth_maxPriorityFeePerGas") {
            Err(error) if quirks::has_no_method(&error) => self.price("eth_gasPrice")?.saturating_sub(base_fee),
            tip => tip?,
        };
        Ok(Fees::Market { base_fee, tip })
    }

    /// The fees of a chain whose kind is known.
    pub fn fees_of(&self, kind: FeeKind) -> Result<Fees, RpcError> {
        match kind {
            FeeKind::Automatic => self.fees(),
            FeeKind::Legacy => Ok(Fees::Legacy { gas_price: self.price("eth_gasPrice")? }),
            FeeKind::Market => match self.fees()? {
                Fees::Legacy { .. } => Err(MalformedAnswer::new("eth_feeHistory", "no base fee").into()),
                market @ Fees::Market { .. } => Ok(market),
            },
        }
    }

    fn price(&self, method: &'static str) -> Result<u128, RpcError> {
        let price = self.request_quantity(method, &json!([]))?;
        u128::try_from(price).map_err(|_| MalformedAnswer::new(method, "an absurd price").into())
    }
}
