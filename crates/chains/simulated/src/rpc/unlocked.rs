//! The play accounts are unlocked: the node signs for them, as development nodes do.

use alloy_primitives::{Address, Bytes, U256};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    View,
    error::RpcErrorBody,
    params::{Params, quantity},
};
use crate::{
    chain::SimulatedChain,
    key::{Payment, SimulatedKey},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SendParams {
    from: Option<Address>,
    to: Option<Address>,
    value: Option<String>,
    input: Option<Bytes>,
    data: Option<Bytes>,
    nonce: Option<String>,
    gas: Option<String>,
    gas_price: Option<String>,
    max_fee_per_gas: Option<String>,
    max_priority_fee_per_gas: Option<String>,
    chain_id: Option<String>,
}

impl SimulatedChain {
    /// The play accounts that have coins from the start, by their numbers.
    pub fn play_keys(&self) -> Vec<SimulatedKey> {
        let keys = (0..self.config.funded.len() as u64).map(|number| SimulatedKey::derived(self.config.seed, number));
        let is_funded = |key: &SimulatedKey| {
            let address = key.address();
            self.config.funded.iter().any(|(funded, _)| *funded == address)
        };
        keys.filter(is_funded).collect()
    }

    pub(super) fn accounts(&self) -> Value {
        self.play_keys().iter().map(|key| json!(key.address())).collect()
    }

    /// `eth_sendTransaction`: fills in what is missing, signs, and sends.
    pub(super) fn send_unlocked(
        &mut self,
        node: usize,
        view: View,
        params: &Params<'_>,
    ) -> Result<Value, RpcErrorBody> {
        let wanted = params.get(0).ok_or_else(|| RpcErrorBody::missing(0))?;
        let request = SendParams::deserialize(wanted).map_err(|_| RpcErrorBody::invalid(0, "want a transaction"))?;
        let from = request.from.ok_or_else(|| RpcErrorBody::invalid(0, "want the sender in `from`"))?;
        let seen = self.seen_by(node);
        let key = self.play_keys().into_iter().find(|key| key.address() == from);
        let key =
            key.ok_or_else(|| RpcErrorBody::server(format!("unknown account {from}: it is not unlocked here")))?;
        let chain_id = number(request.chain_id.as_deref())?.unwrap_or(self.config.chain_id);
        let nonce = match number(request.nonce.as_deref())? {
            Some(nonce) => nonce,
            None => seen.pool.next_nonce(from, seen.state.nonces.get(from)),
        };
        let gas = match number(request.gas.as_deref())? {
            Some(gas) => gas,
            None => number(seen.estimate_gas(view, params)?.as_str())?.unwrap_or_default(),
        };
        let price = number::<u128>(request.gas_price.as_deref())?;
        let (tip, max_fee) = (
            number::<u128>(request.max_priority_fee_per_gas.as_deref())?,
            number::<u128>(request.max_fee_per_gas.as_deref())?,
        );
        let usual_tip = tip.unwrap_or_else(|| seen.usual_tip(view).max(1));
        // Enough for six full blocks in a row, after which the base fee has doubled.
        let usual_max = u128::from(seen.coming_base_fee()).saturating_mul(2).saturating_add(usual_tip);
        let max_fee = price.or(max_fee).unwrap_or(usual_max);
        let payment = Payment {
            chain_id,
            nonce,
            to: request.to,
            value: number::<U256>(request.value.as_deref())?.unwrap_or_default(),
            input: request.input.or(request.data).unwrap_or_default(),
            gas,
            max_fee,
            tip: tip.unwrap_or_else(|| usual_tip.min(max_fee)),
        };
        let raw = if price.is_some() { key.sign_legacy(&payment) } else { key.sign(&payment) };
        self.submit(node, &raw)
    }
}

fn number<T: TryFrom<U256>>(text: Option<&str>) -> Result<Option<T>, RpcErrorBody> {
    let Some(text) = text else { return Ok(None) };
    let read = quantity(text).and_then(|number| T::try_from(number).ok());
    read.map(Some).ok_or_else(|| RpcErrorBody::invalid(0, "want numbers in hex, such as 0x5208"))
}
