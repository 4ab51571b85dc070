//! Control methods that begin with `sim_`, for a chain that is served to other programs.
//!
//! | method | parameters | answer |
//! | --- | --- | --- |
//! | `sim_mine` | how many blocks (1), time of the first | the new head |
//! | `sim_reorg` | depth, length (depth), `kept`, `dropped`, `returned` or `reordered` (`dropped`) | the last block that stayed |
//! | `sim_adopt` | hash of an orphaned block | the last block that stayed |
//! | `sim_setBaseFee` | wei | null |
//! | `sim_inject` | fault, how often (1), node (0) | null |
//! | `sim_lag` | blocks, node (0) | null |
//! | `sim_crash` | whether the mempool is kept (true), node (0) | null |
//! | `sim_restart` | node (0) | null |
//! | `sim_faults` | | how often each fault happened |
//! | `sim_contracts` | | the built-in contracts |
//!
//! `evm_mine`, `anvil_mine` and `hardhat_mine` make blocks, too, for tools that know other development nodes.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    error::RpcErrorBody,
    params::{self, Params},
    show,
};
use crate::{
    chain::SimulatedChain,
    contracts,
    fault::NodeFault,
    reorg::{Fate, Reorg},
};

/// The most blocks made by one command.
const BLOCKS_MAX: u64 = 10_000;

impl SimulatedChain {
    pub(super) fn command(&mut self, command: &str, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let number = |place, otherwise| match params.get(place) {
            Some(_) => params.number(place),
            None => Ok(otherwise),
        };
        let node = |place| number(place, 0).map(|node| usize::try_from(node).unwrap_or(usize::MAX));
        match command {
            "mine" => {
                let (count, time) = (bounded(number(0, 1)?)?, number(1, self.next_time())?);
                self.mine_several(count, time);
                Ok(show::quantity(self.head().number()))
            }
            "reorg" => {
                let depth = bounded(params.number(0)?)?;
                let (length, fate) = (bounded(number(1, depth)?)?, read(params, 2, Fate::Dropped)?);
                Ok(show::quantity(self.reorg(Reorg { depth, length, fate })))
            }
            "adopt" => {
                let fork = self.adopt(params.hash(0)?).map_err(|error| RpcErrorBody::server(error.to_string()))?;
                Ok(show::quantity(fork))
            }
            "setBaseFee" => {
                self.set_base_fee(params.number(0)?);
                Ok(Value::Null)
            }
            "inject" => {
                let fault = NodeFault::deserialize(params.get(0).ok_or_else(|| RpcErrorBody::missing(0))?);
                let fault = fault.map_err(|error| RpcErrorBody::invalid(0, &error.to_string()))?;
                let times = u32::try_from(number(1, 1)?).map_err(|_| RpcErrorBody::invalid(1, "too often"))?;
                self.inject(node(2)?, fault, times);
                Ok(Value::Null)
            }
            "lag" => {
                self.lag(node(1)?, params.number(0)?);
                Ok(Value::Null)
            }
            "crash" => {
                self.crash(node(1)?, read(params, 0, true)?);
                Ok(Value::Null)
            }
            "restart" => {
                self.restart(node(0)?);
                Ok(Value::Null)
            }
            "faults" => Ok(self.faults().iter().map(|(fault, count)| json!([fault, count])).collect()),
            "contracts" => {
                let named = contracts::ALL.iter().map(|(name, address, _)| ((*name).to_owned(), json!(address)));
                Ok(Value::Object(named.collect()))
            }
            _ => Err(RpcErrorBody::no_method(&format!("sim_{command}"))),
        }
    }
}

#[derive(Default, Deserialize)]
struct MineOptions {
    timestamp: Option<Value>,
    blocks: Option<Value>,
}

impl SimulatedChain {
    /// `evm_mine` takes a time, or `{blocks, timestamp}`; `anvil_mine` and `hardhat_mine` take the number of blocks.
    pub(super) fn mine_on_command(&mut self, method: &str, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let given = params.get(0);
        let options = match given {
            Some(options @ Value::Object(_)) => {
                MineOptions::deserialize(options).map_err(|_| RpcErrorBody::invalid(0, "want options of evm_mine"))?
            }
            Some(time) if method == "evm_mine" => {
                MineOptions { timestamp: Some(time.clone()), ..MineOptions::default() }
            }
            blocks => MineOptions { blocks: blocks.cloned(), ..MineOptions::default() },
        };
        let read = |value: Option<Value>| {
            value
                .map(|value| params::number(&value).ok_or_else(|| RpcErrorBody::invalid(0, "want a number")))
                .transpose()
        };
        let count = bounded(read(options.blocks)?.unwrap_or(1))?;
        let time = read(options.timestamp)?.unwrap_or_else(|| self.next_time());
        self.mine_several(count, time);
        Ok(show::quantity(0_u8))
    }

    fn mine_several(&mut self, count: u64, time: u64) {
        for step in 0..count {
            let time = if step == 0 { time } else { self.next_time() };
            self.mine(time);
        }
    }
}

fn bounded(blocks: u64) -> Result<u64, RpcErrorBody> {
    let why = || RpcErrorBody::params("at most 10000 blocks at once");
    (blocks <= BLOCKS_MAX).then_some(blocks).ok_or_else(why)
}

fn read<T: serde::de::DeserializeOwned>(params: &Params<'_>, place: usize, otherwise: T) -> Result<T, RpcErrorBody> {
    let Some(value) = params.get(place) else { return Ok(otherwise) };
    T::deserialize(value).map_err(|error| RpcErrorBody::invalid(place, &error.to_string()))
}
