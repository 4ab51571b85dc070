//! Runs the calls of one transaction on top of a state that it does not change: balances, storage, logs and frames are
//! kept together, so state, receipts and both forms of traces always tell the same story.
//!
//! Guarantees: a failed call leaves nothing behind but its frame; [`MachineOutcome::writes`] are in the order in which
//! the keys were first written, on which the root of the state depends.
//!
//! Bounds: calls nest at most [`DEPTH_MAX`] deep, and contracts that call each other through this machine at most
//! [`RECURSION_MAX`], because each such call is one of Rust, too. It does not know bytecode: contracts are functions.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, Log, U256, address};

use crate::{
    contracts::{self, Call},
    state::{State, StateKey},
};

/// As in the EVM.
pub const DEPTH_MAX: usize = 1_024;
const RECURSION_MAX: usize = 64;

/// The topic of `Transfer(address,address,uint256)`.
pub const TRANSFER: B256 = alloy_primitives::b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// The address whose logs report moves of coins since EIP-7708.
pub const SYSTEM: Address = address!("fffffffffffffffffffffffffffffffffffffffe");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    Call,
    /// The code of another account runs for the caller: nothing moves, whatever value the frame names.
    CallCode,
    /// As `CallCode`; the value is that of the caller's own frame.
    DelegateCall,
    Create,
    SelfDestruct,
}

impl FrameKind {
    /// Whether the value of such a frame moves, if nothing fails.
    pub fn moves_coins(self) -> bool {
        matches!(self, Self::Call | Self::Create | Self::SelfDestruct)
    }
}

/// One call in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFrame {
    /// The path in the tree of calls: empty for the transaction itself, then the index at each level.
    pub path: Vec<usize>,
    pub kind: FrameKind,
    pub from: Address,
    pub to: Address,
    /// In wei. It moved only if the kind moves coins, and neither this call nor one above it failed.
    pub value: U256,
    pub input: Bytes,
    /// This call itself failed. What it called has no mark of its own.
    pub reverted: bool,
    pub(crate) failure: Option<Failure>,
}

/// Why a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Reverted,
    OutOfGas,
    NoCoins,
    TooDeep,
}

/// What contracts can see besides their own call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallContext {
    /// Zero in `eth_call` and `eth_estimateGas`, unless the caller names a price.
    pub gas_price: u128,
    /// Whether each move of coins has a log, as EIP-7708 wants.
    pub logs_coins: bool,
}

#[derive(Debug)]
pub struct MachineOutcome {
    pub result: Result<Bytes, Failure>,
    pub gas_used: u64,
    pub writes: Vec<(StateKey, U256)>,
    pub logs: Vec<Log>,
    pub frames: Vec<CallFrame>,
}

struct OpenFrame {
    frame: usize,
    journal: usize,
    logs: usize,
    children: usize,
}

pub struct Machine<'a> {
    state: &'a State,
    number: u64,
    pub(crate) context: CallContext,
    gas_left: u64,
    gas_limit: u64,
    values: BTreeMap<StateKey, U256>,
    /// The keys written, with what they were in `values` before.
    journal: Vec<(StateKey, Option<U256>)>,
    logs: Vec<Log>,
    frames: Vec<CallFrame>,
    open: Vec<OpenFrame>,
    recursion: usize,
}

impl<'a> Machine<'a> {
    /// A machine on the state after block `number`, or in the middle of it.
    pub(crate) fn new(state: &'a State, number: u64, context: CallContext, gas_limit: u64) -> Self {
        let (gas_left, recursion) = (gas_limit, 0);
        let (values, journal, logs) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (frames, open) = (Vec::new(), Vec::new());
        Self { state, number, context, gas_left, gas_limit, values, journal, logs, frames, open, recursion }
    }

    /// The transaction itself, and everything that follows from it.
    pub(crate) fn run(mut self, call: &Call) -> MachineOutcome {
        let result = self.call(call);
        let mut seen = std::collections::BTreeSet::new();
        let first = self.journal.iter().map(|(key, _)| *key).filter(|key| seen.insert(*key));
        let writes = first.filter_map(|key| self.values.get(&key).map(|value| (key, *value))).collect();
        let gas_used = self.gas_limit.saturating_sub(self.gas_left);
        MachineOutcome { result, gas_used, writes, logs: self.logs, frames: self.frames }
    }

