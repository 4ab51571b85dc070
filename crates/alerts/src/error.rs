//! Why a round did nothing, or only a part. The next round continues where it ended.

use bankroll_store::{StoreError, SubmitError, columns::BadRow};

#[derive(Debug, thiserror::Error)]
pub enum AlertError {
    /// The writer did not accept the change, or has no answer: the next round reads what became of it.
    #[error("the writer has no answer")]
    Call(#[from] SubmitError),
    #[error("the books cannot be read")]
    Store(#[from] StoreError),
    /// A row has a value that this program does not know.
    #[error(transparent)]
    Row(#[from] BadRow),
}
