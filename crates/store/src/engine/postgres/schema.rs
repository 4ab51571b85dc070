//! The schema of the database, compared with what the same migrations make in schemas of their own.
//!
//! Those are made in a transaction that is rolled back, so that no other session ever sees them. This takes the right
//! to create schemas, which the user who created the books has. Without it nothing can be compared, and the report says
//! so. Of the tables outside the schema `books` only those of the migrations are compared: others may be there.

use tokio_postgres::error::SqlState;

use super::session::Session;
use crate::{
    Migrations, StoreError,
    engine::schema::{AppliedMigration, Objects, SchemaReport, changed_migrations},
};

const OWN: &str = "books";

/// Every object of some tables, as kind and name, with its definition: `$1` is the schema of the books, `$2` the one of
/// the other tables, `$3` the names of those. A trigger may be there and be disabled, a table unlogged, a rule may
/// rewrite statements: each is part of the definition.
const OBJECTS: &str = "
WITH tables AS (
  SELECT c.oid, c.relname::text AS name, c.relkind, c.relpersistence, c.relrowsecurity, n.nspname::text AS schema
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND (n.nspname = $1 OR n.nspname = $2 AND c.relname::text = ANY ($3::text[]))
)
SELECT 'table ' || name, format('%s %s %s', relkind, relpersistence, relrowsecurity) FROM tables
UNION ALL
SELECT format('column %s of table %s', a.attname, t.name),
       format('%s %s %s %s %s', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, a.attcollation::regcollation,
              pg_get_expr(d.adbin, d.adrelid))
FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
UNION ALL
SELECT format('constraint %s of table %s', k.conname, t.name), format('%s %s', k.convalidated, pg_get_constraintdef(k.oid))
FROM tables t JOIN pg_constraint k ON k.conrelid = t.oid
UNION ALL
SELECT format('index %s of table %s', i.relname, t.name), format('%s %s', x.indisvalid, pg_get_indexdef(x.indexrelid))
FROM tables t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid
UNION ALL
SELECT format('trigger %s of table %s', g.tgname, t.name), format('%s %s', g.tgenabled, pg_get_triggerdef(g.oid))
FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
UNION ALL
SELECT format('function of trigger %s of table %s', g.tgname, t.name),
       format('%s %s %s %s', p.proname, p.prosecdef, p.proconfig, p.prosrc)
FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal JOIN pg_proc p ON p.oid = g.tgfoid
UNION ALL
SELECT format('rule %s of table %s', r.rulename, t.name), pg_get_ruledef(r.oid)
FROM tables t JOIN pg_rewrite r ON r.ev_class = t.oid";

/// Why the comparison ended.
enum Obstacle {
    /// This user may not create schemas, or nothing can be written here.
    NotAllowed(String),
    Failed(StoreError),
}

impl From<StoreError> for Obstacle {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Postgres(failed) if is_not_allowed(failed) => {
                Self::NotAllowed(failed.as_db_error().map_or_else(String::new, |error| error.message().to_owned()))
            }
            _ => Self::Failed(error),
        }
    }
}

impl From<tokio_postgres::Error> for Obstacle {
    fn from(error: tokio_postgres::Error) -> Self {
        StoreError::from(error).into()
    }
}

fn is_not_allowed(error: &tokio_postgres::Error) -> bool {
    [SqlState::INSUFFICIENT_PRIVILEGE, SqlState::READ_ONLY_SQL_TRANSACTION]
        .iter()
        .any(|code| error.code() == Some(code))
}

pub(super) fn compare(session: &Session, sets: &[Migrations]) -> Result<SchemaReport, StoreError> {
    session.run("BEGIN")?;
    let compared = try_compare(session, sets);
    // Whatever happened, nothing of it stays.
    session.run("ROLLBACK")?;
    match compared {
        Ok(report) => Ok(report),
        Err(Obstacle::NotAllowed(why)) => {
            let why = format!("the whole schema: it takes the right to create schemas ({why})");
            Ok(SchemaReport { not_compared: Some(why), ..SchemaReport::default() })
        }
        Err(Obstacle::Failed(error)) => Err(error),
    }
}

