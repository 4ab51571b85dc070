//! What may be asked of the signer.
//!
//! This crate is the language between whoever wants something paid and the process that has the keys: orders of a closed
//! list, their one encoding and their digests, what is asked, what is answered, and every reason for a no. It is pure (no
//! IO, no clock, no randomness), so that both ends, the simulator and an auditor read the same words.
//!
//! It guarantees:
//! - a value has one encoding; a decoder takes that one or none, and no more than [`FRAME_BYTES_MAX`] bytes of it;
//! - digests are over a version, a domain and that encoding: no digest of one thing is ever one of another;
//! - a replacement is known by two things only: the same [payload](Order::payload), and a price that
//!   [outbids](Price::outbids) the one before.
//!
//! It deliberately does not know: keys, limits, what was signed before, transactions' bytes, and what time it is.
//!
//! | to learn | read |
//! | --- | --- |
//! | what can be ordered, and how it reads | [`Order`], [`Meaning`], [`Slot`], [`Gas`], [`Price`] |
//! | what travels | [`SignerRequest`], [`SignerAnswer`], [`MemoryHead`], [`frame`] |
//! | why not | [`SignerRefusal`] |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic, clippy::indexing_slicing)]
#![warn(clippy::pedantic)]
#![allow(clippy::missing_panics_doc, reason = "what panics here is a bug of this crate, never input")]

mod address;
pub mod canonical;
pub mod frame;
mod gas;
mod head;
mod message;
mod order;
mod refusal;
mod text;

pub use address::{Address, AddressError};
pub use canonical::{MalformedMessage, OrderDigest};
pub use frame::FRAME_BYTES_MAX;
pub use gas::{Gas, Price};
pub use head::{MemoryHead, MemoryId};
pub use message::{APPROVALS_MAX, Approval, SignedTransaction, SignerAnswer, SignerRequest, SignerStatus};
pub use order::{ChainId, IntentId, Meaning, Order, OrderId, Slot};
pub use refusal::{SignerRefusal, StopReason};
pub use text::format_time;
// TEMPORARY aliases of old names.
#[rustfmt::skip]
pub use self::{SignerAnswer as Answer, OrderDigest as Digest, MemoryHead as Head, MalformedMessage as Malformed, SignerRefusal as Refusal, SignerRequest as Request, SignedTransaction as Signed, SignerStatus as Status, StopReason as Stop};

#[cfg(test)]
mod tests;
