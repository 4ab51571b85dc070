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

mod audit;
mod clock;
pub mod columns;
mod engine;
mod error;
mod inbox;
mod interrupt;
mod keys;
mod ledger;
mod location;
mod lock;
mod migrations;
mod moving;
mod reader;
mod reading;
mod recovery;
mod rows;
mod runs;
mod terms;
mod writer;

pub use audit::{Audit, AuditReport, Progress};
pub use clock::Clock;
pub use engine::{
    Head, RowsChanged, RowsRejected, Statement,
    postgres::{Holder, Watch},
};
pub use error::{Failure, Refused, StoreError};
pub use inbox::{
    Consumed, Consumer, HandOver, HandOverError, INDEXER_EVENTS, InboxError, InboxRow, InboxSource, InboxTable, NewRow,
    PAYOUT_EVENTS, Round, RowState,
};
pub use interrupt::{Interrupt, Trouble};
pub use ledger::{BOOKS_FILE, CallError, Durability, LOCK_FILE, Ledger, Options, STATEMENTS_FILE};
pub use location::{AddressError, DatabaseUrl, Location, Protection};
pub use migrations::{BOOKS, INBOX, Migrations};
pub use moving::{Move, Moving};
pub use reader::{AccountFilter, Reader, StoredEvent};
pub use reading::{
    Change, Cursor, Direction, Entry, IndexReport, IndexState, KeyQuery, Line, PAGE_MAX, Page, SearchQuery, Standing,
    StatementQuery, Subject, Timeline,
};
pub use rows::{Rows, RowsError};
pub use writer::{Answer, Reply};
