//! Making books again in a new file, from the journal of a damaged one.
//!
//! A file with malformed pages cannot be repaired in place: SQLite would write through the very pages that are damaged.
//! So everything goes into a new file, through the functions that the writer uses. Until the last step, the renaming,
//! the old file is the ledger:
//!
//! | step | if it is interrupted |
//! | --- | --- |
//! | `books.db.new` is filled, audited and synced | the old books, and a file that the next rebuild removes |
//! | the log of the old file is copied into it, and removed | the old books |
//! | the old file gets a second name, `books.db.damaged-<time>` | the old books |
//! | `books.db.new` is renamed to `books.db` | the old books, or the new ones |
//!
//! **Invariant**: no log is next to the file at the moment of the renaming. SQLite would replay the old one into the new
//! file.

use std::path::{Path, PathBuf};

use bankroll_ledger::{Record, Time};
use rusqlite::{Connection, params_from_iter, types::Value};

use super::{SqliteSource, commit, load, moved, pages, read_only, schema, settings};
use crate::{
    AuditProgress, Migrations, StoreError,
    engine::{
        Commit, CommitError, DERIVED_TABLES, DerivedTables, JOURNAL_TABLES, Records, Source, events_of, migrations,
    },
    files,
};

/// Batches copied in one transaction.
const PAGE: usize = 256;
/// Its rows are marks of the migrations, which the new file has by itself.
const MIGRATIONS: &str = "migrations";

/// The books of a file from which new ones are made. The caller holds the lock of the folder.
pub(crate) struct OldBooks {
    source: SqliteSource,
    path: PathBuf,
}

impl OldBooks {
    /// Opens them. Committed content of the log is part of what is read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = settings::open_for_copying(path)?;
        if let Some((moved, _)) = moved::read(&connection)? {
            return Err(StoreError::Moved { path: path.into(), moved });
        }
        Ok(Self { source: SqliteSource(connection, None), path: path.into() })
    }

    pub fn source(&self) -> &dyn Source {
        &self.source
    }

    /// Fills `books.db.new`; returns its path, and the tables of other programs, which are left out.
    pub fn copy(
        &self,
        sets: &[Migrations],
        derived: &DerivedTables,
        now: Time,
        mut on_progress: impl FnMut(AuditProgress),
    ) -> Result<(PathBuf, Vec<String>), StoreError> {
        let old = &self.source.0;
        migrations::check_known(old, sets)?;
        let (applied, _) = schema::applied(old, sets)?;
        let mut tables = load::table_names(&schema::fresh(&applied)?)?;
        let others = load::table_names(old)?.into_iter().filter(|name| !tables.contains(name));
        let left_out = others.filter(|name| !name.starts_with("sqlite_")).collect();
        tables.retain(|name| ![&DERIVED_TABLES[..], &JOURNAL_TABLES].concat().contains(&name.as_str()));
        let new = settings::create_unfinished(&self.path, &applied, now)?;
        copy_journal(self.source(), &new, &mut on_progress)?;
        let transaction = new.unchecked_transaction()?;
        commit::write_derived(&transaction, &derived.commit())?;
        check_migrations(old, &transaction)?;
        for table in tables.iter().filter(|name| *name != MIGRATIONS) {
            copy_table(old, &transaction, table)?;
        }
        transaction.commit()?;
        new.close().map_err(|(_, error)| error)?;
        Ok((settings::unfinished(&self.path), left_out))
    }

    /// Ends the log of the old file: what it has is in the file afterwards, and no log is next to it.
    pub fn end_log(self) -> Result<(), StoreError> {
        let connection = self.source.0;
        connection.execute_batch("PRAGMA query_only = OFF; PRAGMA synchronous = FULL")?;
        // Fails while any other connection is open: a reader that keeps the log's index would mix it with the new file.
        let mode = connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0));
        let is_ended = mode.is_ok_and(|mode| mode == "delete");
        connection.close().map_err(|(_, error)| error)?;
        if is_ended && !read_only::has_content(&self.path, "-wal")? {
            Ok(())
        } else {
            Err(StoreError::BeingRead { path: self.path })
        }
    }
}

/// Removes new books that will not be used.
pub(crate) fn give_up(path: &Path) {
    // If this fails, the next rebuild removes them.
    let _ = files::remove_unfinished(&settings::unfinished(path));
}

