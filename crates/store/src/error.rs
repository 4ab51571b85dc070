//! Errors of the store, by what the caller must do next.

use std::{fmt, path::PathBuf};

use bankroll_ledger::{RecordError, Seq};
use tokio_postgres::error::SqlState;

use crate::{DatabaseUrlError, JournalHead, MovedBooks, NotedHead, NotedIn, engine::postgres::is_transient};

/// Why a call was not accepted. Nothing happened; the caller may retry the same call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitRefusal {
    /// The queue is full.
    #[error("the ledger is busy; try the same request again in a moment")]
    Busy,
    /// More requests in one call than a batch takes.
    #[error("a call has 1 to {most} requests; this one has {given}")]
    CallSize { given: usize, most: usize },
    /// The writer has stopped; open the ledger again.
    #[error("the ledger's writer has stopped")]
    Stopped,
}

/// Why an accepted call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitFailure {
    /// The disk is full. Nothing of this call happened; the caller may retry the same call.
    #[error("the disk is full; nothing was changed")]
    StorageFull,
    /// Another program locks the database, or a row that the call needs. Nothing of this call happened.
    #[error("the database is locked by another program; nothing was changed")]
    Locked,
    /// The database was unreachable for a moment. Nothing of this call happened; the caller may retry the same call.
    #[error("the database was out of reach; nothing was changed")]
    Unreachable,
    /// The writer stopped before it could report the outcome. Retry with the same key once the ledger is open again.
    #[error("the outcome is unknown; retry with the same key")]
    Unknown,
}

/// What repairs a damaged place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamageRemedy {
    /// The place follows from the journal.
    Rebuild {
        /// The folder of the books; `None` for a database.
        folder: Option<PathBuf>,
    },
    /// Only a copy of the books has what was there.
    Restore,
}

impl fmt::Display for DamageRemedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebuild { folder: Some(folder) } => {
                write!(f, "it follows from the journal: run `bankroll rebuild --dir {}`", folder.display())
            }
            Self::Rebuild { folder: None } => {
                f.write_str("it follows from the journal: run `bankroll rebuild` with the same books.database")
            }
            Self::Restore => f.write_str("restore a backup (`bankroll doctor --help` says how to make copies)"),
        }
    }
}

/// A head that is noted outside the journal, which does not have it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "acknowledged records are lost: {noted_in} knows record {} (batch {}), and the journal {}. Put the newest copy of the \
     books back, with its log (-wal) or without any; if there is none, `bankroll accept-loss` records who accepts the loss",
    noted.seq, noted.batch, journal_has(noted, journal)
)]
pub struct LostTail {
    pub noted_in: NotedIn,
    pub noted: NotedHead,
    /// Where the journal ends.
    pub journal: JournalHead,
}

fn journal_has(noted: &NotedHead, journal: &JournalHead) -> String {
    if noted.batch > journal.batch {
        format!("ends at record {} (batch {})", journal.seq, journal.batch)
    } else {
        "has another batch there".to_owned()
    }
}

