//! Making everything that follows from the journal again: tables, indexes, announcements.
//!
//! The journal is verified first, every batch against the chain, and the new books are audited before they take the
//! place of the old ones. If the journal, or a table that does not follow from it, cannot be read, nothing is changed:
//! then only a copy helps. On SQLite the new books are a new file, on Postgres one transaction, so that an interruption
//! leaves either the old books or the new ones.

use std::path::{Path, PathBuf};

use super::{
    keys::KeyIndex,
    ledger::{BOOKS_FILE, LOCK_FILE, LedgerOptions, STATEMENTS_FILE, holder_name, is_there, refuse_lost_tail},
    lock::FolderLock,
};
use crate::{
    Audit, AuditProgress, AuditReport, Location, Reader, StoreError,
    engine::{
        DerivedTables, Engine, Opening, locate_damage,
        migrations::with_flows,
        postgres::{LeaseClaim, OnFinding, Postgres, StatementTables, lift_finding},
        sqlite::{OldBooks, Sqlite, StatementsFile, new_books},
    },
    history::index::IndexLocation,
};

/// What a rebuild made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RebuildReport {
    /// The audit of the new books.
    pub audit: AuditReport,
    /// Holds of any state.
    pub holds: u64,
    /// Where the damaged file is; `None` for a database.
    pub kept: Option<PathBuf>,
    /// Tables of other programs, which the new file does not have.
    pub left_out: Vec<String>,
    /// Whether the statement index did not match the journal. `serve` builds it again.
    pub removed_statements: bool,
}

/// How far a rebuild has come.
#[derive(Clone, Copy, Debug)]
pub enum RebuildStage {
    /// The journal of the old books is verified.
    Verified,
    /// Records are in the new books.
    Copying(AuditProgress),
    /// The new books are audited.
    Auditing(AuditProgress),
    /// The log of the old file is in the file.
    EndedLog,
    /// The old file has a second name.
    Kept,
    /// The new books are the ledger.
    TookPlace,
}

/// Makes everything again that follows from the journal. No other process may have the books.
///
/// # Errors
/// [`StoreError::NotRebuildable`] if only a copy of the books helps. The books are unchanged after any error but one of
/// the last step, the indexes, which every opening makes again.
pub fn rebuild_books(
    options: &LedgerOptions,
    mut on_stage: impl FnMut(RebuildStage),
) -> Result<RebuildReport, StoreError> {
    let rebuilt = match &options.location {
        Location::Folder(folder) => rebuild_file(options, folder, &mut on_stage),
        Location::Postgres(_) => rebuild_tables(options, &mut on_stage),
    };
    let mut report = rebuilt.map_err(|error| locate_damage(&options.location, error))?;
    report.removed_statements = check_statements(&options.location)?;
    Ok(report)
}

fn rebuild_file(
    options: &LedgerOptions,
    folder: &Path,
    on_stage: &mut impl FnMut(RebuildStage),
) -> Result<RebuildReport, StoreError> {
    let (path, now) = (folder.join(BOOKS_FILE), options.clock.now());
    // Checked before the lock is created.
    is_there(folder, Opening::Existing)?;
    let _lock = FolderLock::acquire(&folder.join(LOCK_FILE))?;
    let old = OldBooks::open(&path).map_err(|error| not_rebuildable(locate_damage(&options.location, error)))?;
    // Before anything changes: a rebuild would end the log, whose rest a person may still save.
    refuse_lost_tail(options, old.source())?;
    let derived = verified(old.source(), &options.location)?;
    on_stage(RebuildStage::Verified);
    let made = make_file(options, folder, &old, &derived, on_stage);
    let (audit, left_out) = made.inspect_err(|_| new_books::give_up(&path))?;
    old.end_log().inspect_err(|_| new_books::give_up(&path))?;
    on_stage(RebuildStage::EndedLog);
    let kept = new_books::keep_old(&path, now)?;
    on_stage(RebuildStage::Kept);
    new_books::take_place(&path)?;
    on_stage(RebuildStage::TookPlace);
    let mut engine = Sqlite::open(&path, options.durability, &with_flows(&options.migrations), now)?;
    rebuild_keys(&mut engine, options)?;
    let holds = derived.holds.len() as u64;
    Ok(RebuildReport { audit, holds, kept: Some(kept), left_out, removed_statements: false })
}

