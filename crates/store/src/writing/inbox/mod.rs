//! The inbox: facts that other roles hand over to the writer through tables.
//!
//! | who | does what |
//! | --- | --- |
//! | another role | adds rows ([`InboxTable::adding`]), each under an id of its own choosing, in the write of its own rows |
//! | `books` | takes rows that are new ([`InboxConsumer`]), lets the flow say what each means, and moves the money |
//!
//! It guarantees:
//! - a row is consumed by a fact with a guard in the commit of the money it causes: both or neither, and once;
//! - no row is missed: what is looked for is "new", not "behind a cursor", whatever the order rows were committed in;
//! - a row that cannot be applied is kept with the reason, and stops no other; one that can be applied later is tried
//!   again, less and less often;
//! - the same fact handed over twice is one row, and another fact under the same id is refused.
//!
//! It is bounded by the rows of one round. It does not know what rows mean: a flow's [`RowMeaning`] says that.

mod consumer;
mod source;
mod table;

pub use consumer::{InboxConsumer, InboxError, InboxRound, RowMeaning};
pub use table::{InboxRow, InboxTable, NewInboxRow, PAYOUT_EVENTS};
