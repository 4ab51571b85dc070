//! A small EVM chain in memory, without IO, clock or randomness: time and seed are arguments.
//!
//! It accepts real signed transactions, keeps a mempool with nonces, replacement and EIP-1559 fees, and makes blocks
//! with valid hashes, roots and blooms. On command it reorganises, lags, omits, lies, truncates and crashes, and
//! counts each fault. It speaks JSON-RPC with geth's texts: [`SimulatedChain::answer`] is bytes in, bytes out, so the
//! same chain serves a simulator in process and, behind a socket, any Ethereum tool.
//!
//! It guarantees:
//! - the same configuration and the same calls give the same history and the same answers, byte for byte;
//! - every block matches its header: only a planned [`NodeFault`] or [`NodeLie`] makes an answer false, and never the
//!   chain itself;
//! - coins are conserved: what senders pay is what recipients and the block producer get, plus what is burnt; others
//!   come from withdrawals and mints only;
//! - traces, receipts and balances follow from one run of each transaction, so they agree.
//!
//! It deliberately does not know: bytecode (its few contracts are built in), state proofs (the state root is a running
//! hash, not a trie), consensus, sockets, the current time.
//!
//! | to learn | read |
//! | --- | --- |
//! | setup | [`SimulatedConfig`], [`SimulatedKey`] |
//! | blocks | [`SimulatedChain::mine`], [`SimulatedChain::reorg`], [`SimulatedChain::adopt`] |
//! | nodes | [`SimulatedChain::lag`], [`SimulatedChain::crash`], [`SimulatedChain::new_heads`] |
//! | faults | [`NodeFault`], [`SimulatedChain::inject`], [`SimulatedChain::faults`] |
//! | nodes on other forks | [`SimulatedChain::split_off`], [`SimulatedChain::branch`], [`SimulatedChain::rejoin`] |
//! | lies, missing methods | [`NodeLie`], [`SimulatedChain::lie_from`], [`NodeCapability`], [`SimulatedChain::heal`] |
//! | coins without a transaction | [`SimulatedChain::withdraw`], [`SimulatedChain::mint_coins`] |
//! | what really moved | [`IncludedTransaction::coin_moves`] |
//! | built-in contracts | [`contracts`] |
//! | storing | [`StoredBlock`], [`SimulatedChain::replay`] |
//! | RPC | [`SimulatedChain::answer`], [`RpcReply`] |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

mod block;
mod branch;
mod chain;
mod config;
pub mod contracts;
mod dice;
mod execute;
mod fault;
mod history;
mod key;
mod lie;
mod machine;
mod nodes;
mod pool;
mod reorg;
mod rpc;
mod state;
mod stored;
mod transaction;

pub use block::{BlockExtras, IncludedTransaction, SimulatedBlock};
pub use chain::{PRODUCER, SimulatedChain};
pub use config::SimulatedConfig;
pub use fault::{FaultCounts, NodeFault};
pub use key::{Payment, SimulatedKey};
pub use lie::{Distortion, NodeCapability, NodeLie};
pub use machine::{CallFrame, FrameKind, SYSTEM};
pub use nodes::UNTIL_HEALED;
pub use pool::PoolRefusal;
pub use reorg::{Fate, Reorg, UnknownBranch};
pub use rpc::RpcReply;
pub use stored::{ReplayError, StoredBlock};
pub use transaction::SimulatedTransaction;

pub use alloy_eips::eip4895::Withdrawal;
pub use alloy_primitives::{Address, B256, Bytes, U256};
