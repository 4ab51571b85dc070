//! Divides what it is sent.

use alloy_primitives::{Bytes, U256};

use super::{Call, SPLITTER, abi};
use crate::machine::{Failure, Machine};

/// Equal shares, the remainder to the first. Refused shares stay in the contract, as in real contracts that do not
/// check whether a send succeeded.
pub fn run(machine: &mut Machine<'_>, call: &Call) -> Result<Bytes, Failure> {
    let payees = abi::split_payees(&call.input).unwrap_or_default();
    machine.burn(2_000_u64.saturating_add((payees.len() as u64).saturating_mul(9_000)))?;
    let count = U256::from(payees.len());
    let (Some(share), Some(rest)) = (call.value.checked_div(count), call.value.checked_rem(count)) else {
        return Err(Failure::Reverted);
    };
    for (place, to) in payees.into_iter().enumerate() {
        let value = if place == 0 { share.saturating_add(rest) } else { share };
        let _ = machine.send(SPLITTER, to, value);
    }
    Ok(Bytes::new())
}
