//! Changing books: the handle, the queue behind it, and the one thread that decides and commits.
//!
//! | file | what it does |
//! | --- | --- |
//! | `ledger.rs` | the handle: open, submit, open accounts, rows, close |
//! | `writer.rs` | the thread: the loop and its phases |
//! | `queue.rs`, `delivery.rs` | calls to the writer, answers to the callers |
//! | `memory.rs`, `prefetch.rs` | the books in memory, and loading what a batch needs |
//! | `draft.rs`, `decided_keys.rs` | a batch while it is being decided, and its keys |
//! | `changes.rs`, `commit_thread.rs` | a decided batch; committing it while the next one is decided |
//! | `control.rs` | what others ask of a writer that runs: to stop, to rebuild an index |
//! | `keys/` | the key index: an idempotency key has one effect, forever |
//! | `recovery.rs`, `tail.rs` | what is verified when books are opened; the rows that follow from the last records |
//! | `newest_head.rs`, `head_watch.rs` | the newest head, noted in a second place: whether records are lost |
//! | `accept_loss.rs` | going on without lost records, on a person's word |
//! | `rows.rs`, `inbox/` | flows' own rows, and facts that other roles hand over |
//! | `lease_wait.rs` | waiting for the lease of a holder that died |
//! | `books_move.rs` | moving books from SQLite to Postgres |
//! | `rebuild_books.rs` | making everything again that follows from the journal |
//! | `lock.rs`, `clock.rs`, `fault.rs` | one writer per folder, the clock, faults that simulators inject |

mod accept_loss;
mod books_move;
mod changes;
mod clock;
mod commit_thread;
mod control;
mod decided_keys;
mod delivery;
mod draft;
#[cfg(feature = "faults")]
mod fault;
mod head_watch;
mod inbox;
pub(crate) mod keys;
mod lease_wait;
mod ledger;
mod lock;
mod memory;
pub(crate) mod newest_head;
mod prefetch;
mod queue;
mod rebuild_books;
pub(crate) mod recovery;
mod rows;
mod tail;
mod writer;

pub use books_move::{BooksMove, BooksMoveStage};
pub use clock::Clock;
#[cfg(feature = "faults")]
pub use fault::{FaultKind, FaultPoint};
pub use head_watch::HeadWatch;
pub use inbox::{
    InboxConsumer, InboxError, InboxRound, InboxRow, InboxTable, NewInboxRow, PAYOUT_EVENTS, RefusedInboxRow,
    RowMeaning,
};
pub use ledger::{BOOKS_FILE, Durability, LOCK_FILE, Ledger, LedgerOptions, STATEMENTS_FILE, SubmitError};
pub use newest_head::{HEAD_FILE, NotedHead, NotedIn};
pub use queue::PendingAnswer;
pub use rebuild_books::{RebuildReport, RebuildStage, rebuild_books};
pub use rows::{Rows, RowsError, RowsLocation};
