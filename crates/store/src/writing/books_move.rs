//! Moving books from SQLite to Postgres, with a proof that both are the same.
//!
//! The folder is locked during the move, so it cannot change; it is only read. Batches are copied unchanged, so
//! roots, chain and receipts stay valid. Derived tables are computed from the journal, flows' rows are copied, the
//! key index is rebuilt. At the end both books are audited and compared, account by account.
//!
//! A move that is interrupted, or fails, leaves books that do not open: the move takes a lease of a hundred years, and
//! releases it only when everything is copied and proven. Drop that database and move again.

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
/// Until it is known that the database is empty.
const LEASE: std::time::Duration = std::time::Duration::from_secs(60);

/// A move of books from a folder into a database.
#[derive(Clone, Debug)]
pub struct BooksMove {
    pub from: PathBuf,
    /// The database, which must have no books yet.
    pub to: DatabaseUrl,
    /// The tables of flows, whose rows move too.
    pub migrations: Vec<Migrations>,
    /// The present time.
    pub now: Time,
}

/// How far a move has come.
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
    /// Moves the books; returns the report of the final audit, which equals the first one.
    ///
    /// # Errors
    /// If either books are not sound, the database is not empty, or they differ in the end. The folder stays unchanged.
    pub fn run(&self, mut on_progress: impl FnMut(BooksMoveStage)) -> Result<AuditReport, StoreError> {
        let path = self.from.join(BOOKS_FILE);
        if !path.exists() {
            return Err(StoreError::NoLedger { path: self.from.clone() });
        }
        let _lock = FolderLock::acquire(&self.from.join(LOCK_FILE))?;
        let audit = Audit::new(Reader::open(&self.from)?);
        let (old, old_accounts) = audit.run(|progress| on_progress(BooksMoveStage::AuditingOld(progress)))?;
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
        let replay = copy_journal(&source, &mut engine, old.rows, &mut on_progress)?;
        stored(&mut engine, &DerivedTables::from(replay).commit(), |_| Ok(()))?;
        for (table, columns, rows) in flow_tables(&source)? {
            engine.insert_rows(&table, &columns, &rows)?;
        }
        let last = engine.source().head()?.seq;
        drop(KeyIndex::rebuild(&mut engine, last, RECENT_MAX)?);
        let audit = Audit::new(Reader::open(Location::Postgres(self.to.clone()))?);
        let (new, new_accounts) = audit.run(|progress| on_progress(BooksMoveStage::AuditingNew(progress)))?;
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
    on_progress: &mut impl FnMut(BooksMoveStage),
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
                events.extend(events_of(seq, record));
                records.bytes.extend(bytes);
                records.end_record();
            }
            let events = events.iter().map(|(seq, place, event)| (*seq, *place, event)).collect();
            stored(engine, &Commit { events, ..Commit::default() }, |engine| engine.append(batch, &records))?;
        }
        on_progress(BooksMoveStage::Copying(AuditProgress {
            rows: last.first.0 + u64::from(last.count) - 1,
            rows_total,
        }));
    }
}

/// The events of an applied record.
fn events_of(seq: Seq, record: Record) -> Vec<(Seq, u16, Event)> {
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
