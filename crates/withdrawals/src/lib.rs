//! Withdrawals: an intent with its hold, one job, signed once, paid once, and refunded only with proof.
//!
//! Two layers that meet in rows. **Intents** ([`intent`], role `books`): somebody wants something paid; the money is held in
//! the same commit, and is posted or released when it is proven what became of it ([`settlement`]). **Jobs** ([`payouts`],
//! role `payouts`): a nonce, an order to the signer, bytes that are sent again and again, a block, its depth. What became
//! of a job is handed over through `payout_events`.
//!
//! It guarantees:
//! - one intent is paid at most once: one job for ever, one nonce, and from the first order to the signer on only
//!   transactions of that nonce, of which one can be mined;
//! - a hold is released only with proof that none of them can ever pay: a final revert, a final nothing on the nonce, or the
//!   signer's promise that it never signed and never will;
//! - whoever owes what the chain took back of his deposits is not paid until he has repaid it, unless it is signed already;
//! - nothing is ordered or settled by a row that does not say what the journal says;
//! - no answer is never taken for a no: not of a node, not of the signer, not of the store;
//! - players' coins pay nobody's gas: without capital of the house, or a fee the player has set aside, a payout waits.
//!
//! It has no clock, thread or chance of its own. It deliberately does not know: tokens, approvals by people, several
//! wallets to choose from, several nodes, sweeps. The signer has rules of its own, and trusts none of this.
//!
//! | to learn | read |
//! | --- | --- |
//! | wanting something paid | [`intent::create`], [`Wanted`], [`Policy`] |
//! | the same, asked through another node | [`asked::understand`] |
//! | what a job does next, and why (pure) | [`job::next`] |
//! | prices, and paying more for the same (pure) | [`price`] |
//! | doing it | [`payouts::step`], [`Paying`] |
//! | the money at the end | [`settlement::consumer`] |
//! | the tables | [`WITHDRAWALS`], `rows.rs`, `migrations/` |

#![deny(missing_docs)]
#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

pub mod asked;
mod chain;
mod decided;
mod error;
pub mod intent;
pub mod job;
pub mod payouts;
pub mod price;
mod reserve;
mod rows;
pub mod settlement;
mod signing;

pub use error::{IntentError, PayoutError};
pub use intent::{GasPayer, Intent, Policy, Wanted};
pub use job::{Attempt, Job, Mined, Outcome, Rules, Sight, Stage};
pub use payouts::{Happened, Paying, Why};
pub use rows::{CancelError, WITHDRAWALS, cancel};

#[cfg(test)]
mod tests;