/// Fills the new file and audits it.
fn make_file(
    options: &LedgerOptions,
    folder: &Path,
    old: &OldBooks,
    derived: &DerivedTables,
    on_stage: &mut impl FnMut(RebuildStage),
) -> Result<(AuditReport, Vec<String>), StoreError> {
    let on_progress = |progress| on_stage(RebuildStage::Copying(progress));
    let copied = old.copy(&with_flows(&options.migrations), derived, options.clock.now(), on_progress);
    let (file, left_out) = copied.map_err(not_rebuildable)?;
    let audit = Audit::new(Reader::of_file(folder, &file)?);
    let (report, _) = audit.run(|progress| on_stage(RebuildStage::Auditing(progress))).map_err(not_rebuildable)?;
    Ok((report, left_out))
}

fn rebuild_tables(
    options: &LedgerOptions,
    on_stage: &mut impl FnMut(RebuildStage),
) -> Result<RebuildReport, StoreError> {
    let Location::Postgres(url) = &options.location else { return Err(StoreError::NoBooks) };
    let now = options.clock.now();
    let claim = LeaseClaim {
        holder: holder_name(now),
        address: String::new(),
        lease: options.lease,
        moves: false,
        on_finding: OnFinding::Acquire,
    };
    let mut engine = Postgres::open(url, claim, Opening::Existing, &with_flows(&options.migrations), now)?;
    refuse_lost_tail(options, engine.source())?;
    let finding = engine.source().finding()?;
    let holds = engine.rebuild(|session| verified(session, &options.location), &mut |progress| {
        on_stage(RebuildStage::Copying(progress));
    })?;
    on_stage(RebuildStage::TookPlace);
    rebuild_keys(&mut engine, options)?;
    drop(engine);
    let audit = Audit::new(Reader::open(&options.location)?);
    let (audit, _) = audit.run(|progress| on_stage(RebuildStage::Auditing(progress))).map_err(not_rebuildable)?;
    // Until here no writer acquires the lease, whatever ends this process.
    if let Some(finding) = &finding {
        lift_finding(url, finding)?;
    }
    Ok(RebuildReport { audit, holds, kept: None, left_out: Vec::new(), removed_statements: false })
}

/// What follows from the journal. A journal that is not sound gives nothing.
fn verified(source: &dyn crate::engine::Source, location: &Location) -> Result<DerivedTables, StoreError> {
    DerivedTables::from_journal(source).map_err(|error| not_rebuildable(locate_damage(location, error)))
}

fn not_rebuildable(error: StoreError) -> StoreError {
    let is_said = matches!(error, StoreError::NotRebuildable { .. });
    if error.is_unsound() && !is_said {
        let what = "the journal, or what does not follow from it, is damaged".into();
        StoreError::NotRebuildable { what, source: Box::new(error) }
    } else {
        error
    }
}

/// Here and not at the next opening, which would keep all keys in memory at once.
fn rebuild_keys(engine: &mut dyn Engine, options: &LedgerOptions) -> Result<(), StoreError> {
    let last = engine.source().head()?.seq;
    KeyIndex::rebuild(engine, last, options.keys_in_memory_max).map(drop)
}

/// Empties the statement index if it differs from the journal; returns whether it did.
fn check_statements(location: &Location) -> Result<bool, StoreError> {
    let statements: Box<dyn IndexLocation> = match location {
        Location::Folder(folder) if !folder.join(STATEMENTS_FILE).exists() => return Ok(false),
        Location::Folder(folder) => Box::new(StatementsFile(folder.join(STATEMENTS_FILE))),
        Location::Postgres(url) => Box::new(StatementTables(url.clone())),
    };
    match Reader::open(location)?.check_indexes(|_| {}) {
        Ok(_) => Ok(false),
        Err(error) if error.is_transient() => Err(error),
        Err(_) => statements.recreate().map(|_| true),
    }
}
