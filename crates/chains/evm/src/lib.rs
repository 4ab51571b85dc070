//! EVM chains through their nodes: blocks that prove themselves, and sending with honest answers.
//!
//! A [`RpcNode`] speaks JSON-RPC over HTTP, or to a simulated chain in the same process; above the transport both are the same
//! code. What a block's header vouches for is computed again before anybody sees it: the header's hash, the roots of
//! transactions and receipts, the bloom. So an empty, partial or false answer is an error, never a block without deposits.
//!
//! It guarantees:
//! - a [`Block`] is whole and is what its hash says; which hash is canonical is for the caller to decide, from several
//!   blocks and better several nodes;
//! - "the node does not have it" is `Ok(None)`, and never made from an error;
//! - [`RpcNode::send`] says that a transaction is not with the node only if the node said so: everything else is
//!   [`SendOutcome::Unknown`];
//! - no amount is cut off: a [`Quantity`] has 256 bits, and says whether it fits the ledger;
//! - nothing is asked of a node before it has shown that it is on the right chain, anew after each failure;
//! - addresses of nodes, which often contain keys, are in no error and no debug output.
//!
//! It deliberately does not know: watch lists, finality rules, which of several nodes to believe, keys, retries. What no
//! header vouches for (balances, nonces, fees, traces, "pending", "finalized") is one node's word, and marked so.
//!
//! | to learn | read |
//! | --- | --- |
//! | how to reach a node | [`RpcNode::http`], [`RpcNode::in_process`], [`ChainIdentity`] |
//! | reading | [`RpcNode::header`], [`RpcNode::block`], [`Block`], [`Transaction`], [`TokenTransfer`], [`RpcNode::internal_transfers`] |
//! | asking | [`RpcNode::nonce`], [`RpcNode::balance`], [`RpcNode::token_balance`], [`RpcNode::fees`], [`RpcNode::estimate_gas`], [`RpcNode::find`] |
//! | sending | [`RpcNode::send`], [`SendOutcome`] |
//! | what can go wrong | [`RpcError`] |
//! | what real nodes do differently | `quirks.rs` |

mod accounts;
mod block;
mod confirmations;
mod error;
mod fees;
mod fetch;
mod find;
mod identity;
mod log;
mod node;
mod quantity;
mod quirks;
mod send;
mod traces;
mod transport;
mod verify;
mod wire;

pub use accounts::Call;
pub use block::{Block, BlockHeader, BlockTag, Transaction};
pub use confirmations::confirmations;
pub use error::{Disagreement, MalformedAnswer, RpcError, RpcRefusal, Unavailable};
pub use fees::Fees;
pub use find::Found;
pub use identity::ChainIdentity;
pub use log::{EventLog, TokenTransfer, TransferLog};
pub use node::RpcNode;
pub use quantity::{AmountOverflow, Quantity};
pub use send::{SendOutcome, transaction_hash};
pub use traces::InternalTransfer;
pub use transport::{InProcessRpc, InvalidRpcUrl, RpcLimits};

pub use alloy_primitives::{Address, B256, Bytes, U256};
// TEMPORARY aliases of old names.
#[rustfmt::skip]
pub use self::{BlockTag as At, InvalidRpcUrl as BadUrl, BlockHeader as Header, ChainIdentity as Identity, RpcLimits as Limits, EventLog as Log, MalformedAnswer as Malformed, RpcNode as Node, RpcError as NodeError, RpcRefusal as Refused, SendOutcome as Sent, AmountOverflow as TooLarge, TokenTransfer as Transfer, Quantity as Value};
