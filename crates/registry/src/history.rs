//! What the registry was: all versions of a server, and the list of changes. Read from rows, a page at a time.

use bankroll_ledger::{ColumnValue, IdempotencyKey, Name, Row, Time};
use bankroll_store::{
    Reader,
    columns::{BadRow, int, parsed, text, text_of, time},
};

use crate::{
    RegisteredServer, RegistryChange,
    entry::{Entry, RegistryError, shown, string_of, time_of},
};

/// A change that was made, as its caller asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedChange {
    /// The text of its idempotency key.
    pub key: String,
    pub by: Name,
    pub at: Time,
    pub request_hash: [u8; 32],
    pub changes: Vec<RegistryChange>,
}

/// The versions of a server below this one, the newest first.
///
/// # Errors
/// If the rows cannot be read.
pub fn server_versions(
    reader: &Reader,
    server: &Name,
    below: Option<u64>,
    most: usize,
) -> Result<Vec<RegisteredServer>, RegistryError> {
    let sql = "SELECT * FROM server_versions WHERE name = $1 AND version < $2 ORDER BY version DESC LIMIT $3";
    let below = int(below.unwrap_or(i64::MAX.cast_unsigned()));
    let rows = reader.rows(sql, vec![shown(server), below, limit(most)])?;
    let read = |row| RegisteredServer::from_row(row).map_err(|bad| bad_row("server_versions", bad));
    rows.iter().map(read).collect()
}

/// The newest changes; with a place, those before it.
///
/// # Errors
/// If the rows cannot be read.
pub fn recorded_changes(
    reader: &Reader,
    before: Option<(Time, &str)>,
    most: usize,
) -> Result<Vec<RecordedChange>, RegistryError> {
    let sql = "SELECT * FROM registry_changes WHERE changed_at < $1 OR (changed_at = $1 AND key < $2) \
               ORDER BY changed_at DESC, key DESC LIMIT $3";
    let (at, key) = before.unwrap_or((Time(i64::MAX.cast_unsigned()), ""));
    let rows = reader.rows(sql, vec![time(at), text(key), limit(most)])?;
    rows.iter().map(|row| recorded(row).map_err(|bad| bad_row("registry_changes", bad))).collect()
}

/// The change that was made under this key, so that a retry gets the same answer.
///
/// # Errors
/// If the rows cannot be read.
pub fn recorded_change(reader: &Reader, key: &IdempotencyKey) -> Result<Option<RecordedChange>, RegistryError> {
    let sql = "SELECT * FROM registry_changes WHERE scope = $1 AND key = $2";
    let rows = reader.rows(sql, vec![shown(&key.scope), text(&key.text)])?;
    rows.first().map(|row| recorded(row).map_err(|bad| bad_row("registry_changes", bad))).transpose()
}

fn recorded(row: &Row) -> Result<RecordedChange, BadRow> {
    let request_hash = match row.get("request_hash") {
        Some(ColumnValue::Bytes(bytes)) => bytes.as_slice().try_into().ok(),
        _ => None,
    };
    Ok(RecordedChange {
        key: string_of(row, "key")?,
        by: parsed(row, "changed_by")?,
        at: time_of(row, "changed_at")?,
        request_hash: request_hash.ok_or(BadRow { column: "request_hash" })?,
        changes: serde_json::from_str(text_of(row, "changes")?).map_err(|_| BadRow { column: "changes" })?,
    })
}

fn bad_row(table: &'static str, bad: BadRow) -> RegistryError {
    RegistryError::Row { table, bad }
}

fn limit(most: usize) -> ColumnValue {
    int(u64::try_from(most).unwrap_or(u64::MAX))
}
