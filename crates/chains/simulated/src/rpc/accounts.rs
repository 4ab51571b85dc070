//! Accounts at a block: coins, transaction counts, code, and calls that change nothing.

use alloy_primitives::{Address, Bytes, U256};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    View,
    error::RpcErrorBody,
    params::{BlockParam, Params, quantity},
    show,
};
use crate::{
    chain::SimulatedChain,
    contracts::{self, Call, ContractPlan},
    execute::intrinsic_gas,
};

#[derive(Deserialize)]
struct CallParams {
    #[serde(default)]
    from: Address,
    to: Option<Address>,
    value: Option<String>,
    /// Some clients send both names.
    input: Option<Bytes>,
    data: Option<Bytes>,
}

impl SimulatedChain {
    pub(super) fn get_balance(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let (address, at) = (params.address(0)?, params.block_or_latest(1)?);
        Ok(show::quantity(self.state.coins.at(address, self.state_at(view, at)?)))
    }

    pub(super) fn get_transaction_count(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let (address, at) = (params.address(0)?, params.block_or_latest(1)?);
        let counted = self.state.nonces.at(address, self.state_at(view, at)?);
        Ok(show::quantity(if at == BlockParam::Pending { self.pool.next_nonce(address, counted) } else { counted }))
    }

    pub(super) fn get_code(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let (address, at) = (params.address(0)?, params.block_or_latest(1)?);
        self.state_at(view, at)?;
        // Built in: the code is only a placeholder.
        Ok(if contracts::is_contract(address) { "0xfe" } else { "0x" }.into())
    }

    pub(super) fn eth_call(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let (_, plan, _) = self.planned(view, params)?;
        if plan.reverted { Err(RpcErrorBody::reverted()) } else { Ok(json!(plan.output)) }
    }

    pub(super) fn estimate_gas(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let (call, plan, number) = self.planned(view, params)?;
        if self.state.coins.at(call.from, number) < call.value {
            return Err(RpcErrorBody::server("insufficient funds for transfer"));
        }
        if plan.reverted {
            return Err(RpcErrorBody::reverted());
        }
        let (before, floor) = intrinsic_gas(&call.input, (0, 0));
        Ok(show::quantity(before.saturating_add(plan.gas).max(floor)))
    }

    fn planned(&self, view: View, params: &Params<'_>) -> Result<(Call, ContractPlan, u64), RpcErrorBody> {
        let wanted = params.get(0).ok_or_else(|| RpcErrorBody::missing(0))?;
        let request = CallParams::deserialize(wanted).map_err(|_| RpcErrorBody::invalid(0, "want a call"))?;
        let to = request.to.ok_or_else(|| RpcErrorBody::server("contract creation is not supported by this chain"))?;
        let value = match request.value {
            Some(text) => quantity(&text).ok_or_else(|| RpcErrorBody::invalid(0, "want a value in hex"))?,
            None => U256::ZERO,
        };
        let number = self.state_at(view, params.block_or_latest(1)?)?;
        let call = Call { from: request.from, to, value, input: request.input.or(request.data).unwrap_or_default() };
        let plan = contracts::plan(&self.state, number, &call);
        Ok((call, plan, number))
    }
}
