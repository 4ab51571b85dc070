//! Executes one transaction in one block.
//!
//! Guarantees: a transaction that is not valid in the block changes nothing; a valid one that fails is still included
//! and pays for its gas. Gas of plain transfers, call data and access lists is what Ethereum charges since EIP-7623.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, Log, U256};

use crate::{
    contracts::Call,
    machine::{CallContext, CallFrame, Machine},
    state::State,
    transaction::SimulatedTransaction,
};

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

/// The block that a transaction is executed in.
#[derive(Clone, Copy, Debug)]
pub struct BlockContext {
    pub number: u64,
    pub base_fee: u64,
    pub producer: Address,
    /// Whether each move of coins has a log.
    pub logs_coins: bool,
}

/// Runs a transaction as the next one of a block.
pub fn execute(
    state: &mut State,
    block: BlockContext,
    transaction: &SimulatedTransaction,
) -> Result<ExecutionOutcome, NotExecutable> {
    let BlockContext { number, base_fee, producer, logs_coins } = block;
    let (envelope, sender) = (&transaction.envelope, transaction.sender);
    let to = transaction.to().ok_or(NotExecutable)?;
    let tip = transaction.tip_at(base_fee).ok_or(NotExecutable)?;
    let (before, floor) = intrinsic_gas_of(transaction);
    let limit = envelope.gas_limit();
    let enough_gas = limit >= before.max(floor);
    let covered = state.coins.get(sender) >= transaction.cost();
    if state.nonces.get(sender) != envelope.nonce() || !enough_gas || !covered {
        return Err(NotExecutable);
    }
    let next = envelope.nonce().checked_add(1).ok_or(NotExecutable)?;

    // All gas is paid for first; what is left is returned. The order of these writes is part of the state root.
    state.nonces.set(sender, number, next);
    let price = u128::from(base_fee).saturating_add(tip);
    let paid = state.take(number, sender, wei(limit, price)) && state.give(number, producer, U256::ZERO);
    let call = Call { from: sender, to, value: envelope.value(), input: envelope.input().clone() };
    let context = CallContext { gas_price: price, logs_coins };
    let ran = Machine::new(state, number, context, limit.saturating_sub(before)).run(&call);
    ran.writes.into_iter().for_each(|(key, value)| state.set(number, key, value));
    let gas_used = before.saturating_add(ran.gas_used).max(floor);
    let returned = state.give(number, sender, wei(limit.saturating_sub(gas_used), price));
    let settled = returned && state.give(number, producer, wei(gas_used, tip));
    assert!(paid && settled, "bug: gas was covered by the highest price");
    Ok(ExecutionOutcome { success: ran.result.is_ok(), gas_used, logs: ran.logs, frames: ran.frames })
}

fn wei(gas: u64, price: u128) -> U256 {
    U256::from(gas).saturating_mul(U256::from(price))
}
