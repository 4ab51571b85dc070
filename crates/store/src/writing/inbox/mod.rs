//! The inbox: facts that other roles hand over to the writer through tables.
//!
//! | who | does what |
//! | --- | --- |
//! | another role | adds rows ([`InboxTable::insert`]), each under an id of its own, with its own rows |
//! | `books` | takes rows that are new ([`InboxConsumer`]), lets the flow interpret each, and moves the money |
//!
//! It guarantees:
//! - a row is consumed by a fact with a guard in the commit of the money it causes: both or neither, and once;
//! - no row is missed: the consumer looks for the state "new", not past a cursor, so the order of commits does not
//!   matter;
//! - a row that cannot be applied is kept with the reason and does not block others; one that can be applied later is
//!   retried with growing pauses;
//! - the same fact handed over twice is one row, and another fact under the same id is refused.
//!
//! It is bounded by the rows of one round. It does not know what rows mean: a flow's [`RowMeaning`] says that.

mod consumer;
mod source;
mod table;

pub use consumer::{InboxConsumer, InboxError, InboxRound, RowMeaning};
pub use table::{InboxRow, InboxTable, NewInboxRow, PAYOUT_EVENTS, RefusedInboxRow};
