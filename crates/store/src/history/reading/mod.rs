//! Reading what happened: balances at a time, statements, searches and timelines.
//!
//! Every question is answered as of one moment, from the journal: the statement index says where to look, the records
//! behind its end are looked through, and each place it names is confirmed by the record there. So an answer is never
//! stale, and a damaged index makes it slow, not wrong. Nothing here writes, and nothing passes through the writer.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `view` | one moment of the books: the places of terms, from runs and tail |
//! | `batches` | which batch a place or a time is in |
//! | `balance`, `statement` | where an account stood, and line by line how it got there |
//! | `keys` | finding the record of an idempotency key |
//! | `search`, `timeline` | everything about a key, a wallet or a reference, and what follows from it |
//! | `check` | whether the indexes are what the journal says |
//! | `cursor` | where the next page begins |

mod balance;
mod batches;
mod check;
mod cursor;
mod keys;
mod search;
mod statement;
mod timeline;
mod view;

use bankroll_ledger::{Record, Seq, Time};

pub use balance::BalanceAt;
pub use check::IndexReport;
pub use cursor::Cursor;
pub use keys::KeyQuery;
pub use search::{SearchQuery, SearchSubject};
pub use statement::{Direction, StatementChange, StatementLine, StatementQuery};
pub use timeline::Timeline;
pub(crate) use view::View;

/// Entries and lines of one page at the most.
pub const PAGE_MAX: usize = 10_000;

/// A record of the journal with its place and time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its place.
    pub seq: Seq,
    /// The time of its batch.
    pub at: Time,
    /// What it says.
    pub record: Record,
}

/// Some of a longer list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// In the order that was asked for.
    pub items: Vec<T>,
    /// Where the next page begins; `None` after the last one.
    pub next: Option<Cursor>,
}

/// How far the statement index reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexState {
    /// The last record that it covers; 0 if there is no index, or none that can be relied on.
    pub covered: Seq,
    /// The last record of the journal.
    pub last: Seq,
    /// Sorted runs that it consists of.
    pub runs: usize,
}