    /// Calls an account: moves the value, runs the contract if there is one.
    pub(crate) fn call(&mut self, call: &Call) -> Result<Bytes, Failure> {
        self.enter(FrameKind::Call, call.from, call.to, call.value, call.input.clone());
        let moved = self.move_coins(call.from, call.to, call.value);
        let result = moved.and_then(|()| self.deeper(|machine| contracts::run(machine, call)));
        self.leave(result.as_ref().err().copied());
        result
    }

    /// A plain send from a contract: its gas is part of what the contract pays for sending.
    pub(crate) fn send(&mut self, from: Address, to: Address, value: U256) -> Result<Bytes, Failure> {
        let gas = self.gas_left;
        let result = self.call(&Call { from, to, value, input: Bytes::new() });
        self.gas_left = gas;
        result
    }

    /// Runs what may call again; fails when the calls of Rust would nest too deep.
    pub(crate) fn deeper<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        if self.recursion >= RECURSION_MAX || self.depth() > DEPTH_MAX {
            return Err(Failure::TooDeep);
        }
        self.recursion = self.recursion.saturating_add(1);
        let result = run(self);
        self.recursion = self.recursion.saturating_sub(1);
        result
    }

    /// Opens a frame. Each one must be left again.
    pub(crate) fn enter(&mut self, kind: FrameKind, from: Address, to: Address, value: U256, input: Bytes) {
        let path = match self.open.last_mut() {
            Some(parent) => {
                let place = parent.children;
                parent.children = place.saturating_add(1);
                let above = self.frames.get(parent.frame).map(|frame| frame.path.as_slice()).unwrap_or_default();
                above.iter().copied().chain([place]).collect()
            }
            None => Vec::new(),
        };
        let frame = self.frames.len();
        self.open.push(OpenFrame { frame, journal: self.journal.len(), logs: self.logs.len(), children: 0 });
        self.frames.push(CallFrame { path, kind, from, to, value, input, reverted: false, failure: None });
    }

    /// Closes the newest open frame. A failure undoes everything since it was opened.
    pub(crate) fn leave(&mut self, failure: Option<Failure>) {
        let Some(open) = self.open.pop() else { return };
        if failure.is_none() {
            return;
        }
        if let Some(frame) = self.frames.get_mut(open.frame) {
            (frame.reverted, frame.failure) = (true, failure);
        }
        self.logs.truncate(open.logs);
        while self.journal.len() > open.journal {
            match self.journal.pop() {
                Some((key, Some(before))) => drop(self.values.insert(key, before)),
                Some((key, None)) => drop(self.values.remove(&key)),
                None => return,
            }
        }
    }

    /// The height of the block that this runs in, or after.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// How deep the newest open frame is: the transaction itself is at zero.
    pub(crate) fn depth(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    pub(crate) fn gas_left(&self) -> u64 {
        self.gas_left
    }

    /// Pays for work, or uses up all gas there is.
    pub(crate) fn burn(&mut self, gas: u64) -> Result<(), Failure> {
        let left = self.gas_left.checked_sub(gas);
        self.gas_left = left.unwrap_or(0);
        left.map(drop).ok_or(Failure::OutOfGas)
    }

    pub(crate) fn get(&self, key: StateKey) -> U256 {
        self.values.get(&key).copied().unwrap_or_else(|| self.state.at(key, self.number))
    }

    pub(crate) fn set(&mut self, key: StateKey, value: U256) {
        let before = self.values.insert(key, value);
        self.journal.push((key, before));
    }

    /// Moves coins, if they are there.
    pub(crate) fn move_coins(&mut self, from: Address, to: Address, value: U256) -> Result<(), Failure> {
        if value.is_zero() {
            return Ok(());
        }
        let left = self.get(StateKey::Coins(from)).checked_sub(value).ok_or(Failure::NoCoins)?;
        self.set(StateKey::Coins(from), left);
        let sum = self.get(StateKey::Coins(to)).checked_add(value).ok_or(Failure::NoCoins)?;
        self.set(StateKey::Coins(to), sum);
        if self.context.logs_coins && from != to {
            let topics = vec![TRANSFER, from.into_word(), to.into_word()];
            self.log(SYSTEM, topics, contracts::word(value));
        }
        Ok(())
    }

    pub(crate) fn log(&mut self, contract: Address, topics: Vec<B256>, data: Bytes) {
        self.logs.push(Log::new_unchecked(contract, topics, data));
    }
}
