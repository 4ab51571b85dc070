//! Client of EVM chains: verified blocks, and sending with exact outcomes.
//!
//! An [`RpcNode`] speaks JSON-RPC over HTTP, or calls a function in the same process; above the transport both are the
//! same code. Everything that a block's header covers is computed again before it is returned: the hash of the header,
//! the roots of transactions and receipts, the bloom. So an empty, partial or false answer is an error, never a block
//! without deposits.
//!
//! It guarantees:
//! - a [`Block`] is complete and matches its hash; the caller decides which hash is canonical, from several blocks and
//!   preferably several nodes;
//! - `Ok(None)` means that the node answered that it does not have it; an error never becomes `Ok(None)`;
//! - [`RpcNode::send`] reports that the node does not have a transaction only if the node answered so; every other
//!   failure is [`SendOutcome::Unknown`];
//! - no amount is truncated: a [`Quantity`] has 256 bits, and conversion to a ledger amount is checked;
//! - the identity of a node's chain is checked before the first request and after each failure;
//! - a position inside a transaction (of a log, of an internal transfer) is the same on every node;
//! - URLs of nodes, which often contain keys, appear in no error and no debug output.
//!
//! Several nodes of one chain are [`Providers`]: which of them to use now, and whether they say the same about blocks,
//! finality, and what no header covers (balances, nonces, fees, traces), which is the unverified claim of one node and
//! documented so. What a contract says or costs never counts against a node.
//!
//! It deliberately does not know: watch lists, how many nodes must agree and above which value, keys, retries.
//!
//! | to learn | read |
//! | --- | --- |
//! | how to reach a node | [`RpcNode::http`], [`RpcNode::in_process`], [`ChainIdentity`] |
//! | reading | [`RpcNode::header`], [`RpcNode::block`], [`Block`], [`Transaction`], [`TokenTransfer`], [`RpcNode::internal_transfers`] |
//! | reading many blocks | [`RpcNode::read_blocks`], [`ReadPlan`], [`TracedBlock`] |
//! | several nodes | [`Providers`], [`Agreement`], [`FinalMark`], [`Answers`] |
//! | to hear of new blocks | [`HeadStream`] |
//! | how chains differ | [`ChainTraits`], [`Tracer`], [`FinalityMark`], [`FeeKind`] |
//! | accounts and fees | [`RpcNode::nonce`], [`RpcNode::balance`], [`RpcNode::token_balance`], [`RpcNode::fees`], [`RpcNode::estimate_gas`], [`RpcNode::find`] |
//! | sending | [`RpcNode::send`], [`SendOutcome`] |
//! | errors | [`RpcError`] |
//! | differences between nodes | `quirks.rs` |

mod accounts;
mod block;
mod chain_traits;
mod confirmations;
mod error;
mod fees;
mod fetch;
mod find;
mod head_stream;
mod identity;
mod log;
mod node;
mod providers;
mod quantity;
mod quirks;
mod range;
mod send;
mod sidecars;
mod traces;
mod transactions;
mod transport;
mod verify;
mod wire;

pub use accounts::Call;
pub use block::{Block, BlockHeader, BlockTag, Transaction};
pub use chain_traits::{ChainTraits, FinalityMark};
pub use confirmations::confirmations;
pub use error::{Disagreement, MalformedAnswer, RpcError, RpcRefusal, Unavailable};
pub use fees::{FeeKind, Fees};
pub use find::FindOutcome;
pub use head_stream::HeadStream;
pub use identity::ChainIdentity;
pub use log::{EventLog, TokenTransfer, TransferLog};
pub use node::RpcNode;
pub use providers::{
    Agreement, AnswerSource, Answers, FinalMark, HealthRules, InvalidProviders, Provider, ProviderFault,
    ProviderHealth, Providers,
};
pub use quantity::{AmountOverflow, Quantity};
pub use range::{ReadPlan, TracedBlock};
pub use send::{SendOutcome, transaction_hash};
pub use traces::{InternalTransfer, Tracer};
pub use transport::{InProcessRpc, InvalidRpcUrl, RpcLimits};

pub use alloy_primitives::{B256, Bytes, U256};
pub use bankroll_orders::Address;
