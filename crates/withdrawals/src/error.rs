//! Why something came to nothing, by what to do about it.

use bankroll_chains_evm::NodeError;
use bankroll_ledger::{OpenRejected, Rejection};
use bankroll_signer_client::AskError;
use bankroll_store::{CallError, RowsError, StoreError, columns::BadRow};

/// Why there is no intent.
#[derive(Debug, thiserror::Error)]
pub enum IntentError {
    /// The books said no. For ever, if it is a verdict about money.
    #[error("the withdrawal was rejected")]
    Rejected(#[from] Rejection),
    /// An account that it needs cannot be opened.
    #[error("an account of the withdrawal cannot be opened")]
    Account(#[from] OpenRejected),
    /// The amount and the fee together leave 128 bits.
    #[error("the amount and its fee are more than the ledger can count")]
    TooLarge,
    /// The writer did not take it, or has no answer. Ask the same again.
    #[error("the writer has no answer")]
    Call(#[from] CallError),
    /// The hold was made and not noted in the intent's row. Settling finds it in the journal.
    #[error("the hold was not noted")]
    Rows(#[from] RowsError),
}

/// Why a step came to nothing, or only to a part. The next goes on where this one ended.
#[derive(Debug, thiserror::Error)]
pub enum PayoutError {
    /// The node did not answer, or not so that it can be believed.
    #[error("the node gave no answer that can be believed")]
    Node(#[from] NodeError),
    /// The signer did not answer, or not so that it can be believed.
    #[error("the signer gave no answer that can be believed")]
    Signer(#[from] AskError),
    /// The rows were not written, or not for certain.
    #[error("the rows were not written")]
    Rows(#[from] RowsError),
    /// The rows cannot be read.
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
    /// A row says something that this program does not.
    #[error(transparent)]
    Row(#[from] BadRow),
}
