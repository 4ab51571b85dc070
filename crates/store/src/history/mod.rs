//! Reading books without the writer: the present state, its history, and whether both agree.
//!
//! | file | what it does |
//! | --- | --- |
//! | `reader.rs` | books open for reading: accounts, holds, records, receipts, events |
//! | `reading/` | queries about the past: balances at a time, statements, searches, timelines |
//! | `index/` | the statement index that makes them fast, and the thread that maintains it |
//! | `audit/` | recomputes the books from the journal, and flows' rows from its facts |
//! | `scrub/` | the same in small pieces, while a writer works |

mod audit;
pub(crate) mod index;
mod reader;
mod reading;
mod scrub;

pub use audit::{Audit, AuditProgress, AuditReport};
pub use reader::{AccountFilter, Reader, StoredEvent};
pub use reading::{
    BalanceAt, Cursor, Direction, EventEntry, EventPosition, IndexReport, IndexState, JournalEntry, KeyQuery, PAGE_MAX,
    Page, SearchQuery, SearchSubject, StatementChange, StatementLine, StatementQuery, Timeline,
};
pub use scrub::{Scrub, ScrubReport, ScrubStep};
