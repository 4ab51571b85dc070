//! The signer: keys, its own rules, and a memory of everything it has signed.
//!
//! It does not trust its callers. It signs an order only if its own configuration allows it and its own memory proves
//! that nothing else was ever signed for the same intent or nonce.
//!
//! | to learn | read |
//! | --- | --- |
//! | what may be signed | [`judge()`], [`policy`], [`config`] |
//! | what is remembered, and how durably | [`memory`] |
//! | how transactions are built | [`evm`], [`key`] |
//! | the steps of a request | [`Signer::handle`] |
//! | where keys are stored, and derived from | [`keystore`], [`seed`] |
//! | who may connect | [`server`] |
//! | the commands | [`cli`] |
//!
//! Everything but [`server`], [`cli`] and [`clock`] gets time, keys and files from its caller, so that a simulator can
//! stop it between any two writes (feature `faults`).
//!
//! It deliberately does not know: the ledger, nodes, the state of a chain, what became of a transaction it signed.

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]
#![warn(clippy::pedantic)]
#![allow(clippy::doc_markdown, reason = "SQLite is a name, and some of these texts are shown to users")]
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
pub mod seed;
pub mod server;
mod signer;

pub use judge::{LimitUsage, OrderHistory, SigningPromise, SigningVerdict, TransactionFields, judge, judge_revocation};
pub use key::LocalKey;
pub use memory::Memory;
pub use policy::SigningPolicy;
pub use signer::{Signer, SignerFault};