/// Gives the old file a second name, which says when.
pub(crate) fn keep_old(path: &Path, now: Time) -> Result<PathBuf, StoreError> {
    let seconds = i64::try_from(now.0 / 1_000_000).unwrap_or(i64::MAX);
    let sql = "SELECT strftime('%Y%m%dT%H%M%SZ', ?1, 'unixepoch')";
    let at: String = Connection::open_in_memory()?.query_row(sql, [seconds], |row| row.get(0))?;
    let mut kept = read_only::with_ending(path, &format!(".damaged-{at}"));
    let mut again = 2;
    while kept.exists() {
        kept = read_only::with_ending(path, &format!(".damaged-{at}-{again}"));
        again += 1;
    }
    files::keep_as(path, &kept).map_err(StoreError::io(&kept))?;
    Ok(kept)
}

/// The new books take the place of the old ones.
pub(crate) fn take_place(path: &Path) -> Result<(), StoreError> {
    files::rename(&settings::unfinished(path), path).map_err(StoreError::io(path))
}

/// Copies records and batches, and writes the announcements of the records. The journal was verified before; the audit
/// of the new file verifies the copy.
fn copy_journal(
    source: &dyn Source,
    new: &Connection,
    on_progress: &mut impl FnMut(AuditProgress),
) -> Result<(), StoreError> {
    let (mut next, rows_total) = (1, source.head()?.seq.0);
    loop {
        let batches = source.batches_from(next, PAGE)?;
        let Some((last, _)) = batches.last() else { return Ok(()) };
        next = last.number + 1;
        let rows = last.first.0 + u64::from(last.count) - 1;
        commit::begin(new)?;
        for (batch, _) in &batches {
            let (mut records, mut events) = (Records::default(), Vec::new());
            for (seq, bytes) in source.records_from(batch.first, batch.count as usize)? {
                events.extend(events_of(seq, Record::decode(&bytes).map_err(StoreError::unreadable(seq))?));
                records.bytes.extend(bytes);
                records.end_record();
            }
            commit::append(new, batch, &records).map_err(CommitError::into_error)?;
            let events = events.iter().map(|(seq, place, event)| (*seq, *place, event)).collect();
            commit::write_events(new, &Commit { events, ..Commit::default() })?;
        }
        commit::commit(new).map_err(CommitError::into_error)?;
        on_progress(AuditProgress { rows, rows_total });
    }
}

/// The marks must be those of the migrations that the new file has; their times are kept.
fn check_migrations(old: &Connection, new: &Connection) -> Result<(), StoreError> {
    let mut marks = old.prepare("SELECT owner, number, hash, at FROM migrations")?;
    let mut rows = marks.query([])?;
    while let Some(row) = rows.next()? {
        let mark: [Value; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        let sql = "UPDATE migrations SET at = ?4 WHERE owner = ?1 AND number = ?2 AND hash = ?3";
        if new.execute(sql, params_from_iter(&mark))? != 1 {
            return Err(StoreError::ChangedMigration { owner: row.get(0)?, number: row.get(1)? });
        }
    }
    Ok(())
}

/// Copies a table that does not follow from the journal, row by row. (None of them counts its rows apart, as
/// `accounts` does, so there is no sequence to copy.)
fn copy_table(old: &Connection, new: &Connection, table: &str) -> Result<(), StoreError> {
    let unreadable = |source: StoreError| StoreError::NotRebuildable {
        what: format!("table {table} is damaged, and does not follow from the journal"),
        source: Box::new(source),
    };
    match pages::damage_of_rows(old, table) {
        Ok(None) => try_copy_table(old, new, table).map_err(|error| match error {
            StoreError::Database(error) if commit::code(&error) == Some(rusqlite::ErrorCode::DiskFull) => {
                StoreError::Full
            }
            error => unreadable(error),
        }),
        Ok(Some(what)) => Err(unreadable(StoreError::Damaged { what })),
        Err(error) => Err(unreadable(error.into())),
    }
}

fn try_copy_table(old: &Connection, new: &Connection, table: &str) -> Result<(), StoreError> {
    // By the table alone: an index may be what is damaged.
    let mut select = old.prepare(&format!("SELECT * FROM \"{table}\" NOT INDEXED"))?;
    let names: Vec<String> = select.column_names().map(|name| format!("\"{name}\"")).collect();
    let places: Vec<String> = (1..=names.len()).map(|place| format!("?{place}")).collect();
    let mut insert =
        new.prepare(&format!("INSERT INTO \"{table}\" ({}) VALUES ({})", names.join(", "), places.join(", ")))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..names.len()).map(|column| row.get(column)).collect::<Result<_, _>>()?;
        insert.execute(params_from_iter(values))?;
    }
    Ok(())
}
