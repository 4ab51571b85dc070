//! Idempotency keys of requests that have an id of their own: exits and withdrawals.
//!
//! The id decides what the same request is, and the ledger's key is made of it. The caller's own idempotency key is a row
//! that is written with the request: the same key for another request is noticed, and has no effect.

use bankroll_ledger::{Fact, Guard, GuardFailure, RowKey};
use bankroll_store::{
    Reader,
    columns::{text, text_of},
};

use crate::ViewError;

/// The table of these keys.
pub const REQUEST_KEYS_TABLE: &str = "request_keys";

/// The row of an asker's key, to be written with the request that it was sent with. If another request has the key, this
/// one is not remembered: its own id must stay usable.
#[must_use]
pub fn key_fact(asker: &str, key: &str, request: &str) -> Fact {
    let columns = vec![("asker".to_owned(), text(asker)), ("key".to_owned(), text(key))];
    Fact {
        row: RowKey { table: REQUEST_KEYS_TABLE.into(), columns },
        guard: Guard::Absent,
        otherwise: GuardFailure::Paused,
        set: vec![("request".to_owned(), text(request))],
    }
}

/// The request that an asker's key was sent with.
///
/// # Errors
/// If the books cannot be read.
pub fn request_of_key(reader: &Reader, asker: &str, key: &str) -> Result<Option<String>, ViewError> {
    let sql = "SELECT request FROM request_keys WHERE asker = $1 AND key = $2";
    let found = reader.rows(sql, vec![text(asker), text(key)])?;
    Ok(found.first().map(|row| text_of(row, "request")).transpose()?.map(str::to_owned))
}