/// What can go wrong with the store itself.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or a file in it cannot be used.
    #[error("cannot use {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// Another process has the ledger open for writing.
    #[error("{path} is in use by another process ({holder})")]
    InUse {
        /// The lock file.
        path: PathBuf,
        /// What that process wrote about itself.
        holder: String,
    },
    /// The folder has no ledger.
    #[error("there is no ledger in {path}: check the folder, or create one with `bankroll init --dir {path}`")]
    NoLedger {
        /// The folder.
        path: PathBuf,
    },
    /// The file is there and has no books in it: it is empty, or a copy of it was cut short.
    #[error(
        "{path} has no books in it: move it and its log files (-wal, -journal) away; then put a sound copy in its \
         place, or run `bankroll init --dir {}`",
        path.parent().unwrap_or(path).display()
    )]
    NoBooksInFile {
        /// The file.
        path: PathBuf,
    },
    /// The books were moved into a database, which has the ledger now.
    #[error(
        "the books in {path} were moved to {} at {}: set books.database (`bankroll migrate-books --help` says how to \
         undo a move)",
        moved.to,
        moved.at
    )]
    Moved {
        /// The file.
        path: PathBuf,
        moved: MovedBooks,
    },
    /// The books were not moved, so there is nothing to undo.
    #[error("the books in {path} have never been moved, or the move was undone: nothing to undo")]
    NotMoved {
        /// The folder.
        path: PathBuf,
    },
    /// This user cannot take part in the locks of a writer that runs.
    #[error("{path} is being written to, and this user cannot read it meanwhile: run this as the writer's user")]
    NotReadableNow {
        /// The file.
        path: PathBuf,
    },
    /// The database finds that its file is not what it has written; where is not known.
    #[error("the database file is damaged: {what}; `bankroll doctor --full` names the place and the next step")]
    Damaged { what: String },
    /// Pages of a table, or of an index on it, are malformed.
    #[error("the database file is damaged in {place} ({what}): {remedy}")]
    PagesDamaged {
        /// For example `table accounts`.
        place: String,
        /// What the database says about it.
        what: String,
        remedy: DamageRemedy,
    },
    /// What everything else follows from is damaged, so a rebuild is impossible.
    #[error("{what}: nothing was changed; {}", DamageRemedy::Restore)]
    NotRebuildable {
        what: String,
        #[source]
        source: Box<StoreError>,
    },
    /// A file of the books is not the one any more that the writer has open.
    #[error(
        "{path} was removed or replaced while the books were open, and the writer has stopped: put the file back that was \
         there, together with its log (-wal), or the newest copy; opening the books says whether records are lost"
    )]
    FileReplaced {
        /// The file.
        path: PathBuf,
    },
    /// Another program, or a reader of this one, has the file open while its place is needed.
    #[error("another program reads {path}: nothing was changed; end it, then run the same command again")]
    BeingRead {
        /// The file.
        path: PathBuf,
    },
    /// The folder has books, a file of their name, or a log that other books have left.
    #[error("{path} exists already; nothing was changed")]
    LedgerExists {
        /// The file.
        path: PathBuf,
    },
    /// A setting that durability depends on has an unsafe value.
    #[error("the database's setting {setting} is {found}, and must be {wanted}")]
    Setting { setting: &'static str, found: String, wanted: &'static str },
    /// Postgres, or the connection to it, failed.
    #[error("the request to Postgres failed")]
    Postgres(#[source] tokio_postgres::Error),
    /// The database URL cannot be used.
    #[error(transparent)]
    Address(#[from] DatabaseUrlError),
    /// The database was unreachable for a moment; nothing happened.
    #[error("the database is out of reach")]
    Unreachable,
    /// The database has no books.
    #[error("there are no books in this database: check books.database, or create them with `bankroll init`")]
    NoBooks,
    /// A newer program has more tables, and this database user may not make them.
    #[error(
        "tables of the database must be made or changed, and this database user does not own them: run `bankroll init \
         --users` with the owner's login in books.database"
    )]
    NotOwner,
    /// The database has books already.
    #[error("there are books in this database already; nothing was changed")]
    NotEmpty,
    /// Another process has the lease on the books.
    #[error("the books are leased to {holder} for {seconds_left} more seconds")]
    Leased {
        holder: String,
        /// Unless the holder renews it.
        seconds_left: u64,
    },
    /// Another writer has taken over; this one has stopped.
    #[error("another writer has taken over the books")]
    Fenced,
    /// The commit thread died because of a bug; whether its batch is durable is unknown.
    #[error("the thread that commits has died")]
    CommitLost,
    /// The database was made by a newer program.
    #[error("the database has migration {number} of {owner}, which this program does not know: use a newer program")]
    NewerSchema { owner: String, number: u32 },
    /// The text of an applied migration has changed.
    #[error("the text of migration {number} of {owner} has changed since it was applied")]
    ChangedMigration { owner: String, number: u32 },
    /// The disk is full; the transaction was rolled back.
    #[error("the disk is full")]
    Full,
    /// Another program locks the database, or a row of it; nothing happened.
    #[error("the database is locked")]
    Locked,
    /// The database failed. What was being written may or may not be there.
    #[error("the database failed")]
    Database(#[source] rusqlite::Error),
    /// Acknowledged records are gone: a head is noted that the journal does not have.
    #[error(transparent)]
    TailLost(Box<LostTail>),
    /// The noted head is one of other books.
    #[error(
        "{noted_in} notes a head of other books than these: check the folder and books.database; if the other books are \
         gone for good, remove that file"
    )]
    OtherBooksNoted { noted_in: NotedIn },
    /// A head is noted where books are to be created.
    #[error(
        "{path} notes books that are not here any more: put the newest copy of them back; if they are gone for good, \
         remove that file"
    )]
    BooksWereHere {
        /// The file with the note.
        path: PathBuf,
    },
    /// Every noted head is in the journal, so there is no loss to accept.
    #[error("nothing is lost: the journal has every head that is noted; nothing was changed")]
    NothingLost,
    /// The journal and what is derived from it disagree, or the chain is broken.
    #[error("the books diverge at record {at}: {what}")]
    Diverged { at: Seq, what: String },
    /// The scrub of a node has found the books in this database unsound, and no rebuild has verified them since.
    #[error(
        "a node has found these books unsound: {finding}. Nothing is decided by them before they are verified: run \
         `bankroll rebuild` with the same books.database, which repairs what follows from the journal; if it cannot, \
         restore a backup"
    )]
    FoundUnsound { finding: String },
    /// A row, or an index that leads to it, is not what a commit wrote. Unless the table is the journal's, it is derived
    /// ([`StoreError::is_derived_damage`]).
    #[error("table {table} is damaged: {what}; {}", next_step(table))]
    RowDamaged { table: &'static str, what: String },
    /// The derived key index is damaged and must be rebuilt from the journal.
    #[error("the key index is damaged: {what}")]
    KeyIndexDamaged { what: String },
    /// The derived statement index is damaged. Readers use the journal instead; the process that has the books open for
    /// writing rebuilds it.
    #[error("the statement index is damaged: {what}")]
    StatementIndexDamaged { what: String },
    /// The cursor is malformed, or belongs to another query.
    #[error("this cursor belongs to another query; omit it for the first page")]
    CursorMalformed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
                Self::Damaged { what: error.to_string() }
            }
            // Only a commit counts rows: one that was there when the batch was decided is lost.
            None if matches!(error, rusqlite::Error::StatementChangedRows(_)) => {
                Self::row_damaged("balances", "a row that the commit changes is lost")
            }
            _ => match missing_index(&error) {
                // Queries name their index: without it one would read the whole table for each call.
                Some(index) => Self::PagesDamaged {
                    place: format!("index {index}"),
                    what: "it is missing".into(),
                    remedy: DamageRemedy::Rebuild { folder: None },
                },
                None => Self::Database(error),
            },
        }
    }
}

