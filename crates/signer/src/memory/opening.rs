//! Creates and opens the file: the lock, the settings, and the full verification.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use bankroll_money::Time;
use bankroll_orders::{Address, MemoryId};
use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use super::{Memory, MemoryEntry, MemoryState, OpenError, insert, verify};

/// "BkSg" in the file header, so that another program's file is not mistaken for a memory.
const APPLICATION_ID: i64 = 0x42_6b_53_67;
/// The format of the tables.
const FORMAT: i64 = 1;

impl Memory {
    /// Creates a memory for keys that have never signed anything. The caller chooses `id` at random.
    ///
    /// # Errors
    /// It exists already, or cannot be created.
    pub fn create(path: &Path, id: MemoryId, wallets: &[Address], at: Time) -> Result<Self, OpenError> {
        let mut options = OpenOptions::new();
        let open = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let lock = MemoryLock::acquire(path, open.map_err(io_error(path))?)?;
        let mut connection = connect(path)?;
        if has_begun(&connection).map_err(sqlite_error(path))? {
            return Err(OpenError::Exists { path: path.into() });
        }
        let state = begin(&mut connection, id, wallets, at).map_err(sqlite_error(path))?;
        sync_folder(path).map_err(io_error(path))?;
        Ok(Self { connection, _lock: lock, path: path.into(), id, state, failed: false, interrupt: None })
    }

    /// Opens a memory and verifies all of it.
    ///
    /// # Errors
    /// There is none, another process has it open, or it is damaged.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let lock = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(OpenError::NoMemory { path: path.into() });
            }
            opened => MemoryLock::acquire(path, opened.map_err(io_error(path))?)?,
        };
        let connection = connect(path)?;
        let (id, state) = verified(path, &connection)?;
        copy_back(path, &connection)?;
        Ok(Self { connection, _lock: lock, path: path.into(), id, state, failed: false, interrupt: None })
    }
}

/// One transaction: a memory is created with its tables, its id and its wallets, or not at all.
fn begin(connection: &mut Connection, id: MemoryId, wallets: &[Address], at: Time) -> rusqlite::Result<MemoryState> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(include_str!("schema.sql"))?;
    transaction.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT};"))?;
    transaction.execute("INSERT INTO memory (one, id) VALUES (1, ?)", [id.0])?;
    let mut state = MemoryState::new(id);
    for wallet in wallets {
        let entry = MemoryEntry::Wallet(*wallet);
        state = state.after(&entry, at);
        insert(&transaction, &entry, &state)?;
    }
    transaction.commit()?;
    Ok(state)
}

/// Verifies the whole file, and returns the state derived from it.
pub(super) fn verified(path: &Path, connection: &Connection) -> Result<(MemoryId, MemoryState), OpenError> {
    if !has_begun(connection).map_err(unreadable(path))? {
        return Err(OpenError::NoMemory { path: path.into() });
    }
    let damaged = |what: &str| OpenError::Damaged { path: path.into(), what: what.into() };
    if pragma(connection, "application_id").map_err(unreadable(path))? != APPLICATION_ID {
        return Err(damaged("it is not marked as a signer's memory"));
    }
    match pragma(connection, "user_version").map_err(unreadable(path))? {
        FORMAT => {}
        found if found > FORMAT => return Err(OpenError::TooNew { path: path.into(), found, known: FORMAT }),
        _ => return Err(damaged("it has no format")),
    }
    verify::everything(connection).map_err(|what| OpenError::Damaged { path: path.into(), what })
}

fn connect(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(sqlite_error(path))?;
    // `bankroll signer show` reads the file only for a moment.
    connection.busy_timeout(Duration::from_secs(5)).map_err(sqlite_error(path))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(sqlite_error(path))?;
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(unreadable(path))?;
    expect("journal_mode", mode, "wal")?;
    let set = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;";
    connection.execute_batch(set).map_err(unreadable(path))?;
    let read = |name: &str| pragma(&connection, name).map_err(unreadable(path)).map(|value| value.to_string());
    expect("synchronous", read("synchronous")?, "2")?;
    expect("foreign_keys", read("foreign_keys")?, "1")?;
    Ok(connection)
}

/// Checkpoints SQLite's log into the file and syncs it before anything is answered from it: after a failed sync, the
/// page cache may hold data that the disk does not have.
fn copy_back(path: &Path, connection: &Connection) -> Result<(), OpenError> {
    let busy: bool =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map_err(sqlite_error(path))?;
    if busy { Err(OpenError::InUse { path: path.into() }) } else { Ok(()) }
}

/// On the file itself, so two paths to the same file cannot both open it.
pub(super) struct MemoryLock(File);

impl MemoryLock {
    fn acquire(path: &Path, file: File) -> Result<Self, OpenError> {
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path.into() }),
            Err(TryLockError::Error(source)) => Err(OpenError::Io { path: path.into(), source }),
        }
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        // Closing the file would be enough, unless a child process that is just starting has inherited it.
        let _ = self.0.unlock();
    }
}

/// A file without tables was created but never initialised; it counts as missing.
fn has_begun(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) > 0 FROM sqlite_schema", [], |row| row.get(0))
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
}

fn expect(setting: &'static str, found: String, wanted: &'static str) -> Result<(), OpenError> {
    if found == wanted { Ok(()) } else { Err(OpenError::Setting { setting, found, wanted }) }
}

/// Makes the directory entry durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> OpenError {
    move |source| OpenError::Io { path: path.into(), source }
}

fn sqlite_error(path: &Path) -> impl Fn(rusqlite::Error) -> OpenError {
    move |source| OpenError::Sqlite { path: path.into(), source }
}

/// SQLite's errors about a foreign or torn file are reported as damage.
fn unreadable(path: &Path) -> impl Fn(rusqlite::Error) -> OpenError {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    move |source| match source.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => OpenError::Damaged { path: path.into(), what: source.to_string() },
        _ => OpenError::Sqlite { path: path.into(), source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_memory_although_a_child_process_has_inherited_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let lock = MemoryLock::acquire(&path, File::create(&path).unwrap()).unwrap();
        let inherited = lock.0.try_clone().unwrap();
        drop(lock);
        assert!(MemoryLock::acquire(&path, File::open(&path).unwrap()).is_ok());
        drop(inherited);
    }
}
