//! Connections for reading, also where nothing can be written: a copy on a read-only disk, a folder of another user.
//!
//! With a write-ahead log readers write, too: they register in a file next to the books. Where they cannot, SQLite
//! refuses. Then this module reads without writing, and only while no writer can be there: it keeps a shared lock on
//! the lock file, if there is one. It never leaves the log out: a log with commits is read, with its index in memory.

use std::{
    fs::{self, File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use crate::{LOCK_FILE, StoreError};

const READING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
/// SQLite's access to files without POSIX locks, which cannot be taken on a file that is open for reading alone.
const WITHOUT_LOCKS: &str = "unix-none";
/// What stays as it is in the path of a URI.
const IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// A connection, and the lock that keeps writers out, if it needs one.
pub(super) type ReadConnection = (Connection, Option<File>);

pub(super) fn connect(path: &Path) -> Result<ReadConnection, StoreError> {
    let connection = Connection::open_with_flags(path, READING)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    match first_read(&connection) {
        Err(error) if matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen)) => {
            drop(connection);
            connect_without_writing(path, error)
        }
        read => Ok(read.map(|()| (connection, None))?),
    }
}

fn first_read(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))
}

fn connect_without_writing(path: &Path, cause: rusqlite::Error) -> Result<ReadConnection, StoreError> {
    // SQLite keeps the log next to the file itself, not next to a link to it. A writer may come by either name.
    let file = &path.canonicalize().map_err(StoreError::io(path))?;
    let (lock_of_name, lock_of_file) = (keep_writers_out(path)?, keep_writers_out(file)?);
    if has_content(file, "-journal")? {
        // Another program has interrupted a transaction of its own: undoing it means writing.
        return Err(cause.into());
    }
    let connection = if has_content(file, "-wal")? { with_log(file)? } else { unchanging(file)? };
    first_read(&connection)?;
    Ok((connection, lock_of_name.or(lock_of_file)))
}

/// A complete file that no process changes; the path is canonical.
fn unchanging(path: &Path) -> Result<Connection, StoreError> {
    use std::os::unix::ffi::OsStrExt;
    let uri = format!("file:{}?immutable=1", percent_encode(path.as_os_str().as_bytes(), IN_PATHS));
    Ok(Connection::open_with_flags(uri, READING | OpenFlags::SQLITE_OPEN_URI)?)
}

/// A file and its log. The only user of a log has its index in memory, and needs no file for it.
fn with_log(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags_and_vfs(path, READING, WITHOUT_LOCKS)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |_| Ok(()))?;
    Ok(connection)
}

/// As long as the lock is held, no writer opens the books. Without a lock file there is none: a writer creates it first.
fn keep_writers_out(path: &Path) -> Result<Option<File>, StoreError> {
    let lock = path.with_file_name(LOCK_FILE);
    let file = match File::open(&lock) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(StoreError::io(&lock))?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::NotReadableNow { path: path.into() }),
        Err(TryLockError::Error(source)) => Err(StoreError::io(lock)(source)),
    }
}

/// Whether the file with this ending exists and is not empty.
pub(super) fn has_content(path: &Path, ending: &str) -> Result<bool, StoreError> {
    let file = with_ending(path, ending);
    match fs::metadata(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        found => Ok(found.map_err(StoreError::io(file))?.len() > 0),
    }
}

pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut file = path.as_os_str().to_owned();
    file.push(ending);
    file.into()
}
