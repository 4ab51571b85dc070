//! A contract that runs the steps named in its call: any tree of calls that real contracts make, without bytecode.
//!
//! Guarantees: whatever bytes it is called with, it runs them or reverts. Scripts nest at most [`NESTED_MAX`] deep in
//! one call.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde::{Deserialize, Serialize};

use super::{Call, SCRIPT, abi, transfer_call};
use crate::{
    machine::{DEPTH_MAX, Failure, FrameKind, Machine},
    state::StateKey,
};

const NESTED_MAX: usize = 16;

/// Gas of a call without coins: it also bounds the frames of a block.
const CALL_GAS: u64 = 700;

/// What the contract does next. A failure that nothing catches fails the whole call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ScriptStep {
    /// Sends coins; a refusal is ignored.
    Send {
        to: Address,
        value: U256,
    },
    /// Calls a contract; its failure is this contract's, too.
    Call {
        to: Address,
        value: U256,
        input: Bytes,
    },
    /// A frame that names address and value, and moves nothing.
    CallCode {
        to: Address,
        value: U256,
    },
    /// A frame that names the address and this call's own value, and moves nothing.
    DelegateCall {
        to: Address,
    },
    /// Makes an account with coins, which takes these steps while it is made.
    Create {
        value: U256,
        steps: Vec<ScriptStep>,
    },
    /// Sends all coins of this contract, and ends this call.
    SelfDestruct {
        to: Address,
    },
    /// Calls itself for these steps; their failure is caught and undone.
    Try {
        steps: Vec<ScriptStep>,
    },
    /// Calls itself, so many calls deep, and takes these steps in the innermost one.
    Nest {
        depth: u16,
        steps: Vec<ScriptStep>,
    },
    Log {
        topics: Vec<B256>,
        data: Bytes,
    },
    Revert,
    /// Uses up all gas of this call.
    BurnGas,
}

/// Call data of the script contract.
pub fn script_call(steps: &[ScriptStep]) -> Bytes {
    let mut bytes = abi::selector("run(bytes)").to_vec();
    write_steps(&mut bytes, steps);
    bytes.into()
}

/// Call data of the script contract: transfers of a token that it holds, in one transaction.
pub fn batch_call(token: Address, payments: &[(Address, U256)]) -> Bytes {
    let step = |(to, amount): &(Address, U256)| {
        let input = transfer_call(*to, *amount);
        ScriptStep::Call { to: token, value: U256::ZERO, input }
    };
    script_call(&payments.iter().map(step).collect::<Vec<_>>())
}

pub fn run(machine: &mut Machine<'_>, call: &Call) -> Result<Bytes, Failure> {
    machine.burn(2_000)?;
    if call.input.is_empty() {
        // It can be given coins for later.
        return Ok(Bytes::new());
    }
    let mut left = call.input.strip_prefix(&abi::selector("run(bytes)")).ok_or(Failure::Reverted)?;
    let steps = read_steps(&mut left, 0).filter(|_| left.is_empty()).ok_or(Failure::Reverted)?;
    take(machine, ScriptPlace { this: SCRIPT, value: call.value }, &steps).map(|_| Bytes::new())
}

/// Whose steps they are, and the value of the call that they are part of.
#[derive(Clone, Copy)]
struct ScriptPlace {
    this: Address,
    value: U256,
}

/// Whether the call goes on after these steps.
enum Flow {
    GoesOn,
    Ends,
}

fn take(machine: &mut Machine<'_>, place: ScriptPlace, steps: &[ScriptStep]) -> Result<Flow, Failure> {
    for step in steps {
        if matches!(machine.deeper(|machine| take_one(machine, place, step))?, Flow::Ends) {
            return Ok(Flow::Ends);
        }
    }
    Ok(Flow::GoesOn)
}