fn try_compare(session: &Session, sets: &[Migrations]) -> Result<SchemaReport, Obstacle> {
    let row = session.one("SELECT pg_backend_pid(), coalesce(current_schema(), 'public')::text", &[])?;
    let (process, flows): (i32, String) = (row.get(0), row.get(1));
    let (scratch_own, scratch_flows) = (format!("bankroll_own_{process}"), format!("bankroll_flows_{process}"));
    let (applied, unknown) = applied(session, sets)?;
    let make = format!(
        "CREATE SCHEMA {scratch_flows}; SET LOCAL search_path = {scratch_flows};
         CREATE TABLE migrations (
           owner text NOT NULL, number integer NOT NULL, hash bytea NOT NULL, at bigint NOT NULL,
           PRIMARY KEY (owner, number)
         )"
    );
    session.run(&make)?;
    for step in applied.iter().flat_map(|set| set.postgres) {
        let step = step.replace("SCHEMA books", &format!("SCHEMA {scratch_own}"));
        session.run(&step.replace("books.", &format!("{scratch_own}.")))?;
    }
    let sql = "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::text::regnamespace";
    let tables: Vec<String> = session.query(sql, &[&scratch_flows])?.iter().map(|row| row.get(0)).collect();
    let expected = objects(session, &scratch_own, &scratch_flows, &tables)?;
    // Names in definitions are written as they are seen from the search path.
    session.run(&format!("SET LOCAL search_path = \"{flows}\""))?;
    let found = objects(session, OWN, &flows, &tables)?;
    let mut report = SchemaReport::compare(&expected, &found, |_| false);
    let steps_of = |owner: &str| sets.iter().find(|set| set.owner == owner).map(|set| set.postgres);
    report.differences.extend(changed_migrations(&hashes(session)?, steps_of));
    if !unknown.is_empty() {
        report.not_compared =
            Some(format!("the tables of {}: this program does not know their migrations", unknown.join(", ")));
    }
    Ok(report)
}

/// The objects, with the names of the schemas replaced by what they stand for.
fn objects(session: &Session, own: &str, flows: &str, tables: &[String]) -> Result<Objects, StoreError> {
    let rows = session.query(OBJECTS, &[&own, &flows, &tables])?;
    let plain = |text: String| text.replace(&format!("{own}."), "OWN.").replace(&format!("{flows}."), "FLOWS.");
    Ok(rows.iter().map(|row| (row.get(0), plain(row.get(1)))).collect())
}

fn hashes(session: &Session) -> Result<Vec<AppliedMigration>, StoreError> {
    let rows = session.query("SELECT owner, number, hash FROM migrations ORDER BY owner, number", &[])?;
    Ok(rows.iter().map(|row| (row.get(0), u32::try_from(row.get::<_, i32>(1)).unwrap_or(0), row.get(2))).collect())
}

/// The migrations that the database has, of those that this program knows; and the owners that it does not know.
fn applied(session: &Session, sets: &[Migrations]) -> Result<(Vec<Migrations>, Vec<String>), StoreError> {
    let rows = session.query("SELECT owner, max(number) FROM migrations GROUP BY owner", &[])?;
    let stored: Vec<(String, usize)> =
        rows.iter().map(|row| (row.get(0), usize::try_from(row.get::<_, i32>(1)).unwrap_or(0))).collect();
    let steps_of =
        |set: &Migrations| stored.iter().find(|(owner, _)| owner == set.owner).map_or(0, |(_, steps)| *steps);
    let applied =
        sets.iter().map(|set| Migrations { postgres: &set.postgres[..steps_of(set).min(set.postgres.len())], ..*set });
    let is_known = |owner: &str, steps: usize| sets.iter().any(|set| set.owner == owner && set.postgres.len() >= steps);
    let unknown = stored.iter().filter(|(owner, steps)| !is_known(owner, *steps)).map(|(owner, _)| owner.clone());
    Ok((applied.collect(), unknown.collect()))
}
