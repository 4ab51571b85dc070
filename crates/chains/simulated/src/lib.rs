//! A small EVM chain that lives in memory, without IO, clock or chance: time and seed are arguments.
//!
//! It takes real signed transactions, keeps a mempool with nonces, replacement and EIP-1559 fees, and makes blocks whose
//! hashes, roots and blooms anybody can compute again. On command it reorganises itself, lags, omits, lies, breaks off and
//! crashes, each fault counted. It speaks JSON-RPC as geth words it: [`SimulatedChain::answer`] is bytes in, bytes out, so the same
//! chain serves a simulator in process and, behind a socket, any tool that speaks to a node.
//!
//! It guarantees:
//! - the same configuration and the same calls give the same history and the same answers, byte for byte;
//! - every block it made is what its header says: only what is asked for as a [`NodeFault`] is untrue, and only in answers;
//! - coins are neither made nor lost: what senders lose is what receivers and the block's producer get, and what is burnt.
//!
//! It deliberately does not know: bytecode (its few contracts are built in), state proofs (the state root is a running
//! hash, not a trie), consensus, peers, sockets, and what time it is.
//!
//! | to learn | read |
//! | --- | --- |
//! | how a chain begins | [`SimulatedConfig`], [`SimulatedKey`] |
//! | what it can be told | [`SimulatedChain::mine`], [`SimulatedChain::reorg`], [`SimulatedChain::adopt`], [`SimulatedChain::lag`], [`SimulatedChain::crash`] |
//! | what can go wrong | [`NodeFault`], [`SimulatedChain::inject`], [`SimulatedChain::faults`] |
//! | its tokens and other contracts | [`contracts`] |
//! | what it answers | [`SimulatedChain::answer`], [`Reply`] |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

mod block;
mod chain;
mod config;
pub mod contracts;
mod dice;
mod execute;
mod fault;
mod history;
mod key;
mod nodes;
mod pool;
mod reorg;
mod rpc;
mod state;
mod transaction;

pub use block::{IncludedTransaction, SimulatedBlock};
pub use chain::{PRODUCER, SimulatedChain};
pub use config::SimulatedConfig;
pub use execute::CallFrame;
pub use fault::{FaultCounts, NodeFault};
pub use key::{Payment, SimulatedKey};
pub use pool::PoolRefusal;
pub use reorg::{Fate, Reorg, UnknownBranch};
pub use rpc::RpcReply;
pub use transaction::SimulatedTransaction;

pub use alloy_primitives::{Address, B256, Bytes, U256};
// TEMPORARY aliases of old names.
#[rustfmt::skip]
pub use self::{SimulatedBlock as Block, SimulatedChain as Chain, SimulatedConfig as Config, NodeFault as Fault, CallFrame as Frame, IncludedTransaction as Included, SimulatedKey as Key, PoolRefusal as Refusal, RpcReply as Reply, SimulatedTransaction as Transaction};