fn take_one(machine: &mut Machine<'_>, place: ScriptPlace, step: &ScriptStep) -> Result<Flow, Failure> {
    let this = place.this;
    match step {
        ScriptStep::Send { to, value } => {
            machine.burn(9_000)?;
            let _ = machine.send(this, *to, *value);
        }
        ScriptStep::Call { to, value, input } => {
            machine.burn(9_000)?;
            machine.call(&Call { from: this, to: *to, value: *value, input: input.clone() })?;
        }
        ScriptStep::CallCode { to, value } => foreign(machine, this, *to, FrameKind::CallCode, *value)?,
        ScriptStep::DelegateCall { to } => foreign(machine, this, *to, FrameKind::DelegateCall, place.value)?,
        ScriptStep::Create { value, steps } => create(machine, this, *value, steps)?,
        ScriptStep::SelfDestruct { to } => {
            machine.burn(5_000)?;
            let value = machine.get(StateKey::Coins(this));
            machine.enter(FrameKind::SelfDestruct, this, *to, value, Bytes::new());
            let moved = machine.move_coins(this, *to, value);
            machine.leave(moved.err());
            return Ok(Flow::Ends);
        }
        ScriptStep::Try { steps } => {
            let _ = own_call(machine, this, steps);
        }
        ScriptStep::Nest { depth, steps } => nest(machine, this, usize::from(*depth), steps)?,
        ScriptStep::Log { topics, data } => {
            machine.burn(1_000)?;
            machine.log(this, topics.clone(), data.clone());
        }
        ScriptStep::Revert => return Err(Failure::Reverted),
        ScriptStep::BurnGas => {
            // A call gives at most 63 of 64 parts of its gas to another.
            let kept = if machine.depth() == 0 { 0 } else { machine.gas_left() >> 6 };
            machine.burn(machine.gas_left().saturating_sub(kept))?;
            return Err(Failure::OutOfGas);
        }
    }
    Ok(Flow::GoesOn)
}

/// Code of another account that runs here: it moves nothing.
fn foreign(machine: &mut Machine<'_>, this: Address, to: Address, kind: FrameKind, value: U256) -> Result<(), Failure> {
    machine.burn(9_000)?;
    let covered = kind == FrameKind::DelegateCall || machine.get(StateKey::Coins(this)) >= value;
    machine.enter(kind, this, to, value, Bytes::new());
    machine.leave((!covered).then_some(Failure::NoCoins));
    Ok(())
}

fn own_call(machine: &mut Machine<'_>, this: Address, steps: &[ScriptStep]) -> Result<(), Failure> {
    machine.burn(CALL_GAS)?;
    machine.enter(FrameKind::Call, this, this, U256::ZERO, Bytes::new());
    let result = take(machine, ScriptPlace { this, value: U256::ZERO }, steps);
    machine.leave(result.as_ref().err().copied());
    result.map(drop)
}

fn create(machine: &mut Machine<'_>, this: Address, value: U256, steps: &[ScriptStep]) -> Result<(), Failure> {
    machine.burn(32_000)?;
    let nonce = machine.get(StateKey::Nonce(this)).max(U256::ONE);
    let made = this.create(nonce.saturating_to());
    machine.set(StateKey::Nonce(this), nonce.saturating_add(U256::ONE));
    machine.enter(FrameKind::Create, this, made, value, Bytes::from_static(&[0x00]));
    let moved = machine.move_coins(this, made, value);
    let result = moved.and_then(|()| take(machine, ScriptPlace { this: made, value }, steps).map(drop));
    machine.leave(result.err());
    // As CREATE does: a failure is a zero on the stack, and the caller goes on.
    Ok(())
}

/// One loop instead of calls of Rust, so that a thousand calls need no deep stack.
fn nest(machine: &mut Machine<'_>, this: Address, depth: usize, steps: &[ScriptStep]) -> Result<(), Failure> {
    let mut opened = 0_usize;
    let mut result = Ok(());
    while opened < depth && result.is_ok() {
        result = if machine.depth() >= DEPTH_MAX { Err(Failure::TooDeep) } else { machine.burn(CALL_GAS) };
        machine.enter(FrameKind::Call, this, this, U256::ZERO, Bytes::new());
        opened = opened.saturating_add(1);
    }
    let result = result.and_then(|()| take(machine, ScriptPlace { this, value: U256::ZERO }, steps).map(drop));
    (0..opened).for_each(|_| machine.leave(result.err()));
    result
}

fn write_steps(bytes: &mut Vec<u8>, steps: &[ScriptStep]) {
    // Longer scripts than this do not fit into a block's gas.
    let count = u16::try_from(steps.len()).unwrap_or(u16::MAX);
    bytes.extend(count.to_be_bytes());
    steps.iter().take(usize::from(count)).for_each(|step| write_step(bytes, step));
}

