//! Executes one transaction in one block.
//!
//! Guarantees: a transaction that is not valid in the block changes nothing; a valid one that fails is still included
//! and pays for its gas. Gas of plain transfers, call data and access lists is what Ethereum charges since EIP-7623.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, Bytes, Log, U256};

use crate::{
    contracts::{self, Call},
    state::State,
    transaction::SimulatedTransaction,
};

/// One call in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFrame {
    /// The path in the tree of calls: empty for the transaction itself, then the index at each level.
    pub path: Vec<usize>,
    pub from: Address,
    pub to: Address,
    /// In wei, if it was not reverted.
    pub value: U256,
    pub input: Bytes,
    pub reverted: bool,
}

#[derive(Clone, Debug)]
pub struct ExecutionOutcome {
    pub success: bool,
    pub gas_used: u64,
    pub logs: Vec<Log>,
    pub frames: Vec<CallFrame>,
}

/// The transaction is not valid at this position of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotExecutable;

/// The intrinsic gas of a transaction, and its floor.
pub fn intrinsic_gas(input: &[u8], access_list: (u64, u64)) -> (u64, u64) {
    let zeros = input.iter().filter(|byte| **byte == 0).count() as u64;
    let others = (input.len() as u64).saturating_sub(zeros);
    let tokens = zeros.saturating_add(others.saturating_mul(4));
    let (addresses, keys) = access_list;
    let listed = addresses.saturating_mul(2_400).saturating_add(keys.saturating_mul(1_900));
    let before = 21_000_u64.saturating_add(tokens.saturating_mul(4)).saturating_add(listed);
    (before, 21_000_u64.saturating_add(tokens.saturating_mul(10)))
}

pub fn intrinsic_gas_of(transaction: &SimulatedTransaction) -> (u64, u64) {
    let list = transaction.envelope.access_list();
    let counts = list.map_or((0, 0), |list| {
        let keys: usize = list.iter().map(|item| item.storage_keys.len()).sum();
        (list.len() as u64, keys as u64)
    });
    intrinsic_gas(transaction.envelope.input(), counts)
}

/// Runs a transaction as the next one of block `number`.
pub fn execute(
    state: &mut State,
    number: u64,
    transaction: &SimulatedTransaction,
    base_fee: u64,
    producer: Address,
) -> Result<ExecutionOutcome, NotExecutable> {
    let (envelope, sender) = (&transaction.envelope, transaction.sender);
    let to = transaction.to().ok_or(NotExecutable)?;
    let tip = transaction.tip_at(base_fee).ok_or(NotExecutable)?;
    let (before, floor) = intrinsic_gas_of(transaction);
    let enough_gas = envelope.gas_limit() >= before.max(floor);
    let covered = state.coins.get(sender) >= transaction.cost();
    if state.nonces.get(sender) != envelope.nonce() || !enough_gas || !covered {
        return Err(NotExecutable);
    }
    let next = envelope.nonce().checked_add(1).ok_or(NotExecutable)?;
    let call = Call { from: sender, to, value: envelope.value(), input: envelope.input().clone() };
    let plan = contracts::plan(state, number, &call);
    let needed = before.saturating_add(plan.gas).max(floor);
    let out_of_gas = needed > envelope.gas_limit();
    let gas_used = needed.min(envelope.gas_limit());
    let success = !plan.reverted && !out_of_gas;

    state.nonces.set(sender, number, next);
    let price = u128::from(base_fee).saturating_add(tip);
    let paid = state.take(number, sender, wei(gas_used, price)) && state.give(number, producer, wei(gas_used, tip));
    assert!(paid, "bug: gas was covered by the highest price");
    let root =
        CallFrame { path: Vec::new(), from: sender, to, value: call.value, input: call.input, reverted: !success };
    if !success {
        return Ok(ExecutionOutcome { success, gas_used, logs: Vec::new(), frames: vec![root] });
    }
    contracts::carry_out(state, number, &plan.moves);
    let frames = std::iter::once(root).chain(plan.inner).collect();
    Ok(ExecutionOutcome { success, gas_used, logs: plan.logs, frames })
}

fn wei(gas: u64, price: u128) -> U256 {
    U256::from(gas).saturating_mul(U256::from(price))
}
