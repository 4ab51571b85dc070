//! The built-in contracts, at fixed addresses, and how to call them.
//!
//! A call is first planned, which changes nothing and works at any block, and then executed: `eth_call` and
//! `eth_estimateGas` only plan.
//!
//! Guarantees: a plan that reverts moves nothing. Does not know: bytecode, storage, allowances.

mod abi;
mod token;

pub use abi::{mint_call, split_call, transfer_call};

use alloy_primitives::{Address, Bytes, Log, U256, address};

use crate::{execute::CallFrame, state::State};
use token::Token;

/// A correct token: six decimals, everyone can `mint`.
pub const DOLLAR: Address = address!("00000000000000000000000000000000000d0001");
/// A token that keeps a tenth of each transfer, while its log has the full amount.
pub const TAXED: Address = address!("00000000000000000000000000000000000d0002");
/// A token whose `transfer` succeeds, returns false, and moves nothing.
pub const DECLINING: Address = address!("00000000000000000000000000000000000d0003");
/// Divides received coins among the addresses in the call: transfers that only traces show.
pub const SPLITTER: Address = address!("00000000000000000000000000000000000d0004");
/// Reverts every call.
pub const REFUSING: Address = address!("00000000000000000000000000000000000d0005");

/// Name, address and description of each.
pub const ALL: &[(&str, Address, &str)] = &[
    ("dollar", DOLLAR, "a correct token, 6 decimals; everyone may mint(address,uint256)"),
    ("taxed", TAXED, "a token that keeps a tenth of each transfer, and logs the whole"),
    ("declining", DECLINING, "a token whose transfer returns false and moves nothing"),
    ("splitter", SPLITTER, "split(address[]) divides what it is sent: internal transfers"),
    ("refusing", REFUSING, "reverts"),
];

/// A message to an address, from a transaction or from `eth_call`.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub from: Address,
    pub to: Address,
    pub value: U256,
    pub input: Bytes,
}

#[derive(Clone, Debug)]
pub(crate) enum Move {
    Coins { from: Address, to: Address, value: U256 },
    Tokens { token: Address, from: Address, to: Address, taken: U256, given: U256 },
    Mint { token: Address, to: Address, amount: U256 },
}

/// What a call would do.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContractPlan {
    pub reverted: bool,
    /// On top of the base cost of a transaction.
    pub gas: u64,
    pub output: Bytes,
    pub logs: Vec<Log>,
    pub moves: Vec<Move>,
    /// Calls that the called contract made.
    pub inner: Vec<CallFrame>,
}

impl ContractPlan {
    fn revert(gas: u64) -> Self {
        Self { reverted: true, gas, ..Self::default() }
    }
}

/// The effect of this call after this block. The transaction checks whether the caller has the coins.
pub(crate) fn plan(state: &State, number: u64, call: &Call) -> ContractPlan {
    match call.to {
        DOLLAR => Token::DOLLAR.plan(state, number, call),
        TAXED => Token::TAXED.plan(state, number, call),
        DECLINING => Token::DECLINING.plan(state, number, call),
        SPLITTER => split(call),
        REFUSING => ContractPlan::revert(200),
        _ => ContractPlan { moves: value_along(call), ..ContractPlan::default() },
    }
}

pub(crate) fn carry_out(state: &mut State, number: u64, moves: &[Move]) {
    for step in moves {
        let done = match *step {
            Move::Coins { from, to, value } => state.pay(number, from, to, value),
            Move::Tokens { token, from, to, taken, given } => {
                state.move_tokens(number, token, from, to, (taken, given))
            }
            Move::Mint { token, to, amount } => state.mint_tokens(number, token, to, amount),
        };
        assert!(done, "bug: a plan moves what is not there: {step:?}");
    }
}

/// A placeholder for `eth_getCode`.
pub(crate) fn is_contract(address: Address) -> bool {
    ALL.iter().any(|(_, contract, _)| *contract == address)
}

fn value_along(call: &Call) -> Vec<Move> {
    let step = Move::Coins { from: call.from, to: call.to, value: call.value };
    if call.value.is_zero() { Vec::new() } else { vec![step] }
}

/// Equal shares, the remainder to the first. Refused shares stay in the contract, as in real contracts that do not
/// check whether a send succeeded.
fn split(call: &Call) -> ContractPlan {
    let payees = abi::split_payees(&call.input).unwrap_or_default();
    let gas = 2_000_u64.saturating_add((payees.len() as u64).saturating_mul(9_000));
    let count = U256::from(payees.len());
    let (Some(share), Some(rest)) = (call.value.checked_div(count), call.value.checked_rem(count)) else {
        return ContractPlan::revert(gas);
    };
    let mut plan = ContractPlan { gas, moves: value_along(call), ..ContractPlan::default() };
    for (place, to) in payees.into_iter().enumerate() {
        let value = if place == 0 { share.saturating_add(rest) } else { share };
        let reverted = is_contract(to);
        if !reverted && !value.is_zero() {
            plan.moves.push(Move::Coins { from: SPLITTER, to, value });
        }
        plan.inner.push(CallFrame { path: vec![place], from: SPLITTER, to, value, input: Bytes::new(), reverted });
    }
    plan
}
