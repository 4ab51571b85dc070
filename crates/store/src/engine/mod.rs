//! The contract between the writer and a database.
//!
//! An engine stores what the writer decided, all or nothing, and reads what a batch needs. It decides nothing.
//! Everything it writes for one batch is one transaction, durable when [`Engine::commit`] returns; an error that
//! leaves this in doubt is fatal for the writer, which stops, so that its owner opens the books again.

mod checksum;
mod confirm;
mod derived;
mod flow_sql;
pub(crate) mod grants;
pub(crate) mod migrations;
pub(crate) mod postgres;
pub(crate) mod runs;
mod schema;
pub(crate) mod sqlite;
mod stored;

use std::{collections::BTreeMap, ops::Range, time::Duration};

use bankroll_ledger::{
    Account, AccountId, AccountName, Amount, Asset, AssetId, Batch, ColumnValue, Event, Fact, Hold, HoldId, Row,
    RowKey, Seq, Time,
    merkle::{self, Hash},
};

use crate::{DamageRemedy, EventPosition, Location, Migrations, MovedBooks, StoreError, StoredEvent};
pub(crate) use derived::{DERIVED_TABLES, DerivedTables, JOURNAL_TABLES, events_of};
use runs::RunMeta;
pub use schema::SchemaReport;
use sqlite::OpenFiles;

/// Whether opening may, or must, create the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// There must be books.
    Existing,
    /// There must be none.
    New,
    ExistingOrNew,
}

/// Where the journal ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalHead {
    /// The number of the last batch; 0 if there is none.
    pub batch: u64,
    /// The place of the last record; 0 if there is none.
    pub seq: Seq,
    /// The time of the last batch.
    pub at: Time,
    /// The head of the hash chain.
    pub hash: Hash,
}

/// The encoded records of a batch, in one buffer, and their leaves in its Merkle tree.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub bytes: Vec<u8>,
    ends: Vec<usize>,
    leaves: Vec<Hash>,
}

impl Records {
    /// Ends the record that was appended to `bytes` since the last call.
    pub fn end_record(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        self.leaves.push(merkle::leaf(&self.bytes[start..]));
        self.ends.push(self.bytes.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn root(&self) -> Hash {
        merkle::root(&self.leaves)
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }

    /// The checksum of each record's row, if they begin at this place.
    pub fn checksums(&self, first: Seq) -> impl Iterator<Item = i64> {
        self.leaves.iter().zip(first.0..).map(|(leaf, seq)| checksum::record(Seq(seq), leaf))
    }
}

/// Balance and held amount of an account after a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BalanceRow {
    pub id: AccountId,
    pub balance: Amount,
    pub held: Amount,
}

/// Everything that one batch changes, except its records.
#[derive(Debug, Default)]
pub(crate) struct Commit<'a> {
    pub assets: &'a [(AssetId, Asset)],
    pub accounts: &'a [Account],
    /// Existing accounts that have got their debt account.
    pub debt_links: &'a [Account],
    /// In the order of ids, so that neighbouring rows are written together.
    pub balances: &'a [BalanceRow],
    pub holds: &'a [Hold],
    pub reversals: &'a [(Seq, Seq)],
    /// Facts, each with the place in the batch of the request it belongs to.
    pub facts: Vec<(usize, &'a Fact)>,
    pub events: Vec<(Seq, u16, &'a Event)>,
    pub runs: Option<&'a RunWrites>,
    /// The second lane: rows of flows without money.
    pub rows: Vec<&'a [Statement]>,
}

/// What a commit changes in the key index.
#[derive(Debug, Default)]
pub(crate) struct RunWrites {
    pub chunks: Vec<(u64, Vec<u8>)>,
    pub added: Option<(RunMeta, Vec<u8>)>,
    /// Removes every run, whatever its row contains, before `added`.
    pub removes_all: bool,
    pub removed: Vec<u64>,
    pub dropped_chunks: Vec<Range<u64>>,
}

impl RunWrites {
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
            && self.added.is_none()
            && !self.removes_all
            && self.removed.is_empty()
            && self.dropped_chunks.is_empty()
    }
}

/// One statement of a flow: one text for both engines, with `$1`, `$2`, ... for its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub sql: String,
    pub values: Vec<ColumnValue>,
    /// How many rows it must change; with any other number, the whole set of statements is rolled back.
    pub must_change: Option<u64>,
}

/// Why a set of statements was rolled back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowsRejection {
    /// A constraint of a table.
    #[error("statement {index} breaks a constraint")]
    Constraint {
        /// Which statement, from 0.
        index: usize,
    },
    /// It changed the wrong number of rows.
    #[error("statement {index} changed {changed} rows")]
    Changed {
        /// Which statement, from 0.
        index: usize,
        changed: u64,
    },
    /// The database rejects the statement, or a flow may not use it.
    #[error("statement {index} cannot be run: {reason}")]
    Malformed {
        /// Which statement, from 0.
        index: usize,
        reason: String,
    },
}

