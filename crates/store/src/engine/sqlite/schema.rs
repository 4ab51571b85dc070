//! The schema of the file, compared with an empty database that the same migrations have made.

use bankroll_ledger::Time;
use rusqlite::Connection;

use super::moved;
use crate::{
    Migrations, StoreError,
    engine::{
        migrations,
        schema::{AppliedMigration, Objects, SchemaReport, changed_migrations},
    },
};

pub(super) fn compare(connection: &Connection, sets: &[Migrations]) -> Result<SchemaReport, StoreError> {
    let (applied, unknown) = applied(connection, sets)?;
    let expected = fresh(&applied)?;
    if moved::read(connection)?.is_some() {
        moved::write_mark(&expected)?;
    }
    // Tables of owners whose migrations this program does not know cannot be judged.
    let is_foreign = |_: &str| !unknown.is_empty();
    let mut report = SchemaReport::compare(&objects(&expected)?, &objects(connection)?, is_foreign);
    let steps_of = |owner: &str| sets.iter().find(|set| set.owner == owner).map(|set| set.steps);
    report.differences.extend(changed_migrations(&hashes(connection)?, steps_of));
    if !unknown.is_empty() {
        report.not_compared =
            Some(format!("the tables of {}: this program does not know their migrations", unknown.join(", ")));
    }
    Ok(report)
}

/// The migrations that the file has, of those that this program knows; and the owners that it does not know.
pub(super) fn applied(
    connection: &Connection,
    sets: &[Migrations],
) -> Result<(Vec<Migrations>, Vec<String>), StoreError> {
    let mut statement = connection.prepare("SELECT owner, max(number) FROM migrations GROUP BY owner")?;
    let stored = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)? as usize)))?;
    let stored: Vec<(String, usize)> = stored.collect::<Result<_, _>>()?;
    let steps_of =
        |set: &Migrations| stored.iter().find(|(owner, _)| owner == set.owner).map_or(0, |(_, steps)| *steps);
    let applied = sets.iter().map(|set| Migrations { steps: &set.steps[..steps_of(set).min(set.steps.len())], ..*set });
    let is_known = |owner: &str, steps: usize| {
        owner == moved::OWNER || sets.iter().any(|set| set.owner == owner && set.steps.len() >= steps)
    };
    let unknown = stored.iter().filter(|(owner, steps)| !is_known(owner, *steps)).map(|(owner, _)| owner.clone());
    Ok((applied.collect(), unknown.collect()))
}

fn hashes(connection: &Connection) -> Result<Vec<AppliedMigration>, StoreError> {
    let mut statement = connection.prepare("SELECT owner, number, hash FROM migrations ORDER BY owner, number")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// An empty database in memory, with these migrations.
pub(super) fn fresh(applied: &[Migrations]) -> Result<Connection, StoreError> {
    let mut connection = Connection::open_in_memory()?;
    migrations::migrate(&mut connection, applied, Time(0))?;
    Ok(connection)
}

/// The text of an object is its description; an index that SQLite makes by itself has none.
fn objects(connection: &Connection) -> Result<Objects, StoreError> {
    // Statistics, which ANALYZE leaves, change no answer.
    let sql = "SELECT type || ' ' || name, tbl_name || ': ' || coalesce(sql, '') FROM sqlite_master
               WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'";
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}
