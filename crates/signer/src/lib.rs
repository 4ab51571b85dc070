//! The signer: keys, their own rules, and a memory of all they ever signed.
//!
//! It trusts nobody who asks. An order is signed if its own configuration allows it and its own memory proves that
//! nothing else was ever signed for the same intent or the same nonce; anything but a proven yes is a no.
//!
//! | to learn | read |
//! | --- | --- |
//! | what may be signed | [`judge()`], [`policy`], [`config`] |
//! | what is remembered, and how durably | [`memory`] |
//! | how bytes are made | [`evm`], [`key`] |
//! | what a request goes through | [`Signer::handle`] |
//! | where keys rest | [`keystore`] |
//! | who may ask, and how | [`server`] |
//! | the commands | [`cli`] |
//!
//! Everything but [`server`], [`cli`] and [`clock`] takes time, keys and files from its caller, so that a simulator can
//! end it between any two writes ([`Memory::interrupt_with`]).
//!
//! It deliberately does not know: the ledger's books, nodes, what a chain says, and what happened to what it signed.

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]
#![warn(clippy::pedantic)]
#![allow(clippy::doc_markdown, reason = "SQLite is a name, and some of these words are for people's eyes")]
#![allow(clippy::missing_panics_doc, reason = "what panics here is a bug of this crate, never input")]

pub mod cli;
pub mod clock;
pub mod config;
pub mod evm;
mod judge;
pub mod key;
pub mod keystore;
pub mod memory;
pub mod policy;
pub mod server;
mod signer;

pub use judge::{LimitUsage, OrderHistory, SigningPromise, SigningVerdict, TransactionFields, judge, judge_revocation};
pub use key::LocalKey;
pub use memory::Memory;
pub use policy::SigningPolicy;
pub use policy::SigningPolicy as Policy; // TEMPORARY alias
pub use signer::{Signer, SignerFault};
