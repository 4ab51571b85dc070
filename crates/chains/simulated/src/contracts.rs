//! The built-in contracts, at fixed addresses, and how to call them.
//!
//! Each is a function of the machine that runs it. `eth_call` and `eth_estimateGas` run the same functions on the state
//! of any block, and throw the result away.
//!
//! Guarantees: a call that reverts moves nothing. The first five contracts do what they always did, so that stored
//! chains replay. Does not know: bytecode.

mod abi;
mod fickle;
mod script;
mod splitter;
mod token;
mod token_manner;
mod zoo;

pub use abi::{
    approve_call, block_call, mint_call, pause_call, rebase_call, set_decimals_call, set_manner_call, split_call,
    switch_call, transfer_call, transfer_from_call,
};
pub(crate) use abi::{holder_asked, word};
pub use script::{ScriptStep, batch_call, script_call};
pub use token_manner::TokenManner;
pub use zoo::*;

use alloy_primitives::{Address, Bytes, U256, address};

use crate::{
    machine::{CallContext, Failure, Machine, SYSTEM},
    state::State,
};

/// Divides received coins among the addresses in the call: transfers that only traces show.
pub const SPLITTER: Address = address!("00000000000000000000000000000000000d0004");
/// Reverts every call.
pub const REFUSING: Address = address!("00000000000000000000000000000000000d0005");
/// Runs the steps that a call names: see [`ScriptStep`].
pub const SCRIPT: Address = address!("00000000000000000000000000000000000d0010");
/// Accepts coins when the price of gas is zero, as in an estimate, and burns all gas otherwise.
pub const FICKLE: Address = address!("00000000000000000000000000000000000d0011");
/// Accepts coins until [`switch_call`] turns it off; then it reverts until it is turned on.
pub const MOODY: Address = address!("00000000000000000000000000000000000d0012");

/// Name, address and description of each.
pub const ALL: &[(&str, Address, &str)] = &[
    ("dollar", DOLLAR, "a correct token, 6 decimals; everyone may mint(address,uint256)"),
    ("taxed", TAXED, "a token that keeps a tenth of each transfer, and logs the whole"),
    ("declining", DECLINING, "a token whose transfer returns false and moves nothing"),
    ("splitter", SPLITTER, "split(address[]) divides what it is sent: internal transfers"),
    ("refusing", REFUSING, "reverts"),
    ("euro", EURO, "a correct token with allowances, 6 decimals"),
    ("boasting", BOASTING, "a token that logs transfers and moves nothing"),
    ("silent", SILENT, "a token that moves and logs nothing"),
    ("rebasing", REBASING, "a token whose balances rebase(uint256) scales, in millionths"),
    ("collectible", COLLECTIBLE, "an ERC-721: Transfer with four topics and no data"),
    ("unindexed", UNINDEXED, "a token whose Transfer has one topic and 96 bytes"),
    ("managed", MANAGED, "a correct token, until pause, block, setManner or setDecimals"),
    ("lookalike", LOOKALIKE, "a token that says it is DOLLAR"),
    ("script", SCRIPT, "runs the steps of a call; sim_script makes the call"),
    ("fickle", FICKLE, "accepts coins in estimates, and burns all gas in blocks"),
    ("moody", MOODY, "accepts coins until switch(bool) says otherwise"),
    ("system", SYSTEM, "logs a Transfer for every transfer(address,uint256) (EIP-7708)"),
];

/// A message to an address, from a transaction, from a contract or from `eth_call`.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub from: Address,
    pub to: Address,
    pub value: U256,
    pub input: Bytes,
}

/// Runs the called contract; the coins have arrived already.
pub(crate) fn run(machine: &mut Machine<'_>, call: &Call) -> Result<Bytes, Failure> {
    match call.to {
        SPLITTER => splitter::run(machine, call),
        REFUSING => {
            machine.burn(200)?;
            Err(Failure::Reverted)
        }
        SCRIPT => script::run(machine, call),
        FICKLE => fickle::fickle(machine),
        MOODY => fickle::moody(machine, call),
        _ => match zoo::token(call.to) {
            Some(token) => token.run(machine, call),
            None => Ok(Bytes::new()),
        },
    }
}

/// What `balanceOf` returns after this block.
pub(crate) fn token_balance(state: &State, number: u64, token: Address, holder: Address) -> U256 {
    let machine = Machine::new(state, number, CallContext::default(), u64::MAX);
    let input = abi::balance_call(holder);
    let outcome = machine.run(&Call { from: Address::ZERO, to: token, value: U256::ZERO, input });
    let read = outcome.result.ok().and_then(|output| <[u8; 32]>::try_from(output.as_ref()).ok());
    read.map_or(U256::ZERO, U256::from_be_bytes)
}

/// A placeholder for `eth_getCode`.
pub(crate) fn is_contract(address: Address) -> bool {
    ALL.iter().any(|(_, contract, _)| *contract == address)
}
