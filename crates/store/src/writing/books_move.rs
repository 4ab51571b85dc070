//! Moving books from SQLite to Postgres, with a proof that both are the same.
//!
//! The folder is locked during the move, so it cannot change; it is only read. Batches are copied unchanged, so
//! roots, chain and receipts stay valid. Derived tables are computed from the journal, flows' rows are copied, the
//! key index is rebuilt. At the end both books are audited and compared, account by account.
//!
//! At no moment can both be opened for writing. The move takes a lease of a hundred years in the database. When
//! everything is copied and proven it marks the books in the folder as moved, and only then releases the lease:
//!
//! | interrupted | the folder | the database | what to do |
//! | --- | --- | --- | --- |
//! | before the mark | is the ledger | cannot be opened | drop the database, and move again |
//! | after the mark | cannot be opened | cannot be opened | the same move again: it releases the lease |
//! | after the release | cannot be opened | is the ledger | |

use std::path::{Path, PathBuf};

use bankroll_ledger::{Account, Record, Replay, Seq, Time};

use super::{
    keys::{KeyIndex, RECENT_MAX},
    lock::FolderLock,
};
use crate::{
    Audit, AuditProgress, AuditReport, BOOKS_FILE, DatabaseUrl, LOCK_FILE, Location, Migrations, MovedBooks, Reader,
    StoreError,
    engine::{
        Commit, CommitError, DerivedTables, Engine, Opening, Records, Source, events_of,
        migrations::with_flows,
        postgres::{LeaseClaim, OnFinding, Postgres, finish_move, is_move_unfinished},
        sqlite::{flow_tables, moved, open_read_only},
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
    /// Moves the books; returns the report of the final audit, which equals the first one. The books in the folder are
    /// marked as moved.
    ///
    /// # Errors
    /// If either books are not sound, the database is not empty, or they differ in the end. The folder stays unchanged
    /// then. [`StoreError::Moved`] if they were moved before.
    pub fn run(&self, mut on_progress: impl FnMut(BooksMoveStage)) -> Result<AuditReport, StoreError> {
        let path = self.from.join(BOOKS_FILE);
        if !path.exists() {
            return Err(StoreError::NoLedger { path: self.from.clone() });
        }
        let _lock = FolderLock::acquire(&self.from.join(LOCK_FILE))?;
        let audit = Audit::new(Reader::open(&self.from)?);
        let (old, old_accounts) = audit.run(|progress| on_progress(BooksMoveStage::AuditingOld(progress)))?;
        let source = open_read_only(&path)?;
        if let Some((moved, holder)) = source.mark()? {
            return self.finish(&path, moved, &holder, old, &old_accounts, on_progress);
        }
        let begun = self.now.0;
        let holder = format!(
            "a move from a folder (begun at {begun}; if it was interrupted, run it again; if that is refused, drop this \
             database and move again)"
        );
        let claim = LeaseClaim {
            holder: holder.clone(),
            address: String::new(),
            lease: LEASE,
            moves: true,
            on_finding: OnFinding::Refuse,
        };
        let mut engine =
            Postgres::open(&self.to, claim, Opening::ExistingOrNew, &with_flows(&self.migrations), self.now)?;
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
        let new = self.prove(&old, &old_accounts, on_progress)?;
        // The last moment at which a lost connection leaves the folder as it is.
        engine.renew()?;
        moved::mark(&path, &self.to.shown(), &holder, self.now)?;
        engine.mark_complete()?;
        Ok(new)
    }

    /// Removes the mark: the books in the folder are the ledger again. The caller makes sure that those in the database
    /// are not opened any more.
    ///
    /// # Errors
    /// [`StoreError::NotMoved`] if there is no mark; otherwise if the books cannot be read or written.
    pub fn undo(folder: &Path) -> Result<MovedBooks, StoreError> {
        // Opened first: a folder without books gets no lock file.
        drop(Reader::open(folder)?);
        let _lock = FolderLock::acquire(&folder.join(LOCK_FILE))?;
        let moved = Reader::open(folder)?.moved()?.ok_or_else(|| StoreError::NotMoved { path: folder.into() })?;
        moved::unmark(&folder.join(BOOKS_FILE))?;
        Ok(moved)
    }

    /// A move that was interrupted after the mark: releases the lease that it has left in the database.
    fn finish(
        &self,
        path: &Path,
        moved: MovedBooks,
        holder: &str,
        old: AuditReport,
        old_accounts: &[Account],
        on_progress: impl FnMut(BooksMoveStage),
    ) -> Result<AuditReport, StoreError> {
        let refusal = StoreError::Moved { path: path.into(), moved: moved.clone() };
        if moved.to != self.to.shown() || !is_move_unfinished(&self.to, holder)? {
            return Err(refusal);
        }
        let new = self.prove(&old, old_accounts, on_progress)?;
        finish_move(&self.to, holder)?;
        Ok(new)
    }

    /// Audits the books in the database, and compares them with those in the folder.
    fn prove(
        &self,
        old: &AuditReport,
        old_accounts: &[Account],
        mut on_progress: impl FnMut(BooksMoveStage),
    ) -> Result<AuditReport, StoreError> {
        let audit = Audit::new(Reader::open(Location::Postgres(self.to.clone()))?);
        let (new, new_accounts) = audit.run(|progress| on_progress(BooksMoveStage::AuditingNew(progress)))?;
        if *old == new && old_accounts == new_accounts {
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

fn stored(
    engine: &mut Postgres,
    commit: &Commit<'_>,
    append: impl FnOnce(&mut Postgres) -> Result<(), CommitError>,
) -> Result<(), StoreError> {
    let stored = engine.write(commit).and_then(|_| append(engine)).and_then(|()| engine.commit());
    stored.map_err(CommitError::into_error)
}
