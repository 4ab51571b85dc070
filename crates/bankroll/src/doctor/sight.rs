//! What can be seen of a folder without changing anything in it.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read},
    path::Path,
};

use bankroll_ledger::Seq;
use bankroll_store::{BOOKS_FILE, LOCK_FILE, Reader, StoreError};
use rusqlite::{Connection, OpenFlags};

/// How much of the journal's end is verified: batches, and records.
const TAIL_BATCHES: u64 = 64;
const TAIL_RECORDS: u64 = 200_000;

/// Whether books could be written in this folder. Nothing is written to find out.
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

/// Free space where the folder is, if the system tells.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(folder).ok()?;
    stat.f_bavail.checked_mul(stat.f_frsize)
}

/// Free space where the folder is, if the system tells.
#[cfg(not(unix))]
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Who has the lock of a folder, in that process's own words; `None` if nobody.
pub fn lock_holder(folder: &Path) -> io::Result<Option<String>> {
    let mut file = match File::open(folder.join(LOCK_FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        // Given back as soon as the file is closed, which is now.
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

/// The journal mode that the file is in.
pub fn journal_mode(folder: &Path) -> rusqlite::Result<String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(folder.join(BOOKS_FILE), flags)?;
    connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))
}

/// Verifies the last batches: their records, their roots, and the chain to the head. Returns how many there were.
pub fn verify_tail(reader: &Reader) -> Result<u64, StoreError> {
    let broken = |at: Seq, what: &str| StoreError::Diverged { at, what: what.into() };
    let head = reader.head()?;
    let (mut at, mut expected, mut verified) = (head.seq, head.hash, 0);
    while at.0 > 0 && verified < TAIL_BATCHES && head.seq.0 - at.0 < TAIL_RECORDS {
        let receipt = reader.receipt(at)?.ok_or_else(|| broken(at, "a batch or a record is missing"))?;
        let (receipt, stored_head) = receipt;
        if stored_head != expected || !receipt.proves_under(&stored_head) {
            return Err(broken(at, "a batch is not what its chain says"));
        }
        expected = receipt.batch.previous;
        at = Seq(receipt.batch.first.0.saturating_sub(1));
        verified += 1;
    }
    Ok(verified)
}
