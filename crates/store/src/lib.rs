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

pub use bankroll_ledger::{AcceptedLoss, Answer};
pub use engine::{
    JournalHead, RowsOutcome, RowsRejection, SchemaReport, Statement,
    grants::{BOOKS_GRANTS, INBOX_GRANTS, RoleGrant, TableGrants, TableRight},
    migrations::{BOOKS, INBOX, Migrations},
    postgres::{DatabaseUser, LeaseHolder, LeaseWatch, UserReport, compare_user, write_users},
};
pub use error::{DamageRemedy, LostTail, StoreError, SubmitFailure, SubmitRefusal};
pub use history::{
    AccountFilter, Audit, AuditProgress, AuditReport, BalanceAt, Cursor, Direction, EventEntry, EventPosition,
    IndexReport, IndexState, JournalEntry, KeyQuery, PAGE_MAX, Page, Reader, Scrub, ScrubReport, ScrubStep,
    SearchQuery, SearchSubject, StatementChange, StatementLine, StatementQuery, StoredEvent, Timeline,
};
pub use location::{DatabaseUrl, DatabaseUrlError, Location, MovedBooks, Protection};
pub use writing::{
    BOOKS_FILE, BooksMove, BooksMoveStage, Clock, Durability, HEAD_FILE, HeadWatch, InboxConsumer, InboxError,
    InboxRound, InboxRow, InboxTable, LOCK_FILE, Ledger, LedgerOptions, NewInboxRow, NotedHead, NotedIn, PAYOUT_EVENTS,
    PendingAnswer, RebuildReport, RebuildStage, RefusedInboxRow, RowMeaning, Rows, RowsError, RowsLocation,
    STATEMENTS_FILE, SubmitError, rebuild_books,
};
#[cfg(feature = "faults")]
pub use writing::{FaultKind, FaultPoint};

/// The sample of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeSample;
