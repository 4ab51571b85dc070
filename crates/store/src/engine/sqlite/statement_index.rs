//! The statement index in a file of its own, with its own write-ahead log.
//!
//! It is derived, so its commits are not synced one by one, and a file that SQLite cannot use is deleted. Every error
//! that means "this is not what was written" is [`StoreError::StatementIndexDamaged`]; a full disk is not.

use std::{
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

use super::{
    commit::{drop_chunks, sweep_chunks},
    load::sql_number,
    read_only,
};
use crate::{
    StoreError,
    engine::stored::{self, BadColumn},
    files,
    history::index::{IndexLocation, IndexRun, IndexSource, IndexStore, IndexWrites, damaged},
};

/// The version of the format, chunks included. A file of another version is deleted and rebuilt.
const FORMAT: i64 = 2;
/// Pages of 4 KiB in the log before a checkpoint: 1 MiB. A checkpoint syncs, and a sync of the books at that moment
/// waits for it, so checkpoints are small.
const PAGES_BETWEEN: u32 = 256;

const TABLES: &str = "
CREATE TABLE term_runs (
  id          INTEGER PRIMARY KEY,
  level       INTEGER NOT NULL,
  first_seq   INTEGER NOT NULL,
  last_seq    INTEGER NOT NULL,
  entries     INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,
  chunks      INTEGER NOT NULL,
  batch       INTEGER NOT NULL,
  head        BLOB NOT NULL,
  checksum    INTEGER NOT NULL
) STRICT;
CREATE TABLE term_chunks (
  id   INTEGER PRIMARY KEY,
  data BLOB NOT NULL
) STRICT;";

/// The path of the file, which need not exist.
#[derive(Debug)]
pub(crate) struct StatementsFile(pub PathBuf);

/// A connection, and the lock that keeps writers out, if it needs one.
struct Statements(Connection, #[expect(dead_code, reason = "held, not used")] Option<File>);

/// Opens an existing index for reading.
pub(crate) fn open_statements(path: &Path) -> Result<Box<dyn IndexSource>, StoreError> {
    let (connection, lock) = read_only::connect(path)?;
    check_format(&connection)?;
    Ok(Box::new(Statements(connection, lock)))
}

impl IndexLocation for StatementsFile {
    fn open(&self) -> Result<Box<dyn IndexStore>, StoreError> {
        files::create_database(&self.0).map_err(StoreError::io(&self.0))?;
        let connection = Connection::open(&self.0).map_err(classify)?;
        connection.busy_timeout(Duration::from_secs(5)).map_err(classify)?;
        let settings = format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = {PAGES_BETWEEN};"
        );
        connection.execute_batch(&settings).map_err(classify)?;
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0)).map_err(classify)?;
        if tables == 0 {
            let make = format!("BEGIN; {TABLES} PRAGMA user_version = {FORMAT}; COMMIT;");
            connection.execute_batch(&make).map_err(classify)?;
        }
        check_format(&connection)?;
        Ok(Box::new(Statements(connection, None)))
    }

    fn recreate(&self) -> Result<Box<dyn IndexStore>, StoreError> {
        // Readers that have the old files open continue with them; they compare what they read with the journal.
        for ending in ["-wal", "-shm", ""] {
            let mut path = self.0.clone().into_os_string();
            path.push(ending);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::io(path)(error)),
                _ => {}
            }
        }
        self.open()
    }
}

fn check_format(connection: &Connection) -> Result<(), StoreError> {
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(classify)?;
    if found == FORMAT { Ok(()) } else { Err(damaged(format!("its format is {found}, and must be {FORMAT}"))) }
}

impl IndexSource for Statements {
    fn begin_snapshot(&self) -> Result<(), StoreError> {
        self.0.execute_batch("BEGIN").map_err(classify)
    }

    fn end_snapshot(&self) -> Result<(), StoreError> {
        self.0.execute_batch("COMMIT").map_err(classify)
    }

    fn runs(&self) -> Result<Vec<IndexRun>, StoreError> {
        let sql = "SELECT id, level, first_seq, last_seq, entries, first_chunk, chunks, batch, head, checksum
                   FROM term_runs ORDER BY first_seq";
        let mut statement = self.0.prepare_cached(sql).map_err(classify)?;
        let (mut runs, mut rows) = (Vec::new(), statement.query([]).map_err(classify)?);
        while let Some(row) = rows.next().map_err(classify)? {
            let (run, checksum) = read_run(row).map_err(|bad| damaged(bad.to_string()))?;
            if run.checksum() != checksum {
                return Err(damaged(format!("the row of run {} is not what was written", run.meta.id)));
            }
            runs.push(run);
        }
        Ok(runs)
    }

    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let mut statement = self.0.prepare_cached("SELECT data FROM term_chunks WHERE id = ?1").map_err(classify)?;
        statement.query_row([sql_number(id)], |row| row.get(0)).optional().map_err(classify)
    }
}

impl IndexStore for Statements {
    fn write(&self, writes: &IndexWrites) -> Result<(), StoreError> {
        self.0.execute_batch("BEGIN IMMEDIATE").map_err(classify)?;
        let written = try_write(&self.0, writes).and_then(|()| self.0.execute_batch("COMMIT"));
        written.map_err(|error| {
            // Fails only if the transaction is over already.
            let _ = self.0.execute_batch("ROLLBACK");
            classify(error)
        })
    }

    fn sweep(&self, live: &[Range<u64>]) -> Result<(), StoreError> {
        sweep_chunks(&self.0, "term_chunks", live).map_err(classify)
    }
}

fn try_write(connection: &Connection, writes: &IndexWrites) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO term_chunks (id, data) VALUES (?1, ?2)")?;
    for (id, data) in &writes.chunks {
        insert.execute(params![sql_number(*id), data])?;
    }
    let mut remove = connection.prepare_cached("DELETE FROM term_runs WHERE id = ?1")?;
    for id in &writes.removed {
        remove.execute([sql_number(*id)])?;
    }
    if let Some(run) = &writes.added {
        let meta = &run.meta;
        let sql = "INSERT INTO term_runs (id, level, first_seq, last_seq, entries, first_chunk, chunks, batch, head, checksum)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        connection.prepare_cached(sql)?.execute(params![
            sql_number(meta.id),
            meta.level,
            sql_number(meta.first.0),
            sql_number(meta.last.0),
            sql_number(meta.entries),
            sql_number(meta.first_chunk),
            sql_number(meta.chunks),
            sql_number(run.batch),
            run.head,
            run.checksum()
        ])?;
    }
    writes.dropped_chunks.iter().try_for_each(|range| drop_chunks(connection, "term_chunks", range))
}

/// The run of a row, with its stored checksum.
fn read_run(row: &Row<'_>) -> Result<(IndexRun, u32), BadColumn> {
    let run = IndexRun { meta: stored::run_meta(row)?, batch: stored::number(row, 7)?, head: stored::hash(row, 8)? };
    Ok((run, stored::number(row, 9)?))
}

/// Separates damaged data from failures of the machine.
fn classify(error: rusqlite::Error) -> StoreError {
    use ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OperationInterrupted, OutOfMemory, PermissionDenied,
        ReadOnly, SystemIoFailure,
    };
    match error.sqlite_error_code() {
        Some(
            CannotOpen | DatabaseBusy | DatabaseLocked | DiskFull | OperationInterrupted | OutOfMemory
            | PermissionDenied | ReadOnly | SystemIoFailure,
        ) => error.into(),
        _ => damaged(error.to_string()),
    }
}
