//! The ledger of record on disk, in a folder (SQLite) or a database (Postgres).
//!
//! [`Ledger`] is the handle: requests go in, answers come out after they are durable. Behind it one thread, the
//! writer, decides everything with `bankroll_ledger::decide` and stores it through an engine. Reading does not
//! pass through the writer: [`Reader`] opens the same file for itself, and answers from the journal and the statement
//! index that a thread of its own keeps beside it.
//!
//! It guarantees:
//! - nothing is answered before it is synced to disk;
//! - a batch is stored whole or not at all: records, balances, key results, facts, events;
//! - a key has one effect, for ever;
//! - memory is bounded by the options, whatever callers do;
//! - one process writes to a folder, or to a database.
//!
//! It does not know: what flows' tables mean, chains, HTTP.

pub mod columns;
mod engine;
mod error;
mod files;
mod history;
mod location;
mod writing;

pub use bankroll_ledger::Answer;
pub use engine::{
    Head, RowsChanged, RowsRejected, Statement,
    migrations::{BOOKS, INBOX, Migrations},
    postgres::{Holder, Watch},
};
pub use error::{Failure, Refused, StoreError};
pub use history::{
    AccountFilter, Audit, AuditReport, Change, Cursor, Direction, Entry, IndexReport, IndexState, KeyQuery, Line,
    PAGE_MAX, Page, Progress, Reader, SearchQuery, Standing, StatementQuery, StoredEvent, Subject, Timeline,
};
pub use location::{AddressError, DatabaseUrl, Location, Protection};
pub use writing::{
    BOOKS_FILE, CallError, Clock, Consumed, Consumer, Durability, InboxError, InboxRow, InboxTable, LOCK_FILE, Ledger,
    Move, Moving, NewRow, Options, PAYOUT_EVENTS, Reply, Round, Rows, RowsError, RowsLocation, STATEMENTS_FILE,
};
#[cfg(feature = "faults")]
pub use writing::{Interrupt, Trouble};
