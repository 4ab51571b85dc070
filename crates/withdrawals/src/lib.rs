//! Withdrawals: an intent with its hold, one job, signed once, paid once, and refunded only with proof.
//!
//! Two layers that meet in rows. **Intents** ([`Intents`], role `books`): a caller requests a payout; the money is held in
//! the same commit, and is posted or released when the outcome is proven ([`settlement`]). **Jobs** ([`payouts`], role
//! `payouts`): a nonce, an order to the signer, bytes that are sent again and again, a block, its depth. The payouts role
//! reports the outcome of a job to the books through `payout_events`.
//!
//! It guarantees:
//! - one intent is paid at most once: one job for ever, one nonce, and from the first order to the signer on only
//!   transactions of that nonce, of which one can be mined;
//! - a hold is released only with proof that none of them can ever pay: a final revert, a final cancellation on the nonce,
//!   or the signer's promise that it never signed and never will;
//! - a player who owes what the chain took back of their deposits is not paid until it is repaid, unless it is signed
//!   already;
//! - a request id belongs to its asker, an exit id to its server, and `server` is the server of the account;
//! - nothing is ordered or settled by a row that differs from the journal;
//! - a missing answer never counts as a refusal: not of an RPC node, not of the signer, not of the store;
//! - players' coins never pay for the gas of others: without capital of the house, or a fee cap of the player, a payout
//!   waits.
//!
//! It has no clock, thread or chance of its own. It deliberately does not know: tokens, approvals by people, several
//! wallets to choose from, several RPC nodes, sweeps. The signer has rules of its own, and trusts none of this.
//!
//! | to learn | read |
//! | --- | --- |
//! | making and stopping intents | [`Intents`], [`WithdrawalRequest`] |
//! | whose request ids are whose | [`Asker`] |
//! | exits from the world, paid out or kept | [`WorldExit`], [`KeptExit`] |
//! | idempotency keys of requests that have an id of their own | [`key_fact`], [`request_of_key`] |
//! | the status of an intent, and its transitions (pure) | [`status`] |
//! | the next action of a job, and why (pure) | [`job::next`] |
//! | prices, and replacements (pure) | [`price`] |
//! | the payouts role | [`payouts::step`], [`PayoutConfig`], [`StepResult`] |
//! | the outcome, as it is stored | [`PayoutOutcome`], [`PayoutReport`] |
//! | the money at the end | [`settlement::consumer`] |
//! | counts and lists for reports | [`views`] |
//! | the tables | [`WITHDRAWALS`], `rows.rs`, `migrations/` |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

mod asker;
pub mod attention;
mod chain;
mod config;
mod consent;
mod context;
mod error;
mod exit;
mod grants;
mod intent;
mod intents;
pub mod job;
mod journal_check;
mod outcome;
pub mod payouts;
pub mod price;
mod request_key;
mod reserve;
mod rows;
pub mod settlement;
mod signing;
pub mod status;
mod step_result;
pub mod views;

pub use asker::Asker;
pub use config::PayoutConfig;
pub use consent::PayoutConsent;
pub use error::{CancelError, IntentError, InvalidWithdrawal, PayoutError, ViewError};
pub use exit::{EndedSpawn, KeptBecause, KeptExit, PayoutTerms, UnpaidPayout, WorldExit};
pub use grants::WITHDRAWALS_GRANTS;
pub use intent::{GasPayer, Intent, WithdrawalRequest};
pub use intents::{Intents, PendingIntents};
pub use job::{ChainStatus, JobStage, MinedTransaction, PayoutAttempt, PayoutJob, PayoutRules};
pub use outcome::{PayoutOutcome, PayoutReport, UnknownOutcome};
pub use request_key::{REQUEST_KEYS_TABLE, key_fact, request_of_key};
pub use rows::WITHDRAWALS;
pub use status::{ApprovalPolicy, IntentEvent, IntentStatus};
pub use step_result::{StepResult, WaitReason};

#[cfg(test)]
mod tests;
