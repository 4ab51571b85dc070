//! The ledger of record on disk, in a folder (SQLite) or a database (Postgres).
//!
//! [`Ledger`] is the handle: requests go in, answers come out after they are durable. Behind it one thread, the
//! writer, decides everything with `bankroll_ledger::decide` and stores it through an engine. Reading does not
//! pass through the writer: [`Reader`] opens the same database itself, and answers from the journal and from the
//! statement index, which a background thread maintains.
//!
//! It guarantees:
//! - no request is answered before it is synced to disk;
//! - a batch is stored whole or not at all: records, balances, key results, facts, events;
//! - an idempotency key has one effect, forever;
//! - memory is bounded by the options, no matter what callers do;
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
    JournalHead, RowsOutcome, RowsRejection, Statement,
    migrations::{BOOKS, INBOX, Migrations},
    postgres::{LeaseHolder, LeaseWatch},
};
pub use error::{StoreError, SubmitFailure, SubmitRefusal};
pub use history::{
    AccountFilter, Audit, AuditProgress, AuditReport, BalanceAt, Cursor, Direction, IndexReport, IndexState,
    JournalEntry, KeyQuery, PAGE_MAX, Page, Reader, SearchQuery, SearchSubject, StatementChange, StatementLine,
    StatementQuery, StoredEvent, Timeline,
};
pub use location::{DatabaseUrl, DatabaseUrlError, Location, Protection};
pub use writing::{
    BOOKS_FILE, BooksMove, BooksMoveStage, Clock, Durability, InboxConsumer, InboxError, InboxRound, InboxRow,
    InboxTable, LOCK_FILE, Ledger, LedgerOptions, NewInboxRow, PAYOUT_EVENTS, PendingAnswer, RowMeaning, Rows,
    RowsError, RowsLocation, STATEMENTS_FILE, SubmitError,
};
#[cfg(feature = "faults")]
pub use writing::{FaultKind, FaultPoint};

// TEMPORARY aliases, one line each: dependents still use the old names.
pub use engine::JournalHead as Head; // TEMPORARY alias
pub use engine::RowsOutcome as RowsChanged; // TEMPORARY alias
pub use engine::RowsRejection as RowsRejected; // TEMPORARY alias
pub use engine::postgres::LeaseHolder as Holder; // TEMPORARY alias
pub use engine::postgres::LeaseWatch as Watch; // TEMPORARY alias
pub use error::SubmitFailure as Failure; // TEMPORARY alias
pub use error::SubmitRefusal as Refused; // TEMPORARY alias
pub use history::AuditProgress as Progress; // TEMPORARY alias
pub use history::BalanceAt as Standing; // TEMPORARY alias
pub use history::JournalEntry as Entry; // TEMPORARY alias
pub use history::SearchSubject as Subject; // TEMPORARY alias
pub use history::StatementChange as Change; // TEMPORARY alias
pub use history::StatementLine as Line; // TEMPORARY alias
pub use location::DatabaseUrlError as AddressError; // TEMPORARY alias
pub use writing::BooksMove as Move; // TEMPORARY alias
pub use writing::BooksMoveStage as Moving; // TEMPORARY alias
#[cfg(feature = "faults")]
pub use writing::FaultKind as Trouble; // TEMPORARY alias
#[cfg(feature = "faults")]
pub use writing::FaultPoint as Interrupt; // TEMPORARY alias
pub use writing::InboxConsumer as Consumer; // TEMPORARY alias
pub use writing::InboxRound as Round; // TEMPORARY alias
pub use writing::LedgerOptions as Options; // TEMPORARY alias
pub use writing::NewInboxRow as NewRow; // TEMPORARY alias
pub use writing::PendingAnswer as Reply; // TEMPORARY alias
pub use writing::RowMeaning as Consumed; // TEMPORARY alias
pub use writing::SubmitError as CallError; // TEMPORARY alias
