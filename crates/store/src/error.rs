//! Errors of the store, by what the caller must do next.

use std::path::PathBuf;

use bankroll_ledger::{RecordError, Seq};

use crate::{DatabaseUrlError, engine::postgres::is_transient};

/// Why a call was not taken. Nothing happened; the same call may be made again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitRefusal {
    /// The queue is full.
    #[error("the ledger is busy; try the same request again in a moment")]
    Busy,
    /// More requests in one call than a batch takes.
    #[error("a call has 1 to {most} requests; this one has {given}")]
    CallSize {
        /// What was given.
        given: usize,
        /// What is possible.
        most: usize,
    },
    /// The writer has stopped; open the ledger again.
    #[error("the ledger's writer has stopped")]
    Stopped,
}

/// Why a call that was taken has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitFailure {
    /// The disk is full. Nothing of this call happened; the same call may be made again.
    #[error("the disk is full; nothing was changed")]
    StorageFull,
    /// The database, or a row that the call is about, is locked by another program. Nothing of this call happened.
    #[error("the database is locked by another program; nothing was changed")]
    Locked,
    /// The database was out of reach for a moment. Nothing of this call happened; the same call may be made again.
    #[error("the database was out of reach; nothing was changed")]
    Unreachable,
    /// The writer stopped before it could tell. Ask again with the same key once the ledger is open again.
    #[error("the outcome is unknown; ask again with the same key")]
    Unknown,
}

/// What can go wrong with the store itself.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or a file in it cannot be used.
    #[error("cannot use {path}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another process has the ledger.
    #[error("{path} is in use by another process ({holder})")]
    InUse {
        /// The lock file.
        path: PathBuf,
        /// What that process wrote about itself.
        holder: String,
    },
    /// The folder has no ledger.
    #[error("there is no ledger in {path}; `bankroll init` makes one")]
    NoLedger {
        /// The folder.
        path: PathBuf,
    },
    /// A setting that durability depends on is not as it must be.
    #[error("SQLite setting {setting} is {found}, and must be {wanted}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// What it is.
        found: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// Postgres, or the way to it.
    #[error("Postgres")]
    Postgres(#[from] tokio_postgres::Error),
    /// The text that says where the database is cannot be read.
    #[error(transparent)]
    Address(#[from] DatabaseUrlError),
    /// The database was out of reach for a moment; nothing happened.
    #[error("the database is out of reach")]
    Unreachable,
    /// The database has no books.
    #[error("there are no books in this database; `bankroll init` makes them")]
    NoBooks,
    /// The database has books already.
    #[error("there are books in this database already; nothing was changed")]
    NotEmpty,
    /// Another process has the lease on the books.
    #[error("the books are leased to {holder} for {seconds_left} more seconds")]
    Leased {
        /// Who has it.
        holder: String,
        /// For how long, unless it is renewed.
        seconds_left: u64,
    },
    /// Another writer has taken over; this one has stopped.
    #[error("another writer has taken over the books")]
    Fenced,
    /// The thread that commits has died, by a bug; whether its batch is durable is unknown.
    #[error("the thread that commits has died")]
    CommitLost,
    /// The database was made by a newer program.
    #[error("the database has migration {number} of {owner}, which this program does not know: use a newer program")]
    NewerSchema {
        /// Whose migration.
        owner: String,
        /// Which.
        number: u32,
    },
    /// A migration that was applied has another text now.
    #[error("migration {number} of {owner} is not the one that was applied")]
    ChangedMigration {
        /// Whose migration.
        owner: String,
        /// Which.
        number: u32,
    },
    /// The disk is full; the transaction was rolled back.
    #[error("the disk is full")]
    Full,
    /// Another program has the database locked, or a row of it; nothing happened.
    #[error("the database is locked")]
    Locked,
    /// The database failed. What was being written may or may not be there.
    #[error("the database failed")]
    Database(#[from] rusqlite::Error),
    /// The journal and what is derived from it disagree, or the chain is broken.
    #[error("the books diverge at record {at}: {what}")]
    Diverged {
        /// Where.
        at: Seq,
        /// What was found.
        what: String,
    },
    /// The derived key index is damaged and must be rebuilt from the journal.
    #[error("the key index is damaged: {what}")]
    KeyIndexDamaged {
        /// What was found.
        what: String,
    },
    /// The derived statement index is damaged. Whoever reads goes to the journal instead; the process that has the books
    /// open for writing builds it again.
    #[error("the statement index is damaged: {what}")]
    StatementIndexDamaged {
        /// What was found.
        what: String,
    },
    /// A page was asked for with a cursor that another question gave, or that is none.
    #[error("this is no cursor of this question: leave it away to begin at the first page")]
    CursorMalformed,
}

impl StoreError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Whether the database was out of reach for a moment, so that asking again may help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable => true,
            Self::Postgres(error) => is_transient(error),
            _ => false,
        }
    }

    /// TEMPORARY alias of [`StoreError::is_transient`].
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.is_transient()
    }

    pub(crate) fn diverged(at: Seq, what: impl Into<String>) -> Self {
        Self::Diverged { at, what: what.into() }
    }

    pub(crate) fn unreadable(at: Seq) -> impl FnOnce(RecordError) -> Self {
        move |error| Self::diverged(at, error.to_string())
    }
}
