//! Database users of roles: made with the declared rights, and compared with them.
//!
//! Guarantees: after [`write_users`] each user has the declared rights on the tables of this program and no others, all
//! of them changed in one transaction, so that a running node never misses one. The server never sees a password, only
//! what it needs to check one.
//!
//! It does not know how a deployment names its users or keeps their passwords.

use std::collections::BTreeSet;

use bankroll_ledger::Time;

use super::{Session, migrate};
use crate::{DatabaseUrl, Migrations, StoreError, TableGrants, engine::migrations::with_flows};

/// The user of one role.
#[derive(Clone)]
pub struct DatabaseUser {
    /// The role's name, as grants are declared for it.
    pub role: &'static str,
    /// The user's name, unique on the whole server.
    pub name: String,
    pub password: String,
}

impl std::fmt::Debug for DatabaseUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseUser").field("role", &self.role).field("name", &self.name).finish_non_exhaustive()
    }
}

/// A user's rights, compared with the declared ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserReport {
    pub user: String,
    /// What the user can do regardless of grants, as in `is a superuser`; other rights are not compared then.
    pub powers: Vec<String>,
    /// Declared rights that the user does not have, as in `INSERT on deposits`.
    pub missing: Vec<String>,
    /// Rights that the user has and no role of the node needs.
    pub surplus: Vec<String>,
}

impl UserReport {
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.powers.is_empty() && self.missing.is_empty() && self.surplus.is_empty()
    }
}

