//! Contracts that do something else when a block runs them than when they were asked before.

use alloy_primitives::{Bytes, U256};

use super::{Call, MOODY, abi};
use crate::{
    machine::{Failure, Machine},
    state::StateKey,
};

const IS_OFF: StateKey = StateKey::Word(MOODY, U256::ZERO);

pub fn fickle(machine: &mut Machine<'_>) -> Result<Bytes, Failure> {
    let needed = if machine.context.gas_price == 0 { 2_300 } else { u64::MAX };
    machine.burn(needed)?;
    Ok(Bytes::new())
}

pub fn moody(machine: &mut Machine<'_>, call: &Call) -> Result<Bytes, Failure> {
    machine.burn(2_300)?;
    if let Some((name, arguments)) = abi::words(&call.input)
        && let [on] = arguments[..]
        && name == abi::selector("switch(bool)")
    {
        machine.set(IS_OFF, U256::from(u8::from(on.is_zero())));
        return Ok(Bytes::new());
    }
    if machine.get(IS_OFF).is_zero() { Ok(Bytes::new()) } else { Err(Failure::Reverted) }
}
