//! Errors, by what the caller does about them.

use bankroll_chains_evm::RpcError;
use bankroll_ledger::{OpenRejection, Rejection};
use bankroll_signer_client::SignerClientError;
use bankroll_store::{RowsError, StoreError, SubmitError, columns::BadRow};

/// Why a withdrawal or an exit cannot even be sent to the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWithdrawal {
    #[error("the amount and its fee are more than the ledger can count")]
    TooLarge,
    #[error("the account belongs to another server")]
    OtherServer,
    #[error("the account belongs to another wallet")]
    OtherWallet,
    #[error("nothing is paid out of an account of this kind for this asker")]
    NotPayable,
    /// Only a player or a developer signs a payout of their own.
    #[error("only the owner of the money signs a payout")]
    ForeignConsent,
}

/// Why there is no intent.
#[derive(Debug, thiserror::Error)]
pub enum IntentError {
    /// The books rejected it. For ever, if it is a verdict about money.
    #[error("the withdrawal was rejected")]
    Rejected(#[from] Rejection),
    /// An account that it needs cannot be opened.
    #[error("an account of the withdrawal cannot be opened")]
    Account(#[from] OpenRejection),
    #[error(transparent)]
    Invalid(#[from] InvalidWithdrawal),
    /// The writer did not accept it, or has no answer. Send the same request again.
    #[error("the writer has no answer")]
    Call(#[from] SubmitError),
    /// The hold was made and not noted in the intent's row. Settlement finds it in the journal.
    #[error("the hold was not noted")]
    Rows(#[from] RowsError),
}

/// Why a payout cannot be stopped.
#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    #[error("there is no job of this intent that is still worked on")]
    NotFound,
    /// The rows were not written, or not for certain.
    #[error("the rows were not written")]
    Rows(#[from] RowsError),
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
}

/// Why a step did nothing, or only a part of its work. The next step continues where this one ended.
#[derive(Debug, thiserror::Error)]
pub enum PayoutError {
    #[error(transparent)]
    Node(#[from] RpcError),
    #[error("the signer gave no believable answer")]
    Signer(#[from] SignerClientError),
    /// The rows were not written, or not for certain.
    #[error("the rows were not written")]
    Rows(#[from] RowsError),
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
    /// A row has a value that this program does not know.
    #[error(transparent)]
    Row(#[from] BadRow),
}

/// Why the tables of withdrawals cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error("the rows of withdrawals cannot be read")]
    Store(#[from] StoreError),
    /// A row has a value that this program does not know.
    #[error(transparent)]
    Row(#[from] BadRow),
}
