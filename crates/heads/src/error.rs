//! Errors, by what the operator does about them.

use bankroll_store::{RowsError, StoreError, columns::BadRow};

/// Why nothing was published, or a proof cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum HeadsError {
    /// The journal was edited, or is an older copy: nothing is signed any more. Run `bankroll audit`.
    #[error("the journal does not have the head that was published after batch {batch}; run `bankroll audit`")]
    HeadGone { batch: u64 },
    /// The rows of the tree, or the batches below them, were edited.
    #[error(
        "the tree over heads does not have the root that was published after batch {batch}; run `bankroll audit` with a \
         published head"
    )]
    TreeDiffers { batch: u64 },
    #[error("batch {batch} does not continue the hash chain; run `bankroll audit`")]
    ChainBroken { batch: u64 },
    /// A node of the tree is missing.
    #[error("a row of head_nodes is missing (level {level}, place {place})")]
    NodeMissing { level: u32, place: u64 },
    /// About one message in 2^127. The next one has another time.
    #[error("the key cannot sign this head")]
    Unsigned,
    #[error("the books cannot be read")]
    Store(#[from] StoreError),
    /// Nothing was published, or the outcome is unknown; the next step finds out.
    #[error("the head was not written")]
    Rows(#[from] RowsError),
    /// A row has a value that this program does not know.
    #[error(transparent)]
    Row(#[from] BadRow),
}