/// How many rows each statement of a set changed.
pub type RowsOutcome = Result<Vec<u64>, RowsRejection>;

/// Why a commit did not happen.
#[derive(Debug)]
pub(crate) enum CommitError {
    /// The fact of the request at this place breaks a constraint of its table. Rolled back; decide again without it.
    FactRefused(usize),
    /// Rolled back for certain; nothing happened.
    NothingHappened(StoreError),
    /// Anything else: the outcome is unknown until the books are opened again.
    Fatal(StoreError),
}

impl CommitError {
    /// For callers that write no facts and cannot go on.
    pub fn into_error(self) -> StoreError {
        match self {
            Self::NothingHappened(error) | Self::Fatal(error) => error,
            Self::FactRefused(_) => unreachable!("there are no facts in it"),
        }
    }
}

/// Reading from a database: the half of the contract that needs no write access. Methods return committed data; two
/// results are consistent with each other only within a snapshot.
///
/// Every row is compared with its checksum, and what is not found is confirmed by a second way (`confirm.rs`). Holds
/// that an index finds are read again by their numbers, so a reader that runs while a writer works needs a snapshot.
pub(crate) trait Source: Send {
    /// From here on every read sees one snapshot, until its end.
    fn begin_snapshot(&self) -> Result<(), StoreError>;
    fn end_snapshot(&self) -> Result<(), StoreError>;
    fn head(&self) -> Result<JournalHead, StoreError>;
    /// The place of the last record, whatever the batches say.
    fn last_seq(&self) -> Result<Seq, StoreError>;
    fn last_ids(&self) -> Result<(AssetId, AccountId), StoreError>;
    fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError>;
    /// Those of the accounts that exist.
    fn accounts(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError>;
    fn accounts_named(&self, names: &[AccountName]) -> Result<Vec<Account>, StoreError>;
    /// The next accounts in the order of their numbers.
    fn accounts_after(&self, after: AccountId, most: usize) -> Result<Vec<Account>, StoreError>;
    fn holds(&self, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError>;
    /// Open holds whose time is over, earliest first.
    fn due_holds(&self, now: Time, most: usize) -> Result<Vec<Hold>, StoreError>;
    fn next_expiry(&self) -> Result<Option<Time>, StoreError>;
    fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError>;
    fn all_open_holds(&self) -> Result<Vec<Hold>, StoreError>;
    /// The next holds in the order of their numbers, in whatever state.
    fn holds_after(&self, after: HoldId, most: usize) -> Result<Vec<Hold>, StoreError>;
    fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError>;
    /// The records at these places, in ascending order of places.
    fn records(&self, places: &[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError>;
    /// Up to `most` records from a place on.
    fn records_from(&self, first: Seq, most: usize) -> Result<Vec<(Seq, Vec<u8>)>, StoreError>;
    /// The batches from this number on, up to `most`, each with the head it was stored with.
    fn batches_from(&self, number: u64, most: usize) -> Result<Vec<(Batch, Hash)>, StoreError>;
    /// The batch that a record is in, with its head.
    fn batch_of(&self, seq: Seq) -> Result<Option<(Batch, Hash)>, StoreError> {
        // Numbers and first places grow together, so binary search finds the batch.
        let (mut low, mut high) = (1, self.head()?.batch);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match self.batches_from(middle, 1)?.pop() {
                Some((batch, _)) if batch.first <= seq => low = middle,
                _ => high = middle - 1,
            }
        }
        let found = self.batches_from(low, 1)?.pop();
        Ok(found.filter(|(batch, _)| batch.first <= seq && seq.0 < batch.first.0 + u64::from(batch.count)))
    }
    fn reversal_of(&self, original: Seq) -> Result<Option<Seq>, StoreError>;
    fn all_reversals(&self) -> Result<BTreeMap<Seq, Seq>, StoreError>;
    /// The next reversed transfers in the order of the journal, each with its reversal.
    fn reversals_after(&self, after: Seq, most: usize) -> Result<Vec<(Seq, Seq)>, StoreError>;
    fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError>;
    /// The next events after a position, in order.
    fn events_after_position(&self, after: EventPosition, most: usize) -> Result<Vec<StoredEvent>, StoreError>;
    /// The position of the newest event; the default if there is none.
    fn newest_event(&self) -> Result<EventPosition, StoreError>;
    /// How many events about a resource there are up to a position.
    fn events_about(&self, resource: &str, until: EventPosition) -> Result<u64, StoreError>;
    /// The runs of the key index in the order of the journal, with their summaries. Whatever is wrong with its tables,
    /// pages included, is [`StoreError::KeyIndexDamaged`].
    fn runs(&self) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError>;
    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError>;
    /// The runs of the key index in the order of the journal, without their summaries.
    fn run_metas(&self) -> Result<Vec<RunMeta>, StoreError>;
    /// The first account's name, in the order of bytes, that is not below a text.
    fn first_name_from(&self, text: &str) -> Result<Option<String>, StoreError>;
    /// The rows that a query of a flow finds.
    fn flow_rows(&self, query: &Statement) -> Result<Vec<Row>, StoreError>;
    /// Where the books went, if they were moved.
    fn moved(&self) -> Result<Option<MovedBooks>, StoreError> {
        Ok(None)
    }
    /// The finding for which a database refuses writers; a folder has none.
    fn finding(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// The last finding, whether or not a rebuild has lifted it, and the epoch of the holder that made it; a folder has
    /// none.
    fn last_finding(&self) -> Result<Option<(u64, String)>, StoreError> {
        Ok(None)
    }
    /// Compares the schema with what the migrations made.
    fn compare_schema(&self, sets: &[Migrations]) -> Result<SchemaReport, StoreError>;
    /// Whether the server has a checksum in every page; `None` for a file, whose rows are compared instead.
    fn has_page_checksums(&self) -> Result<Option<bool>, StoreError> {
        Ok(None)
    }
    /// Checks the structure of every page, as far as it comes in this time; `false` if it did not reach the end.
    /// Without a limit it also compares every index with its table. A server checks its pages itself.
    fn check_pages(&self, _within: Option<Duration>) -> Result<bool, StoreError> {
        Ok(true)
    }
}

/// A damage whose place is not known, with its place and what repairs it. Any other error stays as it is.
pub(crate) fn locate_damage(location: &Location, error: StoreError) -> StoreError {
    match (error, location) {
        (StoreError::Damaged { what }, Location::Folder(folder)) => sqlite::locate_damage(folder, what),
        (StoreError::Damaged { what }, Location::Postgres(url)) => postgres::locate_damage(url, what),
        // A connection does not know the folder by the name that the operator uses.
        (
            StoreError::PagesDamaged { place, what, remedy: DamageRemedy::Rebuild { folder: None } },
            Location::Folder(folder),
        ) => {
            let remedy = DamageRemedy::Rebuild { folder: Some(folder.clone()) };
            StoreError::PagesDamaged { place, what, remedy }
        }
        (error, _) => error,
    }
}

/// A database under the writer.
pub(crate) trait Engine: Send {
    /// Reads, within the transaction of the batch if one is open.
    fn source(&self) -> &dyn Source;
    /// Begins the transaction that a batch is read and written in, unless one is open. [`StoreError::Locked`] means
    /// that another program holds a lock and nothing happened.
    fn begin(&mut self) -> Result<(), StoreError>;
    /// Ends a transaction in which nothing was written.
    fn end_unwritten(&mut self) -> Result<(), StoreError>;
    /// After a transient error: makes sure that this writer still has the books, over a new connection if necessary.
    fn reconnect(&mut self) -> Result<(), StoreError>;
    /// The row of a flow, as a guard sees it.
    fn row(&mut self, key: &RowKey) -> Result<Option<Row>, StoreError>;
    /// A second connection for reading, for another thread.
    fn open_reader(&self) -> Result<Box<dyn Source>, StoreError>;
    /// Deletes every chunk outside these ranges: left-overs of an interrupted merge.
    fn sweep_chunks(&mut self, live: &[Range<u64>]) -> Result<(), StoreError>;
    /// Writes everything but the records into the transaction of the batch.
    fn write(&mut self, commit: &Commit<'_>) -> Result<Vec<RowsOutcome>, CommitError>;
    /// Writes the records and their batch into it.
    fn append(&mut self, batch: &Batch, records: &Records) -> Result<(), CommitError>;
    /// Makes the transaction durable. After an error of `write`, `append` or `commit` it is over.
    fn commit(&mut self) -> Result<(), CommitError>;
    /// Whether [`Engine::store_at_once`] can store this commit.
    fn can_store_at_once(&self, _: &Commit<'_>) -> bool {
        false
    }
    /// Writes, appends and commits at once.
    fn store_at_once(&mut self, commit: &Commit<'_>, batch: &Batch, records: &Records) -> Result<(), CommitError> {
        self.write(commit)?;
        self.append(batch, records)?;
        self.commit()
    }
    /// House-keeping after a commit has been answered.
    fn after_commit(&mut self) -> Result<(), StoreError>;
    /// How long the writer may wait for calls before the engine needs attention; `None` without a limit.
    fn max_idle(&self) -> Option<Duration>;
    /// The files that the writer has open; none of a database on a server.
    fn open_files(&self) -> OpenFiles {
        OpenFiles::default()
    }
    /// Notes why the books are not sound where the next writer sees it. Of a folder there is no other node, and the
    /// node's own file has the finding.
    fn note_finding(&mut self, _finding: &str) -> Result<(), StoreError> {
        Ok(())
    }
}
