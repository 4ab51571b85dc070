//! Opening the file: sets the settings that durability depends on, reads them back, and fails if they are different.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use bankroll_ledger::Time;
use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{read_only, source::SqliteSource};
use crate::{Durability, Migrations, StoreError, engine::migrations, files};

/// "Bank" in the header of the file, so that another program's file is not taken for books.
const APPLICATION_ID: i64 = 0x42_61_6e_6b;
/// SQLite never creates a file here: a file that is missing is not empty books.
const WRITING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
/// Prepared statements that a connection keeps: more than the store has for one purpose.
const STATEMENTS: usize = 64;
/// The page cache of the writer: 64 MiB, in KiB as SQLite wants it.
const CACHE_KIB: i64 = -65_536;

/// Creates books, whole or not at all: under another name until every migration is in them. They get their write-ahead
/// log when they are opened: without one, a migration that is committed is in this file.
///
/// A log that other books have left would become part of these, so it is refused before anything is created.
pub(super) fn create(path: &Path, sets: &[Migrations], now: Time) -> Result<(), StoreError> {
    for ending in ["-wal", "-journal"] {
        if read_only::has_content(path, ending)? {
            return Err(StoreError::LedgerExists { path: read_only::with_ending(path, ending) });
        }
    }
    let connection = create_unfinished(path, sets, now)?;
    connection.close().map_err(|(_, error)| error)?;
    files::rename(&unfinished(path), path).map_err(StoreError::io(path))
}

/// The name of books while they are made.
pub(super) fn unfinished(path: &Path) -> PathBuf {
    read_only::with_ending(path, ".new")
}

/// Creates empty books under another name. What an interrupted process has left there is removed.
pub(super) fn create_unfinished(path: &Path, sets: &[Migrations], now: Time) -> Result<Connection, StoreError> {
    let unfinished = unfinished(path);
    files::remove_unfinished(&unfinished).map_err(StoreError::io(&unfinished))?;
    files::create_database(&unfinished).map_err(StoreError::io(&unfinished))?;
    let mut connection = Connection::open_with_flags(&unfinished, WRITING)?;
    connection.execute_batch(&format!("PRAGMA synchronous = FULL; PRAGMA application_id = {APPLICATION_ID}"))?;
    migrations::migrate(&mut connection, sets, now)?;
    Ok(connection)
}

/// Opens existing books to copy them. It changes nothing, and neither does closing it: their log stays as it is.
pub(super) fn open_for_copying(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, WRITING)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    check_ours(&connection, path)?;
    connection.execute_batch("PRAGMA query_only = ON")?;
    Ok(connection)
}

/// Opens existing books. A file without books is refused before anything is written to it.
pub(super) fn open_for_writing(path: &Path, durability: Durability) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(path, WRITING)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    check_ours(&connection, path)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
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
    Ok(connection)
}

/// Opens books read-only; they must be of this version or an older one.
pub(crate) fn open_read_only(path: &Path) -> Result<SqliteSource, StoreError> {
    let (connection, lock) = read_only::connect(path)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    migrations::check_books_known(&connection, path)?;
    Ok(SqliteSource(connection, lock))
}

/// Refuses a file without books, and another program's file.
fn check_ours(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    let (wanted, found) = ("the mark of a Bankroll ledger", pragma(connection, "application_id")?);
    if tables > 0 && found != APPLICATION_ID {
        return Err(StoreError::Setting { setting: "application_id", found: found.to_string(), wanted });
    }
    match migrations::books_step(connection)? {
        None => Err(StoreError::NoBooksInFile { path: path.into() }),
        Some(_) => Ok(()),
    }
}

fn pragma(connection: &Connection, name: &str) -> Result<i64, StoreError> {
    Ok(connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?)
}

fn expect(setting: &'static str, found: String, wanted: &'static str) -> Result<(), StoreError> {
    if found == wanted { Ok(()) } else { Err(StoreError::Setting { setting, found, wanted }) }
}
