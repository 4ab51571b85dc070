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

mod aside;
mod clock;
mod decided_keys;
mod delivery;
mod draft;
mod inbox;
#[cfg(feature = "faults")]
mod interrupt;
pub(crate) mod keys;
mod ledger;
mod lock;
mod memory;
mod moving;
mod prefetch;
mod queue;
pub(crate) mod recovery;
mod rows;
mod storing;
mod writer;

pub use clock::Clock;
pub use inbox::{Consumed, Consumer, InboxError, InboxRow, InboxTable, NewRow, PAYOUT_EVENTS, Round};
#[cfg(feature = "faults")]
pub use interrupt::{Interrupt, Trouble};
pub use ledger::{BOOKS_FILE, CallError, Durability, LOCK_FILE, Ledger, Options, STATEMENTS_FILE};
pub use moving::{Move, Moving};
pub use queue::Reply;
pub use rows::{Rows, RowsError, RowsLocation};
