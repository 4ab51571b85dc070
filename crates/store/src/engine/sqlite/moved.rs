//! The mark in books that were moved into a database: they are not the ledger any more.
//!
//! The mark is in the file itself, so that every copy of it has the mark. It is also listed among the migrations: a
//! program that does not know the mark does not know that migration, and refuses to write.

use std::path::Path;

use bankroll_ledger::Time;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::load::sql_number;
use crate::{MovedBooks, StoreError};

const MARK: &str =
    "CREATE TABLE moved_books (moved_to TEXT NOT NULL, moved_at INTEGER NOT NULL, holder TEXT NOT NULL) STRICT;
                    INSERT INTO migrations (owner, number, hash, at) VALUES ('moved', 1, x'', 0);";
/// The owner of the mark among the migrations.
pub(super) const OWNER: &str = "moved";
const UNMARK: &str = "DROP TABLE moved_books; DELETE FROM migrations WHERE owner = 'moved';";

/// Where the books of this file went, and the name of the move in the database.
pub(super) fn read(connection: &Connection) -> Result<Option<(MovedBooks, String)>, StoreError> {
    let sql = "SELECT count(*) FROM sqlite_master WHERE name = 'moved_books'";
    if connection.query_row(sql, [], |row| row.get::<_, u32>(0))? == 0 {
        return Ok(None);
    }
    let sql =
        "SELECT moved_to, strftime('%Y-%m-%dT%H:%M:%SZ', moved_at / 1000000, 'unixepoch'), holder FROM moved_books";
    let read = connection.query_row(sql, [], |row| Ok((MovedBooks { to: row.get(0)?, at: row.get(1)? }, row.get(2)?)));
    Ok(read.optional()?)
}

/// Marks the books, durably. The caller holds the lock of the folder.
pub(crate) fn mark(path: &Path, to: &str, holder: &str, at: Time) -> Result<(), StoreError> {
    write(path, |connection| {
        connection.execute_batch(MARK)?;
        let values = params![to, sql_number(at.0), holder];
        connection.execute("INSERT INTO moved_books (moved_to, moved_at, holder) VALUES (?1, ?2, ?3)", values).map(drop)
    })
}

/// Removes the mark. The caller holds the lock of the folder.
pub(crate) fn unmark(path: &Path) -> Result<(), StoreError> {
    write(path, |connection| connection.execute_batch(UNMARK))
}

/// The same mark without its values, for a comparison of schemas.
pub(super) fn write_mark(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(MARK)
}

fn write(path: &Path, change: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA synchronous = FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    change(&transaction)?;
    Ok(transaction.commit()?)
}
