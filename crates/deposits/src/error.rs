//! Why a step came to nothing, by what to do about it.

use bankroll_chains_evm::NodeError;
use bankroll_store::{CallError, RowsError, StoreError, columns::BadRow};

use crate::course::Gap;

/// Why a step of the scanner changed nothing. The next step begins where this one did.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The node did not answer, or not so that it can be believed. Nothing was advanced.
    #[error("the node gave no block that can be believed")]
    Node(#[from] NodeError),
    /// The node has fewer blocks than it, or another, had before.
    #[error("the node is at block {theirs}, we are at {ours}")]
    Lagging {
        /// Where the node is.
        theirs: u64,
        /// Where we are.
        ours: u64,
    },
    /// The node does not have a block below its own head.
    #[error("the node has no block {number} below its head {head}")]
    Missing {
        /// Which block.
        number: u64,
        /// The node's head.
        head: u64,
    },
    /// Two answers of the node do not belong to one chain.
    #[error("the node's blocks are not one chain")]
    Gap(#[from] Gap),
    /// The chain was reorganised below all that we remember. Nothing here can tell what is true: a person must look.
    #[error("the chain differs from ours below block {below}, deeper than {window} blocks: a person must look")]
    TooDeep {
        /// The lowest block that we remember.
        below: u64,
        /// How many we remember.
        window: u64,
    },
    /// The rows were not written, or not for certain.
    #[error("what was seen was not written")]
    Rows(#[from] RowsError),
    /// The rows cannot be read.
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
    /// A row says something that this program does not.
    #[error(transparent)]
    Row(#[from] BadRow),
}

/// Why a step of crediting came to nothing, or only to a part. Another step goes on where it ended.
#[derive(Debug, thiserror::Error)]
pub enum CreditError {
    /// The writer did not take it, or has no answer.
    #[error("the writer has no answer")]
    Call(#[from] CallError),
    /// The rows were not written, or not for certain.
    #[error("a refusal was not written down")]
    Rows(#[from] RowsError),
    /// The books cannot be read.
    #[error("the books cannot be read")]
    Store(#[from] StoreError),
    /// A row says something that this program does not.
    #[error(transparent)]
    Row(#[from] BadRow),
    /// The books have no trace of a credit that the deposit's row tells of: they diverge, and a person must look.
    #[error("deposit {deposit} is booked in epoch {epoch}, and the journal has no such credit")]
    NoSuchCredit {
        /// Which deposit.
        deposit: String,
        /// In which epoch.
        epoch: u64,
    },
}
