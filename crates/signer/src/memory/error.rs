//! Errors of opening and using a memory.

use std::{io, path::PathBuf};

use bankroll_orders::Address;

/// The memory was not opened; the signer does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No file, or an empty one.
    #[error(
        "there is no memory at {path}: a signer without the history of its keys could sign twice. If these keys have \
         never signed anything, start it with --new-memory"
    )]
    NoMemory { path: PathBuf },
    #[error("{path} exists already; nothing was changed")]
    Exists { path: PathBuf },
    #[error("the memory {path} is in use by another process")]
    InUse { path: PathBuf },
    /// It lacks the history of a key: it belongs to other keys.
    #[error(
        "the memory {path} does not have the history of {wallet}; it has that of {}. If that key has never signed \
         anything, start it with --new-wallet {wallet}",
        addresses(known)
    )]
    OtherKey { path: PathBuf, wallet: Address, known: Vec<Address> },
    /// It is not what was written. The signer must not sign with it.
    #[error("the memory {path} is damaged: {what}")]
    Damaged { path: PathBuf, what: String },
    #[error("the memory {path} has format {found}; this program supports up to {known}")]
    TooNew { path: PathBuf, found: i64, known: i64 },
    /// A setting that durability depends on has no effect.
    #[error("SQLite's {setting} is {found}, and must be {wanted}")]
    Setting { setting: &'static str, found: String, wanted: &'static str },
    #[error("cannot open the memory {path}")]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot open the memory {path}")]
    Sqlite { path: PathBuf, source: rusqlite::Error },
}

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The entry was not written; the memory still works.
    #[error("the disk is full")]
    Full,
    /// Whether the entry was written is unknown until the memory is reopened. It does nothing until then.
    #[error("the memory failed and must be reopened")]
    Failed(#[source] Option<rusqlite::Error>),
    #[error("the memory is damaged at entry {seq}")]
    Diverged { seq: u64 },
}

fn addresses(known: &[Address]) -> String {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    if known.is_empty() { "no wallet".to_owned() } else { known.join(", ") }
}
