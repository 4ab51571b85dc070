//! Errors of an RPC node, grouped by what the caller does about them.
//!
//! Texts of nodes are shortened and URLs are left out, so errors can be logged.

use alloy_primitives::{B256, U256};

use crate::quirks;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// Transient: retry, here or at another node. The request may have taken effect.
    #[error("the RPC node is unavailable")]
    Unavailable(#[from] Unavailable),
    /// The answer contradicts itself, the header, or the chain's identity: stop trusting this node.
    #[error("the RPC node's answer is wrong")]
    Disagreeing(#[from] Disagreement),
    #[error("the RPC node's answer is malformed")]
    Malformed(#[from] MalformedAnswer),
    /// The node understood the request and refused it, or a contract did: neither counts against the node.
    #[error("the RPC node refused the request")]
    Refused(#[from] RpcRefusal),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    #[error("no answer in time")]
    TimedOut,
    #[error("no connection")]
    Unreachable,
    #[error("the connection broke: {0:?}")]
    Broken(std::io::ErrorKind),
    #[error("the node limits the request rate")]
    RateLimited,
    /// An HTTP status other than 200.
    #[error("HTTP status {0}")]
    Status(u16),
    /// An internal failure of the node.
    #[error("the node failed with code {code}: {message}")]
    Failed {
        code: i64,
        /// Shortened.
        message: String,
    },
    /// A part is missing, for example because a load balancer used a node that is behind.
    #[error("the node has no {0} for a block it has")]
    Incomplete(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Disagreement {
    #[error("wrong chain: the node reports id {found}, expected {expected}")]
    ChainId { expected: u64, found: U256 },
    /// Another chain with the same id.
    #[error("wrong chain: the node reports genesis block {found}, expected {expected}")]
    Genesis { expected: B256, found: B256 },
    #[error("requested block {asked}, got {number} ({hash})")]
    OtherBlock { asked: String, number: u64, hash: B256 },
    #[error("block {claimed} has a header with the hash {computed}")]
    BlockHash { claimed: B256, computed: B256 },
    #[error("transaction {claimed} has the hash {computed}")]
    TransactionHash { claimed: B256, computed: B256 },
    /// The list does not match the root in the header.
    #[error("the {what} of block {block} do not match the root in its header")]
    Root { what: &'static str, block: B256 },
    #[error("block {block} has {transactions} transactions and {receipts} receipts")]
    ReceiptCount { block: B256, transactions: usize, receipts: usize },
    /// A receipt, log or trace that names another block or transaction.
    #[error("a {what} of block {block} names another block or transaction")]
    Place { what: &'static str, block: B256 },
    #[error("the bloom of block {0} does not match its logs")]
    Bloom(B256),
    /// A log marked as removed in a block that is present.
    #[error("a log of block {0} is marked as removed")]
    LogRemoved(B256),
    #[error("the trace of block {0} lacks some of its transactions")]
    TraceIncomplete(B256),
    /// The trace of a transaction that succeeded says that it failed.
    #[error("the trace of transaction {0} contradicts its receipt")]
    TraceStatus(B256),
    #[error("transaction {0} has an invalid signature")]
    Signature(B256),
    #[error("sent transaction {sent}, the node answered {answered}")]
    SentHash { sent: B256, answered: B256 },
    /// The node named this block, but the block lacks the transaction.
    #[error("transaction {transaction} is not in block {block}")]
    NotIncluded { transaction: B256, block: B256 },
}

/// An answer that violates the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{method}: {why}")]
pub struct MalformedAnswer {
    pub method: &'static str,
    /// Shortened.
    pub why: String,
}

/// A JSON-RPC error about the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("code {code}: {message}")]
pub struct RpcRefusal {
    pub code: i64,
    /// Shortened.
    pub message: String,
}

impl RpcError {
    /// Whether the node does not have the method, so that asking it again is useless.
    pub fn is_no_method(&self) -> bool {
        quirks::has_no_method(self)
    }
}

impl RpcRefusal {
    /// Whether the contract itself said no. False says nothing: some nodes report a revert like any other failure.
    pub fn is_revert(&self) -> bool {
        quirks::is_revert(self)
    }

    /// For a contract's answer of a wrong form: what a contract says is never the node's fault.
    pub(crate) fn by_contract(message: &str) -> Self {
        Self { code: quirks::REVERTED, message: message.into() }
    }
}

impl MalformedAnswer {
    pub(crate) fn new(method: &'static str, why: impl std::fmt::Display) -> Self {
        Self { method, why: shortened(&why.to_string()) }
    }
}

/// The beginning of an external text, on one line.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect()
}
