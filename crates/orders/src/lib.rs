//! The protocol between the payouts role and the signer.
//!
//! It defines the orders (a closed list), their one encoding and their digests, requests, answers, and every reason
//! for a refusal. It is pure (no IO, no clock, no randomness), so client, signer, simulator and auditor share the same
//! code.
//!
//! It guarantees:
//! - a value has one encoding; a decoder accepts only that one, and at most [`FRAME_BYTES_MAX`] bytes;
//! - digests cover a version, a domain and that encoding, so digests of different kinds never collide;
//! - a replacement is an order with the same [payload](Order::payload) and a price that [outbids](Price::outbids) the
//!   previous one.
//!
//! It deliberately does not know: keys, limits, what was signed before, transaction bytes, the current time.
//!
//! | to learn | read |
//! | --- | --- |
//! | what can be ordered | [`Order`], [`Meaning`], [`Slot`], [`Gas`], [`Price`] |
//! | messages | [`SignerRequest`], [`SignerAnswer`], [`MemoryHead`], [`frame`] |
//! | refusals | [`SignerRefusal`] |
//! | addresses derived from a public key | [`ExtendedPublicKey`] |
//! | what wallets sign for the Funds API | [`typed_data`] |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic, clippy::indexing_slicing)]
#![warn(clippy::pedantic)]
#![allow(clippy::missing_panics_doc, reason = "what panics here is a bug of this crate, never input")]

mod address;
pub mod canonical;
mod extended_key;
pub mod frame;
mod gas;
mod head;
mod message;
mod order;
mod refusal;
pub mod typed_data;

pub use address::{Address, AddressError};
pub use canonical::{MalformedMessage, OrderDigest};
pub use extended_key::{DERIVATION_INDEX_END, ExtendedKeyError, ExtendedPublicKey};
pub use frame::FRAME_BYTES_MAX;
pub use gas::{Gas, Price};
pub use head::{MemoryHead, MemoryId};
pub use message::{APPROVALS_MAX, SignedApproval, SignedTransaction, SignerAnswer, SignerRequest, SignerStatus};
pub use order::{ChainId, IntentId, Meaning, Order, OrderId, Slot};
pub use refusal::{SignerRefusal, StopReason};

#[cfg(test)]
mod tests;
