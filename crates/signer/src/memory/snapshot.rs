//! A read-only view of a memory, verified, while another process may have it open.

use std::path::Path;

use bankroll_money::Time;
use bankroll_orders::{Address, MemoryHead, MemoryId, StopReason};
use rusqlite::{Connection, OpenFlags};

use super::{OpenError, log::MemoryEntry, opening};

/// An entry's number, time and body.
type Stored = (i64, [u8; 8], Vec<u8>);

#[derive(Debug)]
pub struct MemorySnapshot {
    pub id: MemoryId,
    /// Without a seal.
    pub head: MemoryHead,
    pub wallets: Vec<Address>,
    pub stopped: Option<StopReason>,
    /// The newest entries, oldest first, with their numbers and times.
    pub newest: Vec<(u64, Time, MemoryEntry)>,
}

impl MemorySnapshot {
    /// Reads and verifies a memory without changing it; keeps the given number of newest entries.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn read(path: &Path, entries: u64) -> Result<Self, OpenError> {
        if !path.exists() {
            return Err(OpenError::NoMemory { path: path.into() });
        }
        let sqlite = |source| OpenError::Sqlite { path: path.into(), source };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
        // One transaction, so that all reads see the same state.
        let connection = connection.transaction().map_err(sqlite)?;
        let (id, state) = opening::verified(path, &connection)?;
        let newest = newest(&connection, entries).map_err(sqlite)?;
        let read = |(seq, at, body): Stored| {
            let entry = MemoryEntry::decode(&body).ok()?;
            Some((seq.cast_unsigned(), Time(u64::from_be_bytes(at)), entry))
        };
        let head = MemoryHead { memory: id, count: state.count, hash: state.hash, seal: [0; 32] };
        let (wallets, stopped) = (state.wallets.into_iter().collect(), state.stopped);
        Ok(Self { id, head, wallets, stopped, newest: newest.into_iter().rev().filter_map(read).collect() })
    }
}

fn newest(connection: &Connection, entries: u64) -> rusqlite::Result<Vec<Stored>> {
    let limit = i64::try_from(entries).unwrap_or(i64::MAX);
    let mut statement = connection.prepare("SELECT seq, at, body FROM log ORDER BY seq DESC LIMIT ?")?;
    statement.query_map([limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}
