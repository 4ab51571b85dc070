//! Why a step of this flow did not happen, or not certainly.

use bankroll_store::{RowsError, StoreError, columns::BadRow};

#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// The books could not be read.
    #[error("the books cannot be read")]
    Store(#[from] StoreError),
    /// The rows were not written, or not certainly: the next round reads them again.
    #[error("the rows of webhooks cannot be written")]
    Rows(#[from] RowsError),
    #[error("a row of webhooks cannot be read")]
    Row(#[from] BadRow),
}