/// The index that a statement names and the file does not have. SQLite has no code for that.
fn missing_index(error: &rusqlite::Error) -> Option<String> {
    let message = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        _ => return None,
    };
    message.strip_prefix("no such index: ").map(str::to_owned)
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            // A page whose checksum or header is wrong, or an index that contradicts its table.
            Some(failed) if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(failed.code()) => {
                Self::Damaged { what: failed.message().to_owned() }
            }
            _ => Self::Postgres(error),
        }
    }
}

impl StoreError {
    /// Whether the books are not what was written: no retry helps, and money may be wrong.
    #[must_use]
    pub fn is_unsound(&self) -> bool {
        matches!(
            self,
            Self::Diverged { .. }
                | Self::RowDamaged { .. }
                | Self::Damaged { .. }
                | Self::PagesDamaged { .. }
                | Self::NotRebuildable { .. }
                | Self::TailLost { .. }
                | Self::FoundUnsound { .. }
                | Self::FileReplaced { .. }
        )
    }

    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    /// Whether the database was unreachable for a moment, so that a retry may help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable => true,
            Self::Postgres(error) => is_transient(error),
            _ => false,
        }
    }

    /// Whether the server answered that it has no such database.
    #[must_use]
    pub fn is_database_missing(&self) -> bool {
        matches!(self, Self::Postgres(error) if error.code() == Some(&SqlState::INVALID_CATALOG_NAME))
    }

    pub(crate) fn diverged(at: Seq, what: impl Into<String>) -> Self {
        Self::Diverged { at, what: what.into() }
    }

    pub(crate) fn row_damaged(table: &'static str, what: impl Into<String>) -> Self {
        Self::RowDamaged { table, what: what.into() }
    }

    /// Whether only what follows from the journal is damaged, so that it can be rebuilt.
    #[must_use]
    pub fn is_derived_damage(&self) -> bool {
        match self {
            Self::RowDamaged { table, .. } => !is_journal(table),
            Self::KeyIndexDamaged { .. } | Self::StatementIndexDamaged { .. } => true,
            _ => false,
        }
    }

    pub(crate) fn unreadable(at: Seq) -> impl FnOnce(RecordError) -> Self {
        move |error| Self::diverged(at, error.to_string())
    }
}

/// Whether a table is part of the journal, which cannot be computed from anything else.
fn is_journal(table: &str) -> bool {
    matches!(table, "journal" | "batches")
}

fn next_step(table: &str) -> &'static str {
    if is_journal(table) {
        "this is the journal itself: stop the writer and restore a backup"
    } else {
        "stop the writer and run `bankroll rebuild`"
    }
}
