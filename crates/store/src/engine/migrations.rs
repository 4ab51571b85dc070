//! Migrations: numbered, transactional, forward only.
//!
//! Every owner (the store itself, each flow) has its own set. An applied migration must keep its text, and a database
//! with an unknown migration is refused: it belongs to a newer program.

use std::path::Path;

use bankroll_ledger::Time;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use crate::StoreError;

/// The migrations of one owner, the first being number 1.
#[derive(Clone, Copy, Debug)]
pub struct Migrations {
    pub owner: &'static str,
    /// Their SQL on SQLite, in order.
    pub steps: &'static [&'static str],
    /// The same on Postgres.
    pub postgres: &'static [&'static str],
}

/// The store's own tables.
pub const BOOKS: Migrations = Migrations {
    owner: "books",
    steps: &[include_str!("../../migrations/0001_books.sql")],
    postgres: &[include_str!("../../migrations/0001_books_postgres.sql")],
};

/// The tables through which other roles hand facts over to the writer, in every database.
pub const INBOX: Migrations = Migrations {
    owner: "inbox",
    steps: &[include_str!("../../migrations/0001_inbox.sql")],
    postgres: &[include_str!("../../migrations/0001_inbox_postgres.sql")],
};

/// All migrations of a database: the store's own, and those of flows.
pub(crate) fn with_flows(flows: &[Migrations]) -> Vec<Migrations> {
    [BOOKS, INBOX].into_iter().chain(flows.iter().copied()).collect()
}

/// Applies what is missing, each step in one transaction with its row in `migrations`.
pub(crate) fn migrate(connection: &mut Connection, sets: &[Migrations], now: Time) -> Result<(), StoreError> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (
           owner TEXT NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL, at INTEGER NOT NULL,
           PRIMARY KEY (owner, number)
         ) WITHOUT ROWID",
    )?;
    check_known(connection, sets)?;
    for set in sets {
        for (step, number) in set.steps.iter().zip(1_u32..) {
            apply(connection, set.owner, number, step, now)?;
        }
    }
    Ok(())
}

/// Refuses a file without books, and books that a newer program has migrated; tables of flows do not matter for
/// reading the books.
pub(crate) fn check_books_known(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    match books_step(connection)? {
        None => Err(StoreError::NoBooksInFile { path: path.into() }),
        Some(number) if number as usize > BOOKS.steps.len() => {
            Err(StoreError::NewerSchema { owner: BOOKS.owner.into(), number })
        }
        Some(_) => Ok(()),
    }
}

/// The last applied migration of the books; `None` if the file has none.
pub(crate) fn books_step(connection: &Connection) -> Result<Option<u32>, StoreError> {
    let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'migrations'";
    if connection.query_row(sql, [], |row| row.get::<_, u32>(0))? == 0 {
        return Ok(None);
    }
    let sql = "SELECT max(number) FROM migrations WHERE owner = ?1";
    Ok(connection.query_row(sql, [BOOKS.owner], |row| row.get(0))?)
}

/// Refuses a database that a newer program has migrated.
pub(crate) fn check_known(connection: &Connection, sets: &[Migrations]) -> Result<(), StoreError> {
    let mut statement = connection.prepare("SELECT owner, max(number) FROM migrations GROUP BY owner")?;
    let applied = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?)))?;
    for found in applied {
        let (owner, number) = found?;
        let known = sets.iter().find(|set| set.owner == owner).map_or(0, |set| set.steps.len());
        if usize::try_from(number).is_ok_and(|number| number > known) {
            return Err(StoreError::NewerSchema { owner, number });
        }
    }
    Ok(())
}

fn apply(connection: &mut Connection, owner: &str, number: u32, step: &str, now: Time) -> Result<(), StoreError> {
    let hash: [u8; 32] = Sha256::digest(step).into();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let applied: Option<Vec<u8>> = transaction
        .query_row("SELECT hash FROM migrations WHERE owner = ?1 AND number = ?2", params![owner, number], |row| {
            row.get(0)
        })
        .optional()?;
    match applied {
        Some(applied) if applied == hash => Ok(()),
        Some(_) => Err(StoreError::ChangedMigration { owner: owner.into(), number }),
        None => {
            transaction.execute_batch(step)?;
            let at = i64::try_from(now.0).unwrap_or(i64::MAX);
            transaction.execute(
                "INSERT INTO migrations (owner, number, hash, at) VALUES (?1, ?2, ?3, ?4)",
                params![owner, number, hash.as_slice(), at],
            )?;
            Ok(transaction.commit()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indexes, and checks of whole numbers and states; each engine has its own checks of amounts, hashes and the
    /// lease.
    fn rules(sql: &str) -> Vec<String> {
        let lines = sql.lines().map(|line| line.replace("books.", ""));
        let tables = ["ledger_head", "term_", "key_"];
        let mut rules = Vec::new();
        for line in lines {
            if line.starts_with("CREATE INDEX") && !tables.iter().any(|table| line.contains(table)) {
                rules.push(line);
            } else if let Some((column, check)) = line.split_once("CHECK (")
                && !["balance", "held", "remaining", "length(", "one)"].iter().any(|own| check.contains(own))
            {
                let column = column.split_whitespace().next().unwrap_or_default().to_owned();
                let check = check.split(" --").next().unwrap_or(check);
                rules.push(format!("{column}: {}", check.trim_end_matches(',')));
            }
        }
        rules
    }

    #[test]
    fn both_engines_have_the_same_indexes_and_checks() {
        for set in [BOOKS, INBOX] {
            let (sqlite, postgres) = (rules(&set.steps.concat()), rules(&set.postgres.concat()));
            assert!(sqlite.len() > 10, "{}", set.owner);
            assert_eq!(sqlite, postgres, "{}", set.owner);
        }
    }
}
