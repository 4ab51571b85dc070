//! Changing books: the handle, the queue behind it, and the one thread that decides and commits.
//!
//! | file | what it does |
//! | --- | --- |
//! | `ledger.rs` | the handle: open, submit, open accounts, rows, close |
//! | `writer.rs` | the thread: the loop and its phases |
//! | `queue.rs`, `delivery.rs` | calls on their way in, answers on their way out |
//! | `memory.rs`, `prefetch.rs` | what a batch is decided by, and what of it must be read first |
//! | `draft.rs`, `decided_keys.rs` | a batch while it is decided, and its keys |
//! | `storing.rs`, `aside.rs` | a decided batch on its way into the store; committing it while the next is decided |
//! | `keys/` | the key index: a key has one effect, for ever |
//! | `recovery.rs` | what is verified when books are opened |
//! | `rows.rs`, `inbox/` | flows' own rows, and facts that other roles hand over |
//! | `moving.rs` | books from SQLite to Postgres |
//! | `lock.rs`, `clock.rs`, `interrupt.rs` | one writer per folder, where time comes from, faults for simulators |

mod books_move;
mod changes;
mod clock;
mod commit_thread;
mod decided_keys;
mod delivery;
mod draft;
#[cfg(feature = "faults")]
mod fault;
mod inbox;
pub(crate) mod keys;
mod ledger;
mod lock;
mod memory;
mod prefetch;
mod queue;
pub(crate) mod recovery;
mod rows;
mod writer;

pub use books_move::{BooksMove, BooksMoveStage};
pub use clock::Clock;
#[cfg(feature = "faults")]
pub use fault::{FaultKind, FaultPoint};
pub use inbox::{InboxConsumer, InboxError, InboxRound, InboxRow, InboxTable, NewInboxRow, PAYOUT_EVENTS, RowMeaning};
pub use ledger::{BOOKS_FILE, Durability, LOCK_FILE, Ledger, LedgerOptions, STATEMENTS_FILE, SubmitError};
pub use queue::{Answer, PendingAnswer};
pub use rows::{Rows, RowsError, RowsLocation};
