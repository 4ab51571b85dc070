//! The database alone: the same rows without a ledger, and a ledger without batches.
//!
//! Balances change with every write, as in the books: SQLite does not write a page that stays the same, so constant
//! balances would cost nothing.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Context;
use rusqlite::{Connection, params};

/// The bytes of a stored transfer in the journal, and in the key index.
pub(super) const RECORD_BYTES: usize = 130;
const KEYS_PER_CHUNK: usize = 340;
const CHUNK_BYTES: usize = 8_168;
/// Each key is written by a flush, and about once more by a merge, in runs of this length.
const CHUNK_COPIES: usize = 2;
/// The first balance of each account.
const STACK: u128 = 1 << 100;

/// Rows of `batch` transfers per transaction: journal, batch, balances, key chunks; transfers per second.
pub(super) fn same_rows(folder: &Path, accounts: usize, batch: usize, time: Duration) -> anyhow::Result<f64> {
    let connection = open(folder, accounts)?;
    let mut random = fastrand::Rng::with_seed(1);
    let (mut seq, mut number, mut chunk_credit, mut chunk) = (0_i64, 0_i64, 0, 0_i64);
    let (record, chunk_data) = (vec![7_u8; RECORD_BYTES], vec![7_u8; CHUNK_BYTES]);
    let start = Instant::now();
    while start.elapsed() < time {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let mut insert =
            connection.prepare_cached("INSERT INTO journal (seq, record, checksum) VALUES (?1, ?2, ?1)")?;
        for _ in 0..batch {
            seq += 1;
            insert.execute(params![seq, record])?;
        }
        number += 1;
        let sql = "INSERT INTO batches (number, first, count, at, root, head) VALUES (?1, ?2, ?3, 0, ?4, ?4)";
        connection.prepare_cached(sql)?.execute(params![number, seq, batch as i64, [0_u8; 32]])?;
        let mut update =
            connection.prepare_cached("UPDATE balances SET balance = ?2, held = ?3, checksum = ?4 WHERE id = ?1")?;
        for id in touched(&mut random, accounts, batch) {
            update.execute(params![id, (STACK + number as u128).to_be_bytes(), [0_u8; 16], number as i32])?;
        }
        chunk_credit += batch * CHUNK_COPIES;
        while chunk_credit >= KEYS_PER_CHUNK {
            (chunk, chunk_credit) = (chunk + 1, chunk_credit - KEYS_PER_CHUNK);
            let sql = "INSERT INTO key_chunks (id, data) VALUES (?1, ?2)";
            connection.prepare_cached(sql)?.execute(params![chunk, chunk_data])?;
        }
        connection.execute_batch("COMMIT")?;
    }
    let per_s = seq as f64 / start.elapsed().as_secs_f64();
    let balance: [u8; 16] = connection.query_row("SELECT balance FROM balances WHERE id = 1", [], |row| row.get(0))?;
    anyhow::ensure!(u128::from_be_bytes(balance) == STACK + number as u128, "the raw database did not store balances");
    drop(connection);
    std::fs::remove_dir_all(folder)?;
    Ok(per_s)
}

/// The accounts that a batch touches, each once, in order: with one hot account, that one and the others' ends.
pub(super) fn touched(random: &mut fastrand::Rng, accounts: usize, batch: usize) -> Vec<i64> {
    let spread = super::ACCOUNTS;
    let ends = if accounts == 1 { batch } else { 2 * batch };
    let mut ids: Vec<i64> = (0..ends).map(|_| random.i64(1..=spread as i64)).chain([1]).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// One SQL transaction per transfer: read and write two balances, a journal row and a unique key.
pub(super) fn one_transaction_each(folder: &Path, accounts: usize, time: Duration) -> anyhow::Result<f64> {
    let connection = open(folder, accounts)?;
    connection.execute_batch("CREATE TABLE keys (key TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID")?;
    let mut random = fastrand::Rng::with_seed(2);
    let record = vec![7_u8; RECORD_BYTES];
    let (start, mut seq) = (Instant::now(), 0_i64);
    while start.elapsed() < time {
        seq += 1;
        let from = if accounts == 1 { 1 } else { random.i64(1..=accounts as i64) };
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let sql = "INSERT INTO keys (key, seq) VALUES (?1, ?2)";
        connection.prepare_cached(sql)?.execute(params![format!("{seq:016x}-{:016x}", random.u64(..)), seq])?;
        for (id, change) in [(from, -1), (random.i64(1..=super::ACCOUNTS as i64), 1)] {
            let mut select = connection.prepare_cached("SELECT balance, held FROM balances WHERE id = ?1")?;
            let (balance, held): ([u8; 16], [u8; 16]) = select.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let balance = u128::from_be_bytes(balance).checked_add_signed(change).context("the stack is spent")?;
            let mut update = connection
                .prepare_cached("UPDATE balances SET balance = ?2, held = ?3, checksum = ?4 WHERE id = ?1")?;
            update.execute(params![id, balance.to_be_bytes(), held, seq as i32])?;
        }
        connection
            .prepare_cached("INSERT INTO journal (seq, record, checksum) VALUES (?1, ?2, ?1)")?
            .execute(params![seq, record])?;
        connection.execute_batch("COMMIT")?;
    }
    let per_s = seq as f64 / start.elapsed().as_secs_f64();
    drop(connection);
    std::fs::remove_dir_all(folder)?;
    Ok(per_s)
}

/// An empty database with the books' own tables and settings.
fn open(folder: &Path, accounts: usize) -> anyhow::Result<Connection> {
    std::fs::create_dir_all(folder)?;
    let connection = Connection::open(folder.join("raw.db"))?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    anyhow::ensure!(mode == "wal", "the raw database is not in WAL mode");
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192")?;
    connection.set_prepared_statement_cache_capacity(64);
    for step in bankroll_store::BOOKS.steps {
        connection.execute_batch(step)?;
    }
    connection.execute_batch("BEGIN")?;
    let mut insert = connection.prepare("INSERT INTO balances (id, balance, held, checksum) VALUES (?1, ?2, ?3, 0)")?;
    for id in 1..=accounts.max(super::ACCOUNTS) {
        insert.execute(params![id as i64, STACK.to_be_bytes(), [0_u8; 16]])?;
    }
    drop(insert);
    connection.execute_batch("COMMIT")?;
    Ok(connection)
}
