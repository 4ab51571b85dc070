//! Pages: whether the file is what SQLite has written, and if not, which table is damaged and what repairs it.
//!
//! SQLite reports a malformed page without its table. So after such an error every table is checked on its own. That
//! takes a bounded time: an error must not wait for a check of a large file.

use std::{
    path::Path,
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, params};

use super::{load, read_only};
use crate::{BOOKS_FILE, DamageRemedy, StoreError, engine::DERIVED_TABLES};

/// How long the place of a damage is searched for after an error.
const LOCATE_WITHIN: Duration = Duration::from_secs(10);
const SOUND: &str = "ok";
const WRONG_COUNT: &str = "wrong # of entries in index ";

/// Checks every page. With a limit only the structure, as far as it comes in this time; `false` if it did not reach the
/// end. Without a limit also every index against its table.
pub(super) fn check(connection: &Connection, within: Option<Duration>) -> Result<bool, StoreError> {
    let pragma = if within.is_some() { "quick_check" } else { "integrity_check" };
    let checked = interruptible(connection, within, || messages(connection, &format!("PRAGMA {pragma}(1)")));
    match checked {
        Ok(Some(found)) if found == [SOUND] => Ok(true),
        Ok(Some(found)) => {
            let what = found.into_iter().next().unwrap_or_default();
            // The limit was for the search of a damage; its place is searched for as long as after any error.
            let damage = interruptible(connection, within.map(|_| LOCATE_WITHIN), || find(connection, pragma));
            Err(match damage {
                Ok(Some(found)) => found.unwrap_or_else(|| unused_pages(what)).into_error(None),
                _ => StoreError::Damaged { what },
            })
        }
        Ok(None) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The damage with its place, if it can be found in time.
pub(crate) fn locate_damage(folder: &Path, what: String) -> StoreError {
    let path = folder.join(BOOKS_FILE);
    let connection = match read_only::connect(&path) {
        Ok((connection, _lock)) => connection,
        // SQLite cannot even read the list of tables. A rebuild needs it, too.
        Err(StoreError::Damaged { what }) => {
            let place = "its first page, or what the file begins with".into();
            return StoreError::PagesDamaged { place, what, remedy: DamageRemedy::Restore };
        }
        Err(_) => return StoreError::Damaged { what },
    };
    match interruptible(&connection, Some(LOCATE_WITHIN), || find(&connection, "quick_check")) {
        Ok(Some(Some(damage))) => damage.into_error(Some(folder)),
        _ => StoreError::Damaged { what },
    }
}

/// What is wrong with the rows of a table itself, as opposed to its indexes.
pub(super) fn damage_of_rows(connection: &Connection, table: &str) -> rusqlite::Result<Option<String>> {
    let damage = damage_of(connection, table, "integrity_check")?;
    Ok(damage.filter(|damage| !damage.only_indexes).map(|damage| damage.what))
}

struct PageDamage {
    place: String,
    what: String,
    /// Whether the rows of the table are sound.
    only_indexes: bool,
    follows_from_journal: bool,
}

impl PageDamage {
    fn into_error(self, folder: Option<&Path>) -> StoreError {
        // Also an index on a table that is copied as it is: the copy gets a new one.
        let remedy = if self.follows_from_journal || self.only_indexes {
            DamageRemedy::Rebuild { folder: folder.map(Path::to_owned) }
        } else {
            DamageRemedy::Restore
        };
        StoreError::PagesDamaged { place: self.place, what: self.what, remedy }
    }
}

/// Pages that no table has: a free list that is damaged, or pages that are lost.
fn unused_pages(what: String) -> PageDamage {
    PageDamage { place: "pages without a table".into(), what, only_indexes: true, follows_from_journal: true }
}

/// The worst damage: one that needs a backup before one that can be rebuilt. Derived tables are checked first, since
/// the journal may take longer than there is time.
fn find(connection: &Connection, pragma: &str) -> rusqlite::Result<Option<PageDamage>> {
    let mut tables = load::table_names(connection).map_err(|_| rusqlite::Error::InvalidQuery)?;
    tables.sort_by_key(|table| !DERIVED_TABLES.contains(&table.as_str()));
    let mut worst: Option<PageDamage> = None;
    for table in tables {
        match damage_of(connection, &table, pragma) {
            Ok(Some(damage)) => {
                let is_worse = !damage.follows_from_journal && !damage.only_indexes;
                if is_worse || worst.is_none() {
                    worst = Some(damage);
                }
            }
            Ok(None) => {}
            // Out of time: what was found so far is true.
            Err(_) if worst.is_some() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(worst)
}

/// What is wrong with one table and its indexes.
fn damage_of(connection: &Connection, table: &str, pragma: &str) -> rusqlite::Result<Option<PageDamage>> {
    let found = messages(connection, &format!("PRAGMA {pragma}(\"{table}\")"))?;
    if found == [SOUND] {
        return Ok(None);
    }
    let indexes = indexes_of(connection, table)?;
    let is_malformed = |root: &u32| found.iter().any(|message| message.starts_with(&format!("Tree {root} ")));
    let of_index = |message: &String| {
        indexes.iter().find(|(name, root)| {
            // If its own pages are sound, an index with another number of entries may be right, and its table wrong.
            let is_count = message.starts_with(WRONG_COUNT) && !is_malformed(root);
            message.starts_with(&format!("Tree {root} ")) || message.ends_with(&format!(" index {name}")) && !is_count
        })
    };
    let of_rows = found.iter().find(|message| of_index(message).is_none());
    let (what, place) = match (of_rows, found.first()) {
        (Some(message), _) => (message.clone(), format!("table {table}")),
        (None, Some(message)) => {
            let name = of_index(message).map_or(table, |(name, _)| name.as_str());
            (message.clone(), format!("index {name} of table {table}"))
        }
        (None, None) => return Ok(None),
    };
    let follows_from_journal = DERIVED_TABLES.contains(&table);
    Ok(Some(PageDamage { place, what, only_indexes: of_rows.is_none(), follows_from_journal }))
}

/// The indexes of a table, with their first pages.
fn indexes_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<(String, u32)>> {
    let sql = "SELECT name, rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = ?1
               AND rootpage <> (SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?1)";
    let mut statement = connection.prepare(sql)?;
    statement.query_map(params![table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// One message a line: those about the structure come as one text with a title. After them SQLite goes on to the rows,
/// and may stop there with an error: what it has said so far stands.
fn messages(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(pragma)?;
    let (mut rows, mut found) = (statement.query([])?, Vec::new());
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let text: String = row.get(0)?;
                found.extend(text.lines().filter(|line| !line.starts_with("*** in database")).map(str::to_owned));
            }
            Ok(None) => return Ok(found),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                if found.is_empty() {
                    found.push(error.to_string());
                }
                return Ok(found);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Runs `ask` for at most this long; `None` if it was interrupted.
fn interruptible<T>(
    connection: &Connection,
    within: Option<Duration>,
    ask: impl FnOnce() -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    let interrupt = connection.get_interrupt_handle();
    let (done, is_done) = channel::<()>();
    let answered = thread::scope(|scope| {
        if let Some(within) = within {
            scope.spawn(move || {
                if is_done.recv_timeout(within) == Err(RecvTimeoutError::Timeout) {
                    interrupt.interrupt();
                }
            });
        }
        let answered = ask();
        drop(done);
        answered
    });
    match answered {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(None),
        answered => answered.map(Some),
    }
}
