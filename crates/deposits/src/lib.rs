//! Deposits: seen on chain, final by depth, credited with the fee on top, and reversed when the chain drops them.
//!
//! Two steps that share nothing but rows. The **scanner** (role `indexer`) follows the chain and writes what it
//! says; **crediting** (role `books`) reads what is final and not booked, or booked and no longer canonical, and
//! makes the books agree. Neither has a clock, a thread or randomness of its own: the node calls them again and
//! again, and the simulator does so with faults in between.
//!
//! It guarantees:
//! - a transfer is credited at most once net of reversals, whatever the chain, the node or a crash does: one request a
//!   (deposit, epoch), whose guard is that the inclusion is still final for us;
//! - a step is one write or none; an RPC node that lags, omits or contradicts itself changes nothing, and the error
//!   says why;
//! - what was spent of a credit that the chain dropped is its owner's debt; no other account pays for it;
//! - an amount that the ledger cannot count is recorded whole and held for an operator, never cut.
//!
//! - the books credit what the scanner's log says ([`chain_event`]), never what a column of a deposit says: a row that
//!   was edited or made up credits nothing, takes nothing back, and stops no other deposit;
//! - what no header vouches for (tokens' logs, what contracts moved) is compared with balances ([`balance_check`]), and
//!   above a threshold several providers must say the same ([`ProviderAgreement`]).
//!
//! It deliberately does not know: which RPC node to use, who may decide about a deposit, screening, policies by amount,
//! notifications beyond the outbox.
//!
//! | to learn | read |
//! | --- | --- |
//! | what is watched, and whose money it is | [`WatchList`], [`Payer`], [`Purpose`] |
//! | following the chain | [`Indexer`], [`scanner`], [`follower`] (forward and back, pure), [`sighting`], [`balance_check`] |
//! | several RPC nodes | [`agreement`], [`ProviderChoice`], `balance_word.rs` |
//! | what was seen, as a log | [`chain_event`], [`event_log`], [`audit`] |
//! | what our own wallets sent | [`outgoing`] |
//! | booking | [`crediting::step`], [`credit`] (the requests, pure) |
//! | what people decide | [`review`] (hold, release, refuse, assign), `review_proof.rs` (what the journal says of it) |
//! | the state of a deposit | [`ChainState`], [`ReviewState`], [`LedgerState`], [`DepositStatus`], [`DepositStage`], [`view`] |
//! | the tables | [`DEPOSITS`], `rows.rs`, `migrations/` |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

pub mod agreement;
pub mod attention;
pub mod audit;
pub mod balance_check;
mod balance_word;
pub mod buy_in;
pub mod chain_event;
pub mod credit;
pub mod crediting;
pub mod custody_gap;
mod error;
pub mod event_log;
pub mod follower;
mod grants;
mod id;
pub mod indexer;
pub mod outgoing;
mod provider_choice;
pub mod review;
mod review_proof;
mod rows;
pub mod scanner;
pub mod sighting;
mod state;
pub mod view;
mod watch;

pub use agreement::ProviderAgreement;
pub use balance_check::{AbsentTransfer, BalanceQuestion};
pub use buy_in::BuyIn;
pub use chain_event::{ChainEvent, EventHash, EventTail, Inclusion, InclusionChange};
pub use credit::{PlayerStanding, ServerRules, Servers};
pub use crediting::{BookedDeposit, BookingOutcome};
pub use error::{CreditError, ScanError};
pub use event_log::{DepositHistory, EvidenceFault};
pub use grants::DEPOSITS_GRANTS;
pub use id::{DepositId, DepositKind};
pub use indexer::Indexer;
pub use outgoing::{OutgoingTransaction, OutgoingView, UnexplainedNonce};
pub use provider_choice::ProviderChoice;
pub use review::{CarriedOutReview, ReviewRefusal};
pub use rows::DEPOSITS;
pub use scanner::{BlocksAhead, ChainProgress, ChainSource, DepositChange, ScanConfig, ScanNotice, ScanOutcome};
pub use sighting::{DepositRules, Doubt, IncomingTransfer, OddTransferLog, Sighting};
pub use state::{ChainState, DepositStage, DepositStatus, LedgerState, ReviewState};
pub use watch::{Attribution, Payer, Purpose, WatchList, WatchedAddress};

#[cfg(test)]
mod tests;
