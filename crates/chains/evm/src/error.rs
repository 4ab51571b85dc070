//! Why a node gave no answer that can be believed, by what to do about it.
//!
//! Texts of nodes are kept short and addresses of nodes are left out, so that errors can be logged.

use alloy_primitives::{B256, U256};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// Nobody knows: ask again, here or elsewhere. Whatever was asked for may have happened.
    #[error("the node is unavailable")]
    Unavailable(#[from] Unavailable),
    /// The answer contradicts itself, the header, or what this chain is known to be: stop believing this node.
    #[error("the node's answer is contradicted")]
    Disagreeing(#[from] Disagreement),
    #[error("the node's answer cannot be read")]
    Malformed(#[from] MalformedAnswer),
    /// The node understood, and said no.
    #[error("the node refused")]
    Refused(#[from] RpcRefusal),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// No answer within the limit.
    #[error("no answer in time")]
    TimedOut,
    #[error("no connection")]
    Unreachable,
    #[error("the connection broke: {0:?}")]
    Broken(std::io::ErrorKind),
    #[error("the node limits how often it is asked")]
    RateLimited,
    /// Another HTTP status than 200.
    #[error("HTTP status {0}")]
    Status(u16),
    /// The node's own trouble, or a limit of its.
    #[error("the node failed with code {code}: {message}")]
    Failed {
        code: i64,
        /// Its words, shortened.
        message: String,
    },
    /// A part of what was asked for is not there yet, as when a load balancer asks a node that is behind.
    #[error("the node has no {0} for a block it has")]
    Incomplete(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Disagreement {
    /// The node is on another chain.
    #[error("the chain's id is {found}, expected {expected}")]
    ChainId { expected: u64, found: U256 },
    /// The node is on another chain that calls itself the same.
    #[error("the chain begins with block {found}, expected {expected}")]
    Genesis { expected: B256, found: B256 },
    /// Another block than the one asked for.
    #[error("asked for block {asked}, got {number} ({hash})")]
    OtherBlock { asked: String, number: u64, hash: B256 },
    /// The header has another hash than it says.
    #[error("block {claimed} has a header with the hash {computed}")]
    BlockHash { claimed: B256, computed: B256 },
    /// A transaction has another hash than it says.
    #[error("transaction {claimed} has the hash {computed}")]
    TransactionHash { claimed: B256, computed: B256 },
    /// Something in the block's list is not what the header vouches for.
    #[error("the {what} of block {block} do not have the root of its header")]
    Root { what: &'static str, block: B256 },
    /// Another number of receipts than of transactions.
    #[error("block {block} has {transactions} transactions and {receipts} receipts")]
    ReceiptCount { block: B256, transactions: usize, receipts: usize },
    /// A receipt, log or trace that says it belongs elsewhere.
    #[error("a {what} of block {block} says that it belongs elsewhere")]
    Place { what: &'static str, block: B256 },
    /// The bloom does not have the logs, or has others.
    #[error("the bloom of block {0} is not that of its logs")]
    Bloom(B256),
    /// A log that was taken back, among those of a block that was not.
    #[error("a log of block {0} is called removed")]
    LogRemoved(B256),
    /// Traces of some of the block's transactions only.
    #[error("the trace of block {0} does not have all of its transactions")]
    TraceIncomplete(B256),
    /// A signature that nobody can have made.
    #[error("nobody signed transaction {0}")]
    Signature(B256),
    /// The node took in something else than it was sent.
    #[error("sent transaction {sent}, the node speaks of {answered}")]
    SentHash { sent: B256, answered: B256 },
    /// The node names a block for a transaction that the block does not have.
    #[error("transaction {transaction} is not in block {block}")]
    NotIncluded { transaction: B256, block: B256 },
}

/// An answer that is not what the protocol says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{method}: {why}")]
pub struct MalformedAnswer {
    pub method: &'static str,
    /// What is wrong with the answer, shortened.
    pub why: String,
}

/// An error of JSON-RPC that is about the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("code {code}: {message}")]
pub struct RpcRefusal {
    pub code: i64,
    /// The node's words, shortened.
    pub message: String,
}

impl MalformedAnswer {
    pub(crate) fn new(method: &'static str, why: impl std::fmt::Display) -> Self {
        Self { method, why: shortened(&why.to_string()) }
    }
}

/// Enough of a text from outside to know it by, on one line.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect()
}
