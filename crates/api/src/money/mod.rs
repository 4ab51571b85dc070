//! Operations on money: the same for single calls and for batches.
//!
//! An operation is one atomic request of the ledger under one key of the caller. It is built without the database: the
//! numbers of accounts are in memory after their first use.

mod answer;
mod holds;
mod operation;
mod spent;
mod submit;
#[cfg(test)]
mod tests;

pub use answer::AppliedBody;
pub(crate) use answer::{applied, applied_by, applied_response};
pub(crate) use holds::frozen_holds;
pub(crate) use operation::Operation;
pub(crate) use spent::{Spent, admit, count};
pub(crate) use submit::{operate, request, settle_rejection};
