//! Reading books beside the writer: what is committed, how it came to be, and whether it still adds up.
//!
//! | file | what it does |
//! | --- | --- |
//! | `reader.rs` | books open for reading: accounts, holds, records, receipts, announcements |
//! | `reading/` | questions about the past: balances at a time, statements, searches, timelines |
//! | `terms/` | the statement index that answers them quickly, and the thread that keeps it |
//! | `audit/` | the books computed again from the journal, and flows' rows as its facts have left them |

mod audit;
pub(crate) mod index;
mod reader;
mod reading;

pub use audit::{Audit, AuditProgress, AuditReport};
pub use reader::{AccountFilter, Reader, StoredEvent};
pub use reading::{
    BalanceAt, Cursor, Direction, IndexReport, IndexState, JournalEntry, KeyQuery, PAGE_MAX, Page, SearchQuery,
    SearchSubject, StatementChange, StatementLine, StatementQuery, Timeline,
};
