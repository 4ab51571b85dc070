//! Migrations on Postgres: numbered, transactional, forward only, one process at a time.

use std::collections::BTreeSet;

use bankroll_ledger::{GENESIS, Time};
use sha2::{Digest, Sha256};
use tokio_postgres::error::SqlState;

use super::{session::Session, source::sql_number};
use crate::{BOOKS, Migrations, StoreError};

/// "Bank": the advisory lock that a migrating process holds.
const LOCK: i64 = 0x42_61_6e_6b;

/// Applies what is missing, all in one transaction. If nothing is missing it only reads: the users of roles do not own
/// the tables, and could not make them.
pub(super) fn migrate(session: &Session, sets: &[Migrations], now: Time) -> Result<(), StoreError> {
    if is_current(session, sets)? {
        return Ok(());
    }
    session.run("BEGIN")?;
    let migrated = try_migrate(session, sets, now);
    session.run(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    match migrated {
        Err(StoreError::Postgres(error)) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            Err(StoreError::NotOwner)
        }
        migrated => migrated,
    }
}

/// Whether every migration is applied as this program knows it, and there is a fencing row.
fn is_current(session: &Session, sets: &[Migrations]) -> Result<bool, StoreError> {
    if !has_books(session)? || session.query("SELECT 1 FROM books.ledger_head", &[])?.is_empty() {
        return Ok(false);
    }
    let rows = session.query("SELECT owner, number, hash FROM migrations ORDER BY owner, number", &[])?;
    let applied: BTreeSet<(String, i32, Vec<u8>)> =
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let known = sets.iter().flat_map(|set| {
        let hash = |step: &&str| Sha256::digest(step).to_vec();
        set.postgres.iter().zip(1_i32..).map(move |(step, number)| (set.owner.to_owned(), number, hash(step)))
    });
    Ok(applied == known.collect())
}

fn try_migrate(session: &Session, sets: &[Migrations], now: Time) -> Result<(), StoreError> {
    session.query("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    session.run(
        "CREATE TABLE IF NOT EXISTS migrations (
           owner text NOT NULL, number integer NOT NULL, hash bytea NOT NULL, at bigint NOT NULL,
           PRIMARY KEY (owner, number)
         )",
    )?;
    for row in session.query("SELECT owner, max(number) FROM migrations GROUP BY owner", &[])? {
        let (owner, number): (String, i32) = (row.get(0), row.get(1));
        let known = sets.iter().find(|set| set.owner == owner).map_or(0, |set| set.postgres.len());
        refuse_newer(owner, number, known)?;
    }
    for set in sets {
        for (step, number) in set.postgres.iter().zip(1_i32..) {
            apply(session, set.owner, number, step, now)?;
        }
    }
    let first = "INSERT INTO books.ledger_head (epoch, batch, seq, at, hash, holder, lease_until)
                 VALUES (0, 0, 0, 0, $1, '', clock_timestamp()) ON CONFLICT DO NOTHING";
    session.execute(first, &[&GENESIS.as_slice()])?;
    Ok(())
}

pub(super) fn has_books(session: &Session) -> Result<bool, StoreError> {
    Ok(session.one("SELECT to_regclass('books.ledger_head') IS NOT NULL", &[])?.get(0))
}

/// Refuses books that a newer program has migrated, and a database without books.
pub(super) fn check_books_known(session: &Session) -> Result<(), StoreError> {
    if !has_books(session)? {
        return Err(StoreError::NoBooks);
    }
    let row = session.one("SELECT coalesce(max(number), 0) FROM migrations WHERE owner = $1", &[&BOOKS.owner])?;
    refuse_newer(BOOKS.owner.into(), row.get(0), BOOKS.postgres.len())
}

fn refuse_newer(owner: String, number: i32, known: usize) -> Result<(), StoreError> {
    let number = u32::try_from(number).unwrap_or(0);
    if number as usize > known { Err(StoreError::NewerSchema { owner, number }) } else { Ok(()) }
}

fn apply(session: &Session, owner: &str, number: i32, step: &str, now: Time) -> Result<(), StoreError> {
    let hash = Sha256::digest(step).to_vec();
    let applied = session.query("SELECT hash FROM migrations WHERE owner = $1 AND number = $2", &[&owner, &number])?;
    match applied.first().map(|row| row.get::<_, Vec<u8>>(0)) {
        Some(applied) if applied == hash => Ok(()),
        Some(_) => {
            Err(StoreError::ChangedMigration { owner: owner.into(), number: u32::try_from(number).unwrap_or(0) })
        }
        None => {
            session.run(step)?;
            let sql = "INSERT INTO migrations (owner, number, hash, at) VALUES ($1, $2, $3, $4)";
            session.execute(sql, &[&owner, &number, &hash, &sql_number(now.0)])?;
            Ok(())
        }
    }
}
