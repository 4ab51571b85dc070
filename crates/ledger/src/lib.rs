//! The rules for money.
//!
//! This crate is the ledger without storage: amounts, accounts, requests and the rules that decide them. It is pure
//! (no IO, no clock, no randomness), so that the same [`decide`] serves every store, the simulator and the audit.
//!
//! It guarantees, for every request it decides:
//! - debits equal credits per asset, because a [`Posting`] moves one amount from one account to another;
//! - no account goes below zero, and no account holds more than it has;
//! - a request is applied as a whole or not at all;
//! - no principal moves money along a route it does not have.
//!
//! It deliberately does not know: chains, games, tables of flows, how records are stored, and what time it is.
//!
//! | to learn | read |
//! | --- | --- |
//! | what an amount, an asset, an account is | [`Amount`], [`Asset`], [`Account`], [`AccountKind`] |
//! | what a caller can request | [`Request`], [`Leg`], [`Fact`] |
//! | who may request it | [`Principal`], [`Role::may_route`], [`AccountPolicy`] |
//! | how it is decided | [`decide`], [`Rejection`] |
//! | what the caller gets | [`Answer`], [`Verdict`] |
//! | what is stored, and read back | [`Record`], [`Batch`], [`Replay`] |
//! | what a reader without the books can check | [`Receipt`], [`NamedReceipt`], [`merkle`] |

#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic, clippy::indexing_slicing)]
#![warn(clippy::pedantic)]
#![allow(clippy::missing_panics_doc, reason = "a panic here is a bug of this crate, never caused by input")]

mod access;
mod account;
mod answer;
mod books;
mod chain;
mod decide;
mod fact;
mod hold;
mod key;
pub mod merkle;
mod name;
mod record;
mod rejection;
mod replay;
mod request;
mod rooted;

pub use bankroll_money::{Amount, AmountError, Asset, AssetId, Name, NameError, Time, Total, Unit};

pub use access::{AccountPolicy, Confirmation, Principal, Role, Roles};
pub use account::{Account, AccountKind, AccountName, AccountNameError, OpenRejection, Side};
pub use answer::Answer;
pub use books::{Books, PastTransfer};
pub use chain::{Batch, GENESIS, Receipt};
pub use decide::{Recall, decide, decide_checked, recall};
pub use fact::{Column, ColumnValue, Fact, Guard, GuardFailure, Row, RowKey};
pub use hold::{Hold, HoldState};
pub use key::{Fingerprint, IdempotencyKey, KEY_BYTES_MAX, Namespace};
pub use name::{AccountId, HoldId, Scope, Seq};
pub use record::{AcceptedLoss, Effects, HoldChange, Posting, Record, RecordError, Verdict};
pub use rejection::Rejection;
pub use replay::{Divergence, Replay};
pub use request::{
    Action, BlockRef, BodyHash, EXTRAS_BYTES_MAX, Event, FACTS_MAX, LEGS_MAX, Leg, References, Request, Settler,
};
pub use rooted::{NamedReceipt, RootedReceipt};

#[cfg(test)]
mod tests;
