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
    contracts::{self, Call},
    execute::intrinsic_gas,
    machine::{CallContext, Failure, Machine, MachineOutcome},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallParams {
    #[serde(default)]
    from: Address,
    to: Option<Address>,
    value: Option<String>,
    gas_price: Option<String>,
    max_fee_per_gas: Option<String>,
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
        let (_, ran, _) = self.tried(view, params)?;
        ran.result.map(|output| json!(output)).map_err(failed)
    }

    pub(super) fn estimate_gas(&self, view: View, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let (call, ran, number) = self.tried(view, params)?;
        if self.state.coins.at(call.from, number) < call.value {
            return Err(RpcErrorBody::server("insufficient funds for transfer"));
        }
        match ran.result {
            Ok(_) => {}
            Err(Failure::OutOfGas) => {
                let allowed = self.config.gas_limit;
                return Err(RpcErrorBody::server(format!("gas required exceeds allowance ({allowed})")));
            }
            Err(failure) => return Err(failed(failure)),
        }
        let (before, floor) = intrinsic_gas(&call.input, (0, 0));
        Ok(show::quantity(before.saturating_add(ran.gas_used).max(floor)))
    }

    /// Runs a call on the state of a block, and keeps nothing of it.
    fn tried(&self, view: View, params: &Params<'_>) -> Result<(Call, MachineOutcome, u64), RpcErrorBody> {
        let wanted = params.get(0).ok_or_else(|| RpcErrorBody::missing(0))?;
        let request = CallParams::deserialize(wanted).map_err(|_| RpcErrorBody::invalid(0, "want a call"))?;
        let to = request.to.ok_or_else(|| RpcErrorBody::server("contract creation is not supported by this chain"))?;
        let value = match request.value {
            Some(text) => quantity(&text).ok_or_else(|| RpcErrorBody::invalid(0, "want a value in hex"))?,
            None => U256::ZERO,
        };
        let number = self.state_at(view, params.block_or_latest(1)?)?;
        let call = Call { from: request.from, to, value, input: request.input.or(request.data).unwrap_or_default() };
        let price = request.gas_price.or(request.max_fee_per_gas);
        let price = match price {
            Some(text) => quantity(&text).ok_or_else(|| RpcErrorBody::invalid(0, "want a price of gas in hex"))?,
            None => U256::ZERO,
        };
        let logs_coins = self.config.transfer_logs_from.is_some();
        let context = CallContext { gas_price: price.saturating_to(), logs_coins };
        let ran = Machine::new(&self.state, number, context, self.config.gas_limit).run(&call);
        Ok((call, ran, number))
    }
}

fn failed(failure: Failure) -> RpcErrorBody {
    match failure {
        Failure::OutOfGas => RpcErrorBody::server("out of gas"),
        Failure::NoCoins => RpcErrorBody::server("insufficient funds for transfer"),
        Failure::TooDeep => RpcErrorBody::server("max call depth exceeded"),
        Failure::Reverted => RpcErrorBody::reverted(),
    }
}
