//! EVM chains through their nodes: blocks that prove themselves, and sending with honest answers.
//!
//! A [`Node`] speaks JSON-RPC over HTTP, or to a simulated chain in the same process; above the transport both are the same
//! code. What a block's header vouches for is computed again before anybody sees it: the header's hash, the roots of
//! transactions and receipts, the bloom. So an empty, partial or false answer is an error, never a block without deposits.
//!
//! It guarantees:
//! - a [`Block`] is whole and is what its hash says; which hash is canonical is for the caller to decide, from several
//!   blocks and better several nodes;
//! - "the node does not have it" is `Ok(None)`, and never made from an error;
//! - [`Node::send`] says that a transaction is not with the node only if the node said so: everything else is
//!   [`Sent::Unknown`];
//! - no amount is cut off: a [`Value`] has 256 bits, and says whether it fits the ledger;
//! - nothing is asked of a node before it has shown that it is on the right chain, anew after each failure;
//! - addresses of nodes, which often contain keys, are in no error and no debug output.
//!
//! It deliberately does not know: watch lists, finality rules, which of several nodes to believe, keys, retries. What no
//! header vouches for (balances, nonces, fees, traces, "pending", "finalized") is one node's word, and marked so.
//!
//! | to learn | read |
//! | --- | --- |
//! | how to reach a node | [`Node::http`], [`Node::simulated`], [`Identity`] |
//! | reading | [`Node::header`], [`Node::block`], [`Block`], [`Transaction`], [`Transfer`], [`Node::internal_transfers`] |
//! | asking | [`Node::nonce`], [`Node::balance`], [`Node::token_balance`], [`Node::fees`], [`Node::estimate_gas`], [`Node::find`] |
//! | sending | [`Node::send`], [`Sent`] |
//! | what can go wrong | [`NodeError`] |
//! | what real nodes do differently | `quirks.rs` |

#![deny(missing_docs)]

mod accounts;
mod block;
mod confirmations;
mod error;
mod fees;
mod find;
mod identity;
mod log;
mod node;
mod quirks;
mod reading;
mod send;
mod traces;
mod transport;
mod value;
mod verify;
mod wire;

pub use accounts::Call;
pub use block::{At, Block, Header, Transaction};
pub use confirmations::confirmations;
pub use error::{Disagreement, Malformed, NodeError, Refused, Unavailable};
pub use fees::Fees;
pub use find::Found;
pub use identity::Identity;
pub use log::{Log, Transfer, TransferLog};
pub use node::Node;
pub use send::{Sent, transaction_hash};
pub use traces::InternalTransfer;
pub use transport::{BadUrl, Limits};
pub use value::{TooLarge, Value};

pub use alloy_primitives::{Address, B256, Bytes, U256};
