//! Why a step did nothing, by what to do about it.

use bankroll_chains_evm::{B256, RpcError};
use bankroll_store::{RowsError, StoreError, SubmitError, columns::BadRow};

use crate::follower::BrokenParent;

/// Why a step of the scanner changed nothing. The next step begins where this one did.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The RPC node did not answer, or its answer contradicts itself.
    #[error(transparent)]
    Node(#[from] RpcError),
    /// The RPC node did not say a balance that a deposit depends on.
    #[error("a balance is not known")]
    Balance(#[source] RpcError),
    /// The RPC node has fewer blocks than it, or another one, had before.
    #[error("the RPC node is behind: it is at block {theirs}, we are at {ours}")]
    Lagging { theirs: u64, ours: u64 },
    /// The RPC node does not have a block below its own head.
    #[error("the RPC node has no block {number} below its head {head}")]
    Missing { number: u64, head: u64 },
    /// The RPC node calls a block final that is not the one it has at that height.
    #[error("the RPC node calls block {number} ({theirs}) final, and the chain it shows has {ours} there")]
    MarkElsewhere { number: u64, ours: B256, theirs: B256 },
    /// Providers have different blocks at one height. Nothing is credited of this chain until they agree.
    #[error("the providers disagree about block {number}: {} have another one; needs an operator", others.join(", "))]
    ProvidersDisagree { number: u64, others: Vec<String> },
    /// Two answers of the RPC node do not belong to one chain.
    #[error("the RPC node's blocks are not one chain")]
    BrokenParent(#[from] BrokenParent),
    /// The chain was reorganised below every remembered header. Which branch is right cannot be decided here.
    #[error(
        "the chain differs from the one in the books below block {below}, deeper than the {window} blocks that are \
         remembered: needs an operator; check that chain.rpc and chain.genesis name the right chain (a simulated \
         chain keeps its blocks with `bankroll chain --state FILE`)"
    )]
    TooDeep { below: u64, window: u64 },
    /// The rows were not written, or it is unknown whether they were.
    #[error("the deposits that were seen were not written")]
    Rows(#[from] RowsError),
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Row(#[from] BadRow),
}

/// Why a step of crediting did nothing, or only a part. The next step continues where it ended.
#[derive(Debug, thiserror::Error)]
pub enum CreditError {
    /// The writer did not accept the request, or did not answer.
    #[error("the writer has no answer")]
    Call(#[from] SubmitError),
    /// The rows were not written, or it is unknown whether they were.
    #[error("a refusal was not recorded")]
    Rows(#[from] RowsError),
    #[error("the books cannot be read")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Row(#[from] BadRow),
    /// The deposit's row and the journal diverge.
    #[error(
        "deposit {deposit} is booked in epoch {epoch}, and the journal has no such credit: needs an operator; see \
         `bankroll explain {deposit}`"
    )]
    NoSuchCredit { deposit: String, epoch: u64 },
}
