//! Opening the file: sets the settings that durability depends on, reads them back, and fails if they are different.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

use super::source::SqliteSource;
use crate::{Durability, StoreError, engine::migrations, files};

/// "Bank" in the header of the file, so that another program's file is not taken for books.
const APPLICATION_ID: i64 = 0x42_61_6e_6b;
/// The page cache of the writer: 64 MiB, in KiB as SQLite wants it.
const CACHE_KIB: i64 = -65_536;

pub(super) fn open_for_writing(path: &Path, durability: Durability) -> Result<Connection, StoreError> {
    files::create_database(path).map_err(StoreError::io(path))?;
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(64);
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    expect("journal_mode", mode, "wal")?;
    let synchronous = match durability {
        Durability::Full => ("FULL", "2"),
        Durability::MayLoseRecentCommits => ("NORMAL", "1"),
    };
    connection.execute_batch(&format!(
        "PRAGMA synchronous = {}; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0;
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = {CACHE_KIB};",
        synchronous.0
    ))?;
    expect("synchronous", pragma(&connection, "synchronous")?.to_string(), synchronous.1)?;
    expect("foreign_keys", pragma(&connection, "foreign_keys")?.to_string(), "1")?;
    claim(&connection)?;
    Ok(connection)
}

/// Opens books read-only; they must be of this version or an older one.
pub(crate) fn open_read_only(path: &Path) -> Result<SqliteSource, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    migrations::check_books_known(&connection)?;
    Ok(SqliteSource(connection))
}

/// Marks a new file as ours, and refuses another program's file.
fn claim(connection: &Connection) -> Result<(), StoreError> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    if tables == 0 {
        connection.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))?;
    }
    let wanted = "the mark of a Bankroll ledger";
    match pragma(connection, "application_id")? {
        APPLICATION_ID => Ok(()),
        found => Err(StoreError::Setting { setting: "application_id", found: found.to_string(), wanted }),
    }
}

fn pragma(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    Ok(connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?)
}

fn expect(setting: &'static str, found: String, wanted: &'static str) -> Result<(), StoreError> {
    if found == wanted { Ok(()) } else { Err(StoreError::Setting { setting, found, wanted }) }
}