fn write_step(bytes: &mut Vec<u8>, step: &ScriptStep) {
    let word = |value: &U256| value.to_be_bytes::<32>();
    match step {
        ScriptStep::Send { to, value } => bytes.extend([&[0], to.as_slice(), &word(value)].concat()),
        ScriptStep::Call { to, value, input } => {
            bytes.extend([&[1], to.as_slice(), &word(value)].concat());
            write_bytes(bytes, input);
        }
        ScriptStep::CallCode { to, value } => bytes.extend([&[2], to.as_slice(), &word(value)].concat()),
        ScriptStep::DelegateCall { to } => bytes.extend([&[3], to.as_slice()].concat()),
        ScriptStep::Create { value, steps } => {
            bytes.extend([&[4], &word(value)[..]].concat());
            write_steps(bytes, steps);
        }
        ScriptStep::SelfDestruct { to } => bytes.extend([&[5], to.as_slice()].concat()),
        ScriptStep::Try { steps } => {
            bytes.push(6);
            write_steps(bytes, steps);
        }
        ScriptStep::Nest { depth, steps } => {
            bytes.push(7);
            bytes.extend(depth.to_be_bytes());
            write_steps(bytes, steps);
        }
        ScriptStep::Log { topics, data } => {
            let topics = topics.get(..4).unwrap_or(topics);
            bytes.extend([8, topics.len() as u8]);
            topics.iter().for_each(|topic| bytes.extend(topic));
            write_bytes(bytes, data);
        }
        ScriptStep::Revert => bytes.push(9),
        ScriptStep::BurnGas => bytes.push(10),
    }
}

fn write_bytes(bytes: &mut Vec<u8>, data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    bytes.extend(length.to_be_bytes());
    bytes.extend(data);
}

fn read_steps(left: &mut &[u8], nested: usize) -> Option<Vec<ScriptStep>> {
    if nested > NESTED_MAX {
        return None;
    }
    let count = u16::from_be_bytes(take_array(left)?);
    (0..count).map(|_| read_step(left, nested.saturating_add(1))).collect()
}

fn read_step(left: &mut &[u8], nested: usize) -> Option<ScriptStep> {
    let [kind] = take_array(left)?;
    Some(match kind {
        0 => ScriptStep::Send { to: read_address(left)?, value: read_word(left)? },
        1 => ScriptStep::Call { to: read_address(left)?, value: read_word(left)?, input: read_bytes(left)? },
        2 => ScriptStep::CallCode { to: read_address(left)?, value: read_word(left)? },
        3 => ScriptStep::DelegateCall { to: read_address(left)? },
        4 => ScriptStep::Create { value: read_word(left)?, steps: read_steps(left, nested)? },
        5 => ScriptStep::SelfDestruct { to: read_address(left)? },
        6 => ScriptStep::Try { steps: read_steps(left, nested)? },
        7 => ScriptStep::Nest { depth: u16::from_be_bytes(take_array(left)?), steps: read_steps(left, nested)? },
        8 => {
            let [count] = take_array(left)?;
            let topics = (0..count).map(|_| take_array(left).map(B256::new)).collect::<Option<Vec<_>>>();
            ScriptStep::Log { topics: topics.filter(|topics| topics.len() <= 4)?, data: read_bytes(left)? }
        }
        9 => ScriptStep::Revert,
        10 => ScriptStep::BurnGas,
        _ => return None,
    })
}

fn take_array<const N: usize>(left: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = left.split_first_chunk::<N>()?;
    *left = rest;
    Some(*taken)
}

fn read_address(left: &mut &[u8]) -> Option<Address> {
    take_array(left).map(Address::new)
}

fn read_word(left: &mut &[u8]) -> Option<U256> {
    take_array::<32>(left).map(U256::from_be_bytes)
}

fn read_bytes(left: &mut &[u8]) -> Option<Bytes> {
    let length = usize::try_from(u32::from_be_bytes(take_array(left)?)).ok()?;
    let (bytes, rest) = left.split_at_checked(length)?;
    *left = rest;
    Some(Bytes::copy_from_slice(bytes))
}