/// Creates the users that do not exist, sets their passwords, and gives each exactly the rights of its role. `owner` is
/// the login of the tables' owner, who may create users. Repeating it changes nothing but the stored form of passwords.
///
/// # Errors
/// [`StoreError::NoBooks`] if the tables do not exist yet; otherwise if the server refuses, and no user was changed.
pub fn write_users(
    owner: &DatabaseUrl,
    flows: &[Migrations],
    tables: &[TableGrants],
    users: &[DatabaseUser],
    now: Time,
) -> Result<(), StoreError> {
    let session = Session::connect(owner.read()?)?;
    if !migrate::has_books(&session)? {
        return Err(StoreError::NoBooks);
    }
    // A newer program may have more tables, which only their owner can make.
    migrate::migrate(&session, &with_flows(flows), now)?;
    session.run("BEGIN")?;
    let written = users.iter().try_for_each(|user| write_user(&session, tables, user));
    session.run(if written.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    written
}

fn write_user(session: &Session, tables: &[TableGrants], user: &DatabaseUser) -> Result<(), StoreError> {
    let name = quoted(&user.name);
    if session.query("SELECT 1 FROM pg_roles WHERE rolname = $1", &[&user.name])?.is_empty() {
        session.run(&format!("CREATE ROLE {name}"))?;
    }
    let verifier = postgres_protocol::password::scram_sha_256(user.password.as_bytes());
    session.run(&format!("ALTER ROLE {name} LOGIN PASSWORD '{verifier}'"))?;
    let row = session.one("SELECT current_database()::text, coalesce(current_schema(), 'public')::text", &[])?;
    let (database, schema) = (quoted(row.get(0)), quoted(row.get(1)));
    session.run(&format!(
        "GRANT CONNECT ON DATABASE {database} TO {name}; GRANT USAGE ON SCHEMA books, {schema} TO {name}"
    ))?;
    // A right that was declared once and is not any more goes, and with it the rights on its columns.
    for row in session.query(OWN_TABLES, &[])? {
        session.run(&format!("REVOKE ALL ON {} FROM {name}", row.get::<_, &str>(0)))?;
    }
    for table in tables {
        let exists = session.one("SELECT to_regclass($1) IS NOT NULL", &[&table.table])?;
        for grant in table.grants.iter().filter(|grant| grant.role == user.role && exists.get(0)) {
            for right in grant.rights {
                let (privilege, columns) = right.privileges();
                let columns = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
                session.run(&format!("GRANT {privilege}{columns} ON {} TO {name}", table.table))?;
            }
        }
    }
    Ok(())
}

/// The tables whose rights the connected user can change.
const OWN_TABLES: &str = "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('books', coalesce(current_schema(), 'public'))
       AND pg_has_role(c.relowner, 'USAGE')";

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Compares what the login of this URL may do with what these roles need together.
///
/// # Errors
/// If the database cannot be read.
pub fn compare_user(url: &DatabaseUrl, tables: &[TableGrants], roles: &[&str]) -> Result<UserReport, StoreError> {
    let session = Session::connect(url.read()?)?;
    let user = session.one("SELECT current_user::text", &[])?.get(0);
    let powers: Vec<String> = session.query(POWERS, &[])?.iter().map(|row| row.get(0)).collect();
    let mut report = UserReport { user, powers, ..UserReport::default() };
    if report.powers.is_empty() {
        let held: BTreeSet<String> = session.query(HELD, &[])?.iter().map(|row| row.get(0)).collect();
        let mut declared = BTreeSet::new();
        for table in tables {
            // Before the books exist, nothing can be granted.
            if session.one("SELECT to_regclass($1) IS NOT NULL", &[&table.table])?.get(0) {
                declared.extend(declared_for(table, roles));
            }
        }
        report.missing = declared.difference(&held).cloned().collect();
        report.surplus = held.difference(&declared).cloned().collect();
    }
    Ok(report)
}

/// The rights of some roles on a table, each column on its own, in the form of [`HELD`].
fn declared_for(table: &TableGrants, roles: &[&str]) -> BTreeSet<String> {
    let of_roles = table.grants.iter().filter(|grant| roles.contains(&grant.role));
    let rights: Vec<_> = of_roles.flat_map(|grant| grant.rights).map(|right| right.privileges()).collect();
    let is_whole = |privilege: &str| rights.iter().any(|(whole, columns)| *whole == privilege && columns.is_empty());
    let mut declared = BTreeSet::new();
    for (privilege, columns) in &rights {
        if is_whole(privilege) {
            declared.insert(format!("{privilege} on {}", table.table));
        } else {
            declared.extend(columns.iter().map(|column| format!("{privilege} ({column}) on {}", table.table)));
        }
    }
    declared
}

/// What a user can do without any grant on a table.
const POWERS: &str = "
SELECT power FROM (
  SELECT 1 AS place, 'is a superuser' AS power FROM pg_roles WHERE rolname = current_user AND rolsuper
  UNION ALL
  SELECT 2, 'may create users' FROM pg_roles WHERE rolname = current_user AND rolcreaterole AND NOT rolsuper
  UNION ALL
  SELECT 3, 'may replicate the server' FROM pg_roles WHERE rolname = current_user AND rolreplication AND NOT rolsuper
  UNION ALL
  SELECT 4, 'owns the tables' WHERE EXISTS (
    SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('books', coalesce(current_schema(), 'public'))
      AND pg_has_role(c.relowner, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper))
  UNION ALL
  SELECT 5, 'may create tables in schema ' || nspname FROM pg_namespace
  WHERE nspname IN ('books', coalesce(current_schema(), 'public')) AND has_schema_privilege(oid, 'CREATE')
    AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper)
) AS powers ORDER BY place, power";

/// Every right of the connected user on tables, given to it or to everyone: on a whole table, or else on each column.
const HELD: &str = "
WITH tables AS (
  SELECT c.oid, CASE n.nspname WHEN 'books' THEN 'books.' ELSE '' END || c.relname AS name
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND n.nspname IN ('books', coalesce(current_schema(), 'public'))
)
SELECT format('%s on %s', p.name, t.name)
FROM tables t,
     unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p (name)
WHERE has_table_privilege(t.oid, p.name)
UNION ALL
SELECT format('%s (%s) on %s', p.name, a.attname, t.name)
FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped,
     unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) AS p (name)
WHERE NOT has_table_privilege(t.oid, p.name) AND has_column_privilege(t.oid, a.attnum, p.name)";
