//! Rebuilding the derived tables from the journal.

use bankroll_ledger::{Record, Seq};

use super::{Postgres, commit, session::Session};
use crate::{
    AuditProgress, StoreError,
    engine::{Commit, DerivedTables, Source, events_of},
};

/// Rows written at a time.
const PAGE: usize = 10_000;

/// Whether accounts, balances and assets have lost no row and none has another number: they are numbered without
/// gaps, their last numbers are kept apart, and every account has a balance. (The audit finds other losses and
/// edits.)
fn is_complete(session: &Session) -> Result<bool, StoreError> {
    let is_unbroken = |table: &str, last: &str| {
        format!(
            "(SELECT count(*) = {last} AND coalesce(max(id), 0) = {last} AND coalesce(min(id), 1) = 1 FROM books.{table})"
        )
    };
    let sql = format!(
        "SELECT {} AND {} AND {} FROM books.ledger_head",
        is_unbroken("accounts", "last_account"),
        is_unbroken("balances", "last_account"),
        is_unbroken("assets", "last_asset"),
    );
    Ok(session.one(&sql, &[])?.get(0))
}

impl Postgres {
    /// If derived tables have lost rows, fills them again from the journal.
    pub fn restore_derived(&mut self) -> Result<(), StoreError> {
        if is_complete(&self.session)? {
            return Ok(());
        }
        let derived = DerivedTables::from_journal(&self.session)?;
        // If this fails, or its outcome is unknown, the next process that opens the books checks again.
        commit::begin(self).map_err(commit::TransactionError::into_error)?;
        self.session.run(
            "UPDATE books.ledger_head SET last_account = 0, last_asset = 0;
             DELETE FROM books.assets; DELETE FROM books.accounts; DELETE FROM books.balances; DELETE FROM books.holds;
             DELETE FROM books.reversals",
        )?;
        for page in pages(&derived) {
            commit::write_derived(&self.session, &page)?;
        }
        Ok(self.session.run("COMMIT")?)
    }
}

/// The tables that are emptied: everything that follows from the journal, the statement index aside, which is compared
/// on its own.
const EMPTY: &str = "
UPDATE books.ledger_head SET last_account = 0, last_asset = 0;
TRUNCATE books.assets, books.accounts, books.balances, books.holds, books.reversals, books.outbox, books.key_runs,
         books.key_chunks";

impl Postgres {
    /// Makes derived tables and all indexes again, in one transaction; returns the number of holds. It keeps the fencing
    /// row locked, so that no other writer takes over meanwhile, for however long it takes. `verify` reads the journal.
    pub fn rebuild(
        &mut self,
        verify: impl FnOnce(&Session) -> Result<DerivedTables, StoreError>,
        on_progress: &mut impl FnMut(AuditProgress),
    ) -> Result<u64, StoreError> {
        commit::begin(self).map_err(commit::TransactionError::into_error)?;
        let rebuilt = self.rebuild_in_transaction(verify, on_progress);
        match rebuilt {
            Ok(holds) => {
                self.session.take_warning();
                self.session.run("COMMIT")?;
                // Committed, but perhaps not replicated.
                if self.session.take_warning() { Err(StoreError::Unreachable) } else { Ok(holds) }
            }
            Err(error) => {
                // Fails only if the connection is lost, and the transaction with it.
                let _ = self.session.run("ROLLBACK");
                Err(error)
            }
        }
    }

    fn rebuild_in_transaction(
        &self,
        verify: impl FnOnce(&Session) -> Result<DerivedTables, StoreError>,
        on_progress: &mut impl FnMut(AuditProgress),
    ) -> Result<u64, StoreError> {
        let session = &self.session;
        // First: the journal is read by its indexes.
        session.run("REINDEX TABLE books.journal; REINDEX TABLE books.batches")?;
        let derived = verify(session)?;
        session.run(EMPTY)?;
        for page in pages(&derived) {
            commit::write_derived(session, &page)?;
        }
        write_announcements(session, on_progress)?;
        for row in session.query(OTHER_TABLES, &[])? {
            session.run(&format!("REINDEX TABLE {}", row.get::<_, &str>(0)))?;
        }
        Ok(derived.holds.len() as u64)
    }
}

/// Tables with rows that do not follow from the journal. Not `ledger_head`: nodes that stand by read its one row.
const OTHER_TABLES: &str = "SELECT c.oid::regclass::text FROM pg_class c
     WHERE c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'migrations'::regclass)
       AND pg_has_role(c.relowner, 'USAGE')";

fn write_announcements(session: &Session, on_progress: &mut impl FnMut(AuditProgress)) -> Result<(), StoreError> {
    let (mut next, rows_total) = (Seq(1), session.last_seq()?.0);
    loop {
        let records = session.records_from(next, PAGE)?;
        let Some((last, _)) = records.last() else { return Ok(()) };
        next = last.next();
        let mut events = Vec::new();
        for (seq, bytes) in &records {
            events.extend(events_of(*seq, Record::decode(bytes).map_err(StoreError::unreadable(*seq))?));
        }
        let events = events.iter().map(|(seq, place, event)| (*seq, *place, event)).collect();
        commit::write_derived(session, &Commit { events, ..Commit::default() })?;
        on_progress(AuditProgress { rows: next.0 - 1, rows_total });
    }
}

fn pages(derived: &DerivedTables) -> impl Iterator<Item = Commit<'_>> {
    let assets = std::iter::once(Commit { assets: &derived.assets, ..Commit::default() });
    let accounts = derived.accounts.chunks(PAGE).map(|accounts| Commit { accounts, ..Commit::default() });
    let holds = derived.holds.chunks(PAGE).map(|holds| Commit { holds, ..Commit::default() });
    let reversals = derived.reversals.chunks(PAGE).map(|reversals| Commit { reversals, ..Commit::default() });
    assets.chain(accounts).chain(holds).chain(reversals)
}
