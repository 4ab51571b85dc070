//! BooksMoveStage books from SQLite to Postgres, and proving that they are the same there.
//!
//! The folder is locked while they move, so nothing can be added meanwhile; it is only read. Batches are copied as they
//! are, so roots, chain and receipts stay what they were. What is derived is computed from the journal, flows' rows are
//! copied, the key index is built anew. At the end both books are audited and compared, account by account.
//!
//! A move that is interrupted, or fails, leaves books that do not open: whoever moves has a lease that outlives everybody, and
//! gives it back when all is there and proven. Drop that database and move again.

use std::path::PathBuf;

use bankroll_ledger::{Event, Record, Replay, Seq, Time, Verdict};

use super::{
    keys::{KeyIndex, RECENT_MAX},
    lock::FolderLock,
};
use crate::{
    Audit, AuditProgress, AuditReport, BOOKS_FILE, DatabaseUrl, LOCK_FILE, Location, Migrations, Reader, StoreError,
    engine::{
        Commit, CommitError, DerivedTables, Engine, Records, Source,
        migrations::with_flows,
        postgres::{LeaseClaim, Postgres},
        sqlite::{flow_tables, open_read_only},
    },
};

/// Batches read at a time.
const PAGE: usize = 256;
/// Until it is known that nobody's books are there.
const LEASE: std::time::Duration = std::time::Duration::from_secs(60);

/// Which books go where.
#[derive(Clone, Debug)]
pub struct BooksMove {
    /// The folder.
    pub from: PathBuf,
    /// The database, which must have no books yet.
    pub to: DatabaseUrl,
    /// The tables of flows, whose rows move too.
    pub migrations: Vec<Migrations>,
    /// The present time.
    pub now: Time,
}

/// How a move stands.
#[derive(Clone, Copy, Debug)]
pub enum BooksMoveStage {
    /// The books in the folder are audited.
    AuditingOld(AuditProgress),
    /// Records have been copied.
    Copying(AuditProgress),
    /// The books in the database are audited.
    AuditingNew(AuditProgress),
}

impl BooksMove {
    /// Moves the books; what both audits say.
    ///
    /// # Errors
    /// If either books are not sound, the new ones are not empty, or they differ in the end. The folder is as it was.
    pub fn run(&self, mut tell: impl FnMut(BooksMoveStage)) -> Result<AuditReport, StoreError> {
        let path = self.from.join(BOOKS_FILE);
        if !path.exists() {
            return Err(StoreError::NoLedger { path: self.from.clone() });
        }
        let _lock = FolderLock::acquire(&self.from.join(LOCK_FILE))?;
        let audit = Audit::new(Reader::open(&self.from)?);
        let (old, old_accounts) = audit.run(|progress| tell(BooksMoveStage::AuditingOld(progress)))?;
        let source = open_read_only(&path)?;
        let begun = self.now.0;
        let holder = format!(
            "a move from a folder (begun at {begun}; if it was interrupted, drop this database and move again)"
        );
        let claim = LeaseClaim { holder, address: String::new(), lease: LEASE, moves: true };
        let mut engine = Postgres::open(&self.to, claim, &with_flows(&self.migrations), self.now)?;
        if engine.source().head()?.batch != 0 {
            return Err(StoreError::NotEmpty);
        }
        engine.lease_until_complete()?;
        let replay = copy_journal(&source, &mut engine, old.rows, &mut tell)?;
        stored(&mut engine, &DerivedTables::from(replay).commit(), |_| Ok(()))?;
        for (table, columns, rows) in flow_tables(&source)? {
            engine.insert_rows(&table, &columns, &rows)?;
        }
        let last = engine.source().head()?.seq;
        drop(KeyIndex::rebuild(&mut engine, last, RECENT_MAX)?);
        let audit = Audit::new(Reader::open(Location::Postgres(self.to.clone()))?);
        let (new, new_accounts) = audit.run(|progress| tell(BooksMoveStage::AuditingNew(progress)))?;
        if old == new && old_accounts == new_accounts {
            engine.mark_complete()?;
            Ok(new)
        } else {
            Err(StoreError::diverged(Seq(new.rows), "the books in the database are not those in the folder"))
        }
    }
}

fn copy_journal(
    source: &dyn Source,
    engine: &mut Postgres,
    rows_total: u64,
    tell: &mut impl FnMut(BooksMoveStage),
) -> Result<Replay, StoreError> {
    let (mut replay, mut next) = (Replay::default(), 1);
    loop {
        let batches = source.batches_from(next, PAGE)?;
        let Some((last, _)) = batches.last() else { return Ok(replay) };
        next = last.number + 1;
        for (batch, _) in &batches {
            let (mut records, mut events) = (Records::default(), Vec::new());
            for (seq, bytes) in source.records_from(batch.first, batch.count as usize)? {
                let record = Record::decode(&bytes).map_err(StoreError::unreadable(seq))?;
                replay.apply(seq, &record);
                events.extend(announced(seq, record));
                records.bytes.extend(bytes);
                records.end_record();
            }
            let events = events.iter().map(|(seq, place, event)| (*seq, *place, event)).collect();
            stored(engine, &Commit { events, ..Commit::default() }, |engine| engine.append(batch, &records))?;
        }
        tell(BooksMoveStage::Copying(AuditProgress { rows: last.first.0 + u64::from(last.count) - 1, rows_total }));
    }
}

/// What a record that was applied announced.
fn announced(seq: Seq, record: Record) -> Vec<(Seq, u16, Event)> {
    match record {
        Record::Decided { request, verdict: Verdict::Applied(_) } => {
            request.events.into_iter().zip(0..).map(|(event, place)| (seq, place, event)).collect()
        }
        _ => Vec::new(),
    }
}

fn stored(
    engine: &mut Postgres,
    commit: &Commit<'_>,
    append: impl FnOnce(&mut Postgres) -> Result<(), CommitError>,
) -> Result<(), StoreError> {
    let stored = engine.write(commit).and_then(|_| append(engine)).and_then(|()| engine.commit());
    match stored {
        Ok(()) => Ok(()),
        Err(CommitError::NothingHappened(error) | CommitError::Fatal(error)) => Err(error),
        Err(CommitError::FactRefused(_)) => unreachable!("there are no facts in it"),
    }
}
