//! The state of a folder, read without changing anything in it.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read},
    path::Path,
};

use bankroll_store::{BOOKS_FILE, LOCK_FILE};
use rusqlite::{Connection, OpenFlags};

/// Whether books can be written in this folder. The check writes nothing.
pub fn writable(folder: &Path) -> io::Result<()> {
    if !folder.is_dir() {
        return Err(io::Error::new(ErrorKind::NotFound, "there is no such folder"));
    }
    #[cfg(unix)]
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?;
    let books = folder.join(BOOKS_FILE);
    if books.exists() {
        // Opening for writing is not writing.
        OpenOptions::new().append(true).open(&books)?;
    }
    Ok(())
}

/// Free space where the folder is, if the system reports it.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    stat.f_bavail.checked_mul(stat.f_frsize)
}

/// Free space where the folder is, if the system reports it.
#[cfg(not(unix))]
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// The holder of the folder's lock, as that process describes itself; `None` if the lock is free.
pub fn lock_holder(folder: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(folder.join(LOCK_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        // Closing the file releases it.
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Only for the message: an unreadable holder is still a holder.
            let _ = file.read_to_string(&mut holder);
            Ok(Some(holder.trim().to_owned()))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

pub fn journal_mode(folder: &Path) -> rusqlite::Result<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(folder.join(BOOKS_FILE), flags)?;
    connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))
}
