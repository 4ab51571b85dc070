//! Deposits: seen on chain, final by depth, credited with the fee on top, and back again when the chain takes them back.
//!
//! Two steps that know nothing of each other but the rows between them. The **scanner** (role `indexer`) follows the chain
//! and writes what it says; **crediting** (role `books`) looks at what is final and not booked, or booked and no longer
//! canonical, and makes the books agree. Neither has a clock, a thread or chance of its own: whoever runs the program calls
//! them again and again, and a simulator does so with faults in between.
//!
//! It guarantees:
//! - a transfer is credited at most once net of reversals, whatever the chain, the node or a crash does: one request a
//!   (deposit, epoch), whose guard is that the inclusion is still final for us;
//! - a step is one write or none; a node that lags, omits or contradicts itself changes nothing, and is told why;
//! - what was spent of a credit that the chain took back is its owner's debt; nobody else pays for it;
//! - an amount that the ledger cannot count is recorded whole and held for a person, never cut.
//!
//! It deliberately does not know: tokens and transfers inside transactions (kinds to come), several nodes for one chain,
//! screening, policies by amount, notifications beyond the outbox.
//!
//! | to learn | read |
//! | --- | --- |
//! | what is watched, and whose money it is | [`WatchList`], [`Payer`], [`Purpose`] |
//! | following the chain | [`Indexer`], [`scanner::look`] and [`scanner::take`], [`course`] (forward and back, pure), [`sighting`] |
//! | booking | [`crediting::step`], [`credit`] (the requests, pure) |
//! | where a deposit stands | [`ChainState`], [`ReviewState`], [`LedgerState`], [`Status`], [`standing`] |
//! | the tables | [`DEPOSITS`], `rows.rs`, `migrations/` |

#![deny(missing_docs)]
#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

pub mod buy_in;
pub mod course;
pub mod credit;
pub mod crediting;
mod error;
mod id;
pub mod indexer;
mod rows;
pub mod scanner;
pub mod sighting;
pub mod standing;
mod state;
mod watch;

pub use buy_in::BuyIn;
pub use credit::{ServerRules, Servers};
pub use crediting::Booked;
pub use error::{CreditError, ScanError};
pub use id::{DepositId, Kind};
pub use indexer::Indexer;
pub use rows::DEPOSITS;
pub use scanner::{Ahead, DepositChange, Scanned, Scanning};
pub use sighting::{Rules, Sighting, Transfer};
pub use state::{ChainState, LedgerState, ReviewState, Status};
pub use watch::{Attribution, Payer, Purpose, WatchList, Watched};

#[cfg(test)]
mod tests;
