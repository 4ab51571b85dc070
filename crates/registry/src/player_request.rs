//! Idempotency keys of what players change about themselves: a retry is recognised by them.

use bankroll_ledger::{ColumnValue, Fact, Name};
use bankroll_store::{
    Reader,
    columns::{BadRow, text},
};

use crate::entry::{RegistryError, column, new_row, shown};

const TABLE: &str = "player_requests";

/// The row of a player's key with the hash of what they sent; written with the change.
#[must_use]
pub fn player_request_fact(player: &Name, key: &str, request_hash: &[u8; 32]) -> Fact {
    let columns = vec![column("player", shown(player)), column("key", text(key))];
    new_row(TABLE, columns, vec![column("request_hash", ColumnValue::Bytes(request_hash.to_vec()))])
}

/// The hash of what a player sent with this key.
///
/// # Errors
/// If the books cannot be read, or the row is not one of this program's.
pub fn player_request_hash(reader: &Reader, player: &Name, key: &str) -> Result<Option<[u8; 32]>, RegistryError> {
    let sql = "SELECT request_hash FROM player_requests WHERE player = $1 AND key = $2";
    let found = reader.rows(sql, vec![shown(player), text(key)])?;
    let Some(row) = found.first() else { return Ok(None) };
    let hash = match row.get("request_hash") {
        Some(ColumnValue::Bytes(bytes)) => bytes.as_slice().try_into().ok(),
        _ => None,
    };
    let bad = BadRow { column: "request_hash" };
    hash.ok_or(RegistryError::Row { table: TABLE, bad }).map(Some)
}
