//! SQLite: one file in a folder, write-ahead log, a sync in every commit.

mod checkpoint;
mod commit;
pub(crate) mod load;
mod rebuild;
mod row;
mod settings;

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use bankroll_ledger::{
    Account, AccountId, AccountName, Asset, AssetId, Batch, Hold, HoldId, Row, RowKey, Seq, Time, merkle::Hash,
};
use rusqlite::Connection;

use super::{ChunkReader, Commit, CommitError, Engine, Head, Records, RowsChanged};
use crate::{Durability, Migrations, StoreError, keys::RunMeta, migrations};

use checkpoint::Checkpointer;
pub(crate) use load as queries;
pub(crate) use load::{account_columns, read_account};
pub(crate) use settings::{ReadOnly, open_read_only};

/// The books of one folder.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    path: PathBuf,
    checkpointer: Checkpointer,
    /// Tables that facts and rows may not touch: the store's own.
    own_tables: Vec<String>,
    /// Whether the statement that is being prepared is a flow's.
    flow_speaks: Arc<AtomicBool>,
}

impl Sqlite {
    /// Opens the file, or makes it, checks its settings and migrates it.
    pub fn open(path: &Path, durability: Durability, sets: &[Migrations], now: Time) -> Result<Self, StoreError> {
        let mut connection = settings::open_for_writing(path, durability)?;
        migrations::migrate(&mut connection, sets, now)?;
        // Asked of an empty database, since this one has the tables of flows too.
        let mut books_alone = Connection::open_in_memory()?;
        migrations::migrate(&mut books_alone, &[migrations::BOOKS], now)?;
        let own_tables = load::table_names(&books_alone)?;
        let flow_speaks = row::guard_own_tables(&mut connection, own_tables.clone())?;
        // After a sync that failed, what can be read may not be what is on disk. Copying the whole log back and
        // syncing the file makes what we are about to read durable before anybody relies on it.
        checkpoint::copy_back(&connection, "TRUNCATE")?;
        let checkpointer = Checkpointer::start(&mut connection, path, durability)?;
        Ok(Self { connection, path: path.into(), checkpointer, own_tables, flow_speaks })
    }

    /// If tables that are derived from the journal have lost rows, fills them again from it.
    pub fn restore_derived(&mut self) -> Result<(), StoreError> {
        if rebuild::is_complete(&self.connection)? { Ok(()) } else { rebuild::rebuild(&mut self.connection) }
    }

    fn owns(&self, table: &str) -> bool {
        self.own_tables.iter().any(|own| own == table)
    }
}

impl Engine for Sqlite {
    fn begin(&mut self) -> Result<(), StoreError> {
        commit::begin(&self.connection)
    }

    fn end_unwritten(&mut self) -> Result<(), StoreError> {
        if self.connection.is_autocommit() { Ok(()) } else { Ok(self.connection.execute_batch("ROLLBACK")?) }
    }

    fn head(&mut self) -> Result<Head, StoreError> {
        let head = load::head(&self.connection)?;
        if load::last_seq(&self.connection)? == head.seq {
            Ok(head)
        } else {
            Err(StoreError::diverged(head.seq, "the journal does not end where its last batch ends"))
        }
    }

    fn last_ids(&mut self) -> Result<(AssetId, AccountId), StoreError> {
        load::last_ids(&self.connection)
    }

    fn assets(&mut self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
        load::assets(&self.connection)
    }

    fn accounts(&mut self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        load::accounts(&self.connection, ids)
    }

    fn accounts_named(&mut self, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
        load::accounts_named(&self.connection, names)
    }

    fn holds(&mut self, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
        load::holds(&self.connection, ids)
    }

    fn due_holds(&mut self, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
        load::due_holds(&self.connection, now, most)
    }

    fn next_expiry(&mut self) -> Result<Option<Time>, StoreError> {
        load::next_expiry(&self.connection)
    }

    fn record(&mut self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        load::record(&self.connection, seq)
    }

    fn records_from(&mut self, first: Seq, most: usize) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        load::records_from(&self.connection, first, most)
    }

    fn batches_from(&mut self, number: u64, most: usize) -> Result<Vec<(Batch, Hash)>, StoreError> {
        load::batches_from(&self.connection, number, most)
    }

    fn reversal_of(&mut self, original: Seq) -> Result<Option<Seq>, StoreError> {
        load::reversal_of(&self.connection, original)
    }

    fn row(&mut self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        if self.owns(&key.table) { Ok(None) } else { row::read(&self.connection, key) }
    }

    fn runs(&mut self) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
        load::runs(&self.connection)
    }

    fn chunk(&mut self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        load::chunk(&self.connection, id)
    }

    fn chunk_reader(&self) -> Result<Box<dyn ChunkReader>, StoreError> {
        Ok(Box::new(open_read_only(&self.path)?))
    }

    fn sweep_chunks(&mut self, live: &[Range<u64>]) -> Result<(), StoreError> {
        commit::sweep_chunks(&self.connection, live)
    }

    fn write(&mut self, commit: &Commit<'_>) -> Result<Vec<RowsChanged>, CommitError> {
        commit::write(self, commit)
    }

    fn append(&mut self, batch: &Batch, records: &Records) -> Result<(), CommitError> {
        commit::append(&self.connection, batch, records)
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        commit::commit(&self.connection)
    }

    fn after_commit(&mut self) -> Result<(), StoreError> {
        self.checkpointer.after_commit(&self.connection)
    }
}

impl ChunkReader for ReadOnly {
    fn chunk(&mut self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        load::chunk(self.connection(), id)
    }
}
