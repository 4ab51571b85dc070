//! How a memory fails to open, and how it fails later.

use std::{io, path::PathBuf};

use bankroll_orders::Address;

/// Why a memory was not opened. The signer does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No file, or one in which nothing was ever begun.
    #[error(
        "there is no memory at {path}: a signer without the history of its keys could sign twice. If these keys have \
         never signed anything, say so with --new-memory"
    )]
    NoMemory {
        /// Where it should be.
        path: PathBuf,
    },
    /// A new one was asked for, and there is one.
    #[error("{path} is there already; nothing was changed")]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// Another process has it.
    #[error("the memory {path} is in use by another process")]
    InUse {
        /// Where it is.
        path: PathBuf,
    },
    /// The history of a key is not in it: it belongs to other keys.
    #[error(
        "the memory {path} does not have the history of {wallet}; it has that of {}. If that key has never signed \
         anything, say so with --new-wallet {wallet}",
        addresses(known)
    )]
    OtherKey {
        /// Where it is.
        path: PathBuf,
        /// Whose history is missing.
        wallet: Address,
        /// Whose it has.
        known: Vec<Address>,
    },
    /// It is not what was written. Nothing may be signed with it.
    #[error("the memory {path} is damaged: {what}")]
    Damaged {
        /// Where it is.
        path: PathBuf,
        /// The first thing that is wrong.
        what: String,
    },
    /// It was made by a later version of the program.
    #[error("the memory {path} has format {found}, and this program knows up to {known}")]
    TooNew {
        /// Where it is.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// A setting that durability depends on did not take.
    #[error("SQLite's {setting} is {found}, and must be {wanted}")]
    Setting {
        /// Which.
        setting: &'static str,
        /// What it is.
        found: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// The file cannot be used.
    #[error("cannot open the memory {path}")]
    Io {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// SQLite cannot use the file.
    #[error("cannot open the memory {path}")]
    Sqlite {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
}

/// Why an entry was not added, or something not read.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// No room. The entry is not there, and the memory goes on.
    #[error("the disk is full")]
    Full,
    /// The entry may be there or not; that is known when the memory is opened again. It does nothing until then.
    #[error("the memory failed, and must be opened again")]
    Failed(#[source] Option<rusqlite::Error>),
    /// What was read is not what was written.
    #[error("the memory is damaged at entry {seq}")]
    Diverged {
        /// Where.
        seq: u64,
    },
}

fn addresses(known: &[Address]) -> String {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    if known.is_empty() { "nobody".to_owned() } else { known.join(", ") }
}
