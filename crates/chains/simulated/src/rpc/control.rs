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
//! | `sim_setFinality` | distances of `safe` and of `finalized` from the head | null |
//! | `sim_setProducer` | who gets the tips of later blocks | null |
//! | `sim_withdraw` | address, gwei: in the next block, from the consensus layer | null |
//! | `sim_mintCoins` | address, wei: in the next block, from nowhere | null |
//! | `sim_script` | steps of the contract `script` | the call data |
//! | `sim_split` | node, depth, length (0), fate (`returned`): a branch of its own | the branch's head |
//! | `sim_mineBranch` | node, how many blocks (1), hashes of transactions that are left out | the branch's head |
//! | `sim_rejoin` | node | null |
//! | `sim_lie` | lie, how often or `always` (1), node (0) | null |
//! | `sim_switchOff`, `sim_switchOn` | `flatTraces`, `traces` or `blockReceipts`, node (0) | null |
//! | `sim_heal` | node (0) | null |
//! | `sim_lies` | | how often each lie was given |
//!
//! `evm_mine`, `anvil_mine` and `hardhat_mine` make blocks, too, for tools that know other development nodes.

use alloy_primitives::B256;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    error::RpcErrorBody,
    params::{self, Params},
    show,
};
use crate::{
    chain::SimulatedChain,
    contracts::{self, ScriptStep},
    fault::NodeFault,
    lie::{NodeCapability, NodeLie},
    nodes::UNTIL_HEALED,
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
                self.inject(node(params, 2)?, fault, times);
                Ok(Value::Null)
            }
            "lag" => {
                self.lag(node(params, 1)?, params.number(0)?);
                Ok(Value::Null)
            }
            "crash" => {
                self.crash(node(params, 1)?, read(params, 0, true)?);
                Ok(Value::Null)
            }
            "restart" => {
                self.restart(node(params, 0)?);
                Ok(Value::Null)
            }
            "faults" => Ok(self.faults().iter().map(|(fault, count)| json!([fault, count])).collect()),
            "contracts" => {
                let named = contracts::ALL.iter().map(|(name, address, _)| ((*name).to_owned(), json!(address)));
                Ok(Value::Object(named.collect()))
            }
            _ => self.command_a_node(command, params).unwrap_or_else(|| self.command_a_block(command, params)),
        }
    }

    /// What the next blocks do besides transactions.
    fn command_a_block(&mut self, command: &str, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        match command {
            "setFinality" => self.set_finality(params.number(0)?, params.number(1)?),
            "setProducer" => self.set_producer(params.address(0)?),
            "withdraw" => self.withdraw(params.address(0)?, params.number(1)?),
            "mintCoins" => {
                let wei = params.get(1).and_then(Value::as_str).and_then(params::quantity);
                let wei = wei.ok_or_else(|| RpcErrorBody::invalid(1, "want an amount of wei in hex"))?;
                self.mint_coins(params.address(0)?, wei);
            }
            "script" => return Ok(json!(contracts::script_call(&needed::<Vec<ScriptStep>>(params, 0)?))),
            _ => return Err(RpcErrorBody::no_method(&format!("sim_{command}"))),
        }
        Ok(Value::Null)
    }

    /// Branches, lies and missing methods of a node; `None` if the command is another one.
    fn command_a_node(&mut self, command: &str, params: &Params<'_>) -> Option<Result<Value, RpcErrorBody>> {
        let done = match command {
            "split" => self.split_on_command(params),
            "mineBranch" => self.mine_branch(params),
            "rejoin" => node(params, 0).map(|node| self.rejoin(node)).map(|()| Value::Null),
            "lie" => self.lie_on_command(params),
            "switchOff" | "switchOn" => self.switch_on_command(params, command == "switchOn"),
            "heal" => node(params, 0).map(|node| self.heal(node)).map(|()| Value::Null),
            "lies" => Ok(json!(self.lies_told())),
            _ => return None,
        };
        Some(done)
    }

    fn split_on_command(&mut self, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let (node, depth) = (node(params, 0)?, bounded(params.number(1)?)?);
        let length = if params.get(2).is_some() { bounded(params.number(2)?)? } else { 0 };
        let fate = read(params, 3, Fate::Returned)?;
        self.split_off(node, Reorg { depth, length, fate });
        Ok(show::quantity(self.seen_by(node).head().number()))
    }

    fn mine_branch(&mut self, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let count = if params.get(1).is_some() { bounded(params.number(1)?)? } else { 1 };
        let without: Vec<B256> = read(params, 2, Vec::new())?;
        let branch = self.branch(node(params, 0)?);
        let branch = branch.ok_or_else(|| RpcErrorBody::server("this node is on the common chain"))?;
        for _ in 0..count {
            let time = branch.next_time();
            branch.mine_if(time, |transaction| !without.contains(&transaction.hash));
        }
        Ok(show::quantity(branch.head().number()))
    }

    fn lie_on_command(&mut self, params: &Params<'_>) -> Result<Value, RpcErrorBody> {
        let times = match params.get(1) {
            None => 1,
            Some(always) if always == "always" => UNTIL_HEALED,
            Some(_) => u32::try_from(params.number(1)?).map_err(|_| RpcErrorBody::invalid(1, "too often"))?,
        };
        self.lie_from(node(params, 2)?, needed::<NodeLie>(params, 0)?, times);
        Ok(Value::Null)
    }

    fn switch_on_command(&mut self, params: &Params<'_>, on: bool) -> Result<Value, RpcErrorBody> {
        let (capability, node) = (needed::<NodeCapability>(params, 0)?, node(params, 1)?);
        if on {
            self.switch_on(node, capability)
        } else {
            self.switch_off(node, capability)
        }
        Ok(Value::Null)
    }
}

fn node(params: &Params<'_>, place: usize) -> Result<usize, RpcErrorBody> {
    let number = if params.get(place).is_some() { params.number(place)? } else { 0 };
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

fn needed<T: serde::de::DeserializeOwned>(params: &Params<'_>, place: usize) -> Result<T, RpcErrorBody> {
    let value = params.get(place).ok_or_else(|| RpcErrorBody::missing(place))?;
    T::deserialize(value).map_err(|error| RpcErrorBody::invalid(place, &error.to_string()))
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
