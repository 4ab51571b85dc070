//! SQLite: one file in a folder, write-ahead log, a sync in every commit.

mod checkpoint;
mod commit;
mod flows;
mod load;
pub(crate) mod moved;
pub(crate) mod new_books;
mod open_files;
mod pages;
mod read_only;
mod rebuild;
mod row;
mod schema;
mod settings;
mod source;
mod statement_index;

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use bankroll_ledger::{Batch, Row, RowKey, Time};
use rusqlite::Connection;

use super::{Commit, CommitError, DerivedTables, Engine, Records, RowsOutcome, Source};
use crate::{Durability, Migrations, StoreError, engine::migrations};
#[cfg(feature = "faults")]
use crate::{FaultKind, FaultPoint};

use checkpoint::Checkpointer;
pub(crate) use flows::flow_tables;
pub(crate) use new_books::OldBooks;
pub(crate) use open_files::OpenFiles;
pub(crate) use pages::locate_damage;
pub(crate) use settings::open_read_only;
pub(crate) use source::SqliteSource;
pub(crate) use statement_index::{StatementsFile, open_statements};

/// The books of one folder.
#[derive(Debug)]
pub(crate) struct Sqlite {
    source: SqliteSource,
    path: PathBuf,
    files: OpenFiles,
    checkpointer: Checkpointer,
    /// Tables that facts and rows may not touch: the store's own.
    own_tables: Vec<String>,
    /// Whether a flow's statement is being prepared.
    in_flow_statement: Arc<AtomicBool>,
    /// Faults that a simulator injects into commits.
    #[cfg(feature = "faults")]
    pub fault_point: FaultPoint,
}

impl Sqlite {
    /// Creates the file, with every migration.
    pub fn create(path: &Path, sets: &[Migrations], now: Time) -> Result<(), StoreError> {
        settings::create(path, sets, now)
    }

    /// Opens an existing file, checks its settings and migrates it.
    pub fn open(path: &Path, durability: Durability, sets: &[Migrations], now: Time) -> Result<Self, StoreError> {
        let mut connection = settings::open_for_writing(path, durability)?;
        if let Some((moved, _)) = moved::read(&connection)? {
            return Err(StoreError::Moved { path: path.into(), moved });
        }
        migrations::migrate(&mut connection, sets, now)?;
        // Listed from an empty database, since this one has the tables of flows too.
        let mut books_alone = Connection::open_in_memory()?;
        migrations::migrate(&mut books_alone, &[migrations::BOOKS], now)?;
        let own_tables = load::table_names(&books_alone)?;
        let in_flow_statement = row::guard_own_tables(&mut connection, own_tables.clone())?;
        // After a failed sync, what can be read may differ from what is on disk. Checkpointing the whole log and
        // syncing the file makes it durable before the writer relies on it.
        checkpoint::checkpoint_everything(&connection)?;
        let checkpointer = Checkpointer::start(&mut connection, path, durability)?;
        Ok(Self {
            source: SqliteSource(connection, None),
            path: path.into(),
            files: OpenFiles::of(path)?,
            checkpointer,
            own_tables,
            in_flow_statement,
            #[cfg(feature = "faults")]
            fault_point: FaultPoint::default(),
        })
    }

    /// If derived tables have lost rows, fills them again from the journal.
    pub fn restore_derived(&mut self) -> Result<(), StoreError> {
        if rebuild::is_complete(&self.source.0)? {
            return Ok(());
        }
        let derived = DerivedTables::from_journal(&self.source)?;
        rebuild::rebuild(&mut self.source.0, &derived)
    }

    /// Does what the engine would do if the fault were real.
    #[cfg(feature = "faults")]
    fn fail(&mut self, fault: FaultKind) -> Result<(), CommitError> {
        if fault == FaultKind::EndsAfter {
            commit::commit(&self.source.0)?;
            return Err(CommitError::Fatal(StoreError::CommitLost));
        }
        self.end_unwritten().map_err(CommitError::Fatal)?;
        Err(match fault {
            FaultKind::Full => CommitError::NothingHappened(StoreError::Full),
            FaultKind::Locked => CommitError::NothingHappened(StoreError::Locked),
            FaultKind::EndsBefore | FaultKind::EndsAfter => CommitError::Fatal(StoreError::CommitLost),
        })
    }

    fn owns(&self, table: &str) -> bool {
        self.own_tables.iter().any(|own| own == table)
    }
}

impl Engine for Sqlite {
    fn source(&self) -> &dyn Source {
        &self.source
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        commit::begin(&self.source.0)
    }

    fn end_unwritten(&mut self) -> Result<(), StoreError> {
        if self.source.0.is_autocommit() { Ok(()) } else { Ok(self.source.0.execute_batch("ROLLBACK")?) }
    }

    fn reconnect(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn row(&mut self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        if self.owns(&key.table) { Ok(None) } else { row::read(&self.source.0, key) }
    }

    fn open_reader(&self) -> Result<Box<dyn Source>, StoreError> {
        Ok(Box::new(open_read_only(&self.path)?))
    }

    fn sweep_chunks(&mut self, live: &[Range<u64>]) -> Result<(), StoreError> {
        commit::sweep_chunks(&self.source.0, "key_chunks", live).map_err(|error| source::of_key_index(error.into()))
    }

    fn write(&mut self, commit: &Commit<'_>) -> Result<Vec<RowsOutcome>, CommitError> {
        commit::write(self, commit)
    }

    fn append(&mut self, batch: &Batch, records: &Records) -> Result<(), CommitError> {
        commit::append(&self.source.0, batch, records)
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        #[cfg(feature = "faults")]
        if let Some(fault) = self.fault_point.ask() {
            return self.fail(fault);
        }
        commit::commit(&self.source.0)?;
        // Before the batch is answered: in a file without a name it would be lost with this process.
        self.files.check().map_err(CommitError::Fatal)
    }

    fn open_files(&self) -> OpenFiles {
        self.files.clone()
    }

    fn after_commit(&mut self) -> Result<(), StoreError> {
        self.checkpointer.after_commit(&self.source.0)
    }

    fn max_idle(&self) -> Option<Duration> {
        None
    }
}
