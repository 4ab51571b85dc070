//! Queries about the past: balances at a time, statements, searches and timelines.
//!
//! Every query reads one snapshot of the journal: the statement index names places, the records after its end are
//! scanned, and each named place is confirmed by the record there. So an answer is never stale, and a damaged index
//! makes it slow, not wrong. Nothing here writes, and nothing passes through the writer.
//!
//! | file | what it does |
//! | --- | --- |
//! | `view` | a snapshot of the books: the places of terms, from runs and tail |
//! | `batches` | finds the batch of a place or a time |
//! | `openings` | batches with their heads, and the record that opened an account: what proofs are made from |
//! | `balance`, `statement` | the balance of an account at a time, and its changes line by line |
//! | `keys` | finds the record of an idempotency key |
//! | `search`, `timeline` | everything about a key, a wallet or a reference, and linked records |
//! | `check` | compares the indexes with the journal |
//! | `events` | announcements with their times, page by page |
//! | `cursor` | where the next page begins |

mod balance;
mod batches;
mod check;
mod cursor;
mod events;
mod keys;
mod openings;
mod search;
mod statement;
mod timeline;
mod view;

use bankroll_ledger::{Record, Seq, Time};

pub use balance::BalanceAt;
pub use check::IndexReport;
pub(in crate::history) use check::{EntrySum, differs};
pub use cursor::Cursor;
pub use events::{EventEntry, EventPosition};
pub use keys::KeyQuery;
pub use search::{SearchQuery, SearchSubject};
pub use statement::{Direction, StatementChange, StatementLine, StatementQuery};
pub use timeline::Timeline;
pub(crate) use view::HistoryView;

/// The most entries or lines of one page.
pub const PAGE_MAX: usize = 10_000;

/// A record of the journal with its place and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    pub seq: Seq,
    /// The time of its batch.
    pub at: Time,
    pub record: Record,
}

/// A part of a longer list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// In the order of the query.
    pub items: Vec<T>,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<Cursor>,
}

/// How far the statement index reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexState {
    /// The last record that it covers; 0 if there is no index, or no sound one.
    pub covered: Seq,
    /// The last record of the journal.
    pub last: Seq,
    /// The number of its sorted runs.
    pub runs: usize,
}
