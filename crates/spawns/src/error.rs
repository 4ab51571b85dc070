//! Errors, by what the caller does about them.

use bankroll_ledger::Rejection;
use bankroll_store::{StoreError, SubmitError, columns::BadRow};

/// Why a spawn did not change.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The server takes no spawns now. The same request may succeed later.
    #[error("the server takes no spawns now")]
    Paused,
    #[error("there is no such spawn")]
    NotFound,
    /// The key was used for a spawn of another player, asset or deposit.
    #[error("the key was used for another spawn")]
    OtherSpawn,
    /// Another spawn has the deposit, or has consumed it.
    #[error("the deposit is reserved or consumed by another spawn")]
    DepositTaken,
    /// The mass of the price exceeds 128 bits: the server's configuration is wrong.
    #[error("the mass of the price is more than this program can count")]
    TooLarge,
    /// A request with the same key is being decided. Send the same request again.
    #[error("a request with the same key is being decided")]
    InFlight,
    /// The books rejected it. For ever under this key, if it is a verdict about money.
    #[error("the ledger rejected the spawn: {0}")]
    Rejected(#[from] Rejection),
    /// The writer did not accept it, or has no answer. Send the same request again.
    #[error("the writer has no answer")]
    Call(#[from] SubmitError),
    #[error("the books cannot be read")]
    Store(#[from] StoreError),
    /// A row has a value that this program does not know.
    #[error(transparent)]
    Row(#[from] BadRow),
}
