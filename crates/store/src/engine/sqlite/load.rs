//! Reading back what the writer needs.

use std::collections::BTreeMap;

use bankroll_ledger::{
    Account, AccountId, AccountName, Amount, Asset, AssetId, Batch, GENESIS, Hold, HoldId, Seq, Time, merkle::Hash,
};
use rusqlite::{
    Connection, OptionalExtension, Params, Row, Statement,
    types::{FromSqlError, ValueRef},
};

use crate::{
    StoreError, StoredEvent,
    engine::{
        Head,
        runs::RunMeta,
        stored::{self, BadColumn, StoredRow},
    },
};

impl StoredRow for Row<'_> {
    fn name(&self, column: usize) -> String {
        self.as_ref().column_name(column).map_or_else(|_| column.to_string(), str::to_owned)
    }

    fn integer(&self, column: usize) -> Result<Option<i64>, BadColumn> {
        value(self, column, ValueRef::as_i64_or_null)
    }

    fn text(&self, column: usize) -> Result<&str, BadColumn> {
        value(self, column, |value| value.as_str())
    }

    fn bytes(&self, column: usize) -> Result<&[u8], BadColumn> {
        value(self, column, |value| value.as_blob())
    }

    /// Sixteen bytes that sort.
    fn amount(&self, column: usize) -> Result<Amount, BadColumn> {
        let bytes = self.bytes(column)?;
        let sortable = bytes.try_into().map_err(|_| self.bad(column, format!("{} bytes", bytes.len())))?;
        Ok(Amount::from_sortable(sortable))
    }
}

fn value<'a, T>(
    row: &'a Row<'_>,
    column: usize,
    read: impl FnOnce(&ValueRef<'a>) -> Result<T, FromSqlError>,
) -> Result<T, BadColumn> {
    let value = row.get_ref(column).map_err(|error| row.bad(column, error))?;
    read(&value).map_err(|error| row.bad(column, error))
}

/// The row that a statement finds, decoded.
fn first<T>(
    statement: &mut Statement<'_>,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    statement.query(values)?.next()?.map(read).transpose()
}

/// All rows that a statement finds, decoded.
fn all<T>(
    statement: &mut Statement<'_>,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let (mut found, mut rows) = (Vec::new(), statement.query(values)?);
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

pub(super) fn head(connection: &Connection) -> Result<Head, StoreError> {
    let none = Head { batch: 0, seq: Seq(0), at: Time(0), hash: GENESIS };
    Ok(last_batch(connection)?.map_or(none, |(batch, hash)| {
        let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
        Head { batch: batch.number, seq, at: batch.at, hash }
    }))
}

/// The place of the last record, whatever the batches say.
pub(super) fn last_seq(connection: &Connection) -> Result<Seq, StoreError> {
    Ok(Seq(single(connection, "SELECT max(seq) FROM journal")?.unwrap_or(0)))
}

/// The one number that a statement answers with, if it is there.
fn single<T: TryFrom<i64>>(connection: &Connection, sql: &str) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    Ok(first(&mut statement, [], |row| Ok(stored::optional_number(row, 0)?))?.flatten())
}

fn last_batch(connection: &Connection) -> Result<Option<(Batch, Hash)>, StoreError> {
    let last = single(connection, "SELECT max(number) FROM batches")?;
    last.map_or(Ok(None), |number| Ok(batches_from(connection, number, 1)?.pop()))
}

pub(super) fn batches_from(
    connection: &Connection,
    number: u64,
    most: usize,
) -> Result<Vec<(Batch, Hash)>, StoreError> {
    let mut before = connection.prepare_cached("SELECT head FROM batches WHERE number = ?1")?;
    let before = first(&mut before, [sql_number(number) - 1], |row| Ok(stored::hash(row, 0)?))?;
    let mut previous = before.unwrap_or(GENESIS);
    let mut statement = connection.prepare_cached(
        "SELECT number, first, count, at, root, head FROM batches WHERE number >= ?1 ORDER BY number LIMIT ?2",
    )?;
    let mut rows = statement.query([sql_number(number), limit(most)])?;
    let mut batches = Vec::new();
    while let Some(row) = rows.next()? {
        let (batch, head) = stored::batch(row, previous)?;
        previous = head;
        batches.push((batch, head));
    }
    Ok(batches)
}

pub(super) fn last_ids(connection: &Connection) -> Result<(AssetId, AccountId), StoreError> {
    let assets = single(connection, "SELECT max(id) FROM assets")?;
    let accounts = single(connection, "SELECT max(id) FROM accounts")?;
    Ok((AssetId(assets.unwrap_or(0)), AccountId(accounts.unwrap_or(0))))
}

pub(super) fn assets(connection: &Connection) -> Result<Vec<(AssetId, Asset)>, StoreError> {
    let sql = "SELECT id, chain, contract, decimals, symbol FROM assets ORDER BY id";
    all(&mut connection.prepare(sql)?, [], |row| stored::asset(row))
}

/// The columns that [`stored::account`] reads, of `accounts a JOIN balances b`.
const ACCOUNTS: &str = "SELECT a.id, a.name, a.may_deposit, a.may_withdraw, a.may_transfer, a.debt, b.balance, b.held
                        FROM accounts a JOIN balances b ON b.id = a.id";

pub(super) fn accounts(connection: &Connection, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("{ACCOUNTS} WHERE a.id = ?1"))?;
    let found = ids.iter().map(|id| first(&mut statement, [sql_number(id.0)], |row| stored::account(row)));
    found.filter_map(Result::transpose).collect()
}

pub(super) fn accounts_after(
    connection: &Connection,
    after: AccountId,
    most: usize,
) -> Result<Vec<Account>, StoreError> {
    let sql = format!("{ACCOUNTS} WHERE a.id > ?1 ORDER BY a.id LIMIT ?2");
    all(&mut *connection.prepare_cached(&sql)?, [sql_number(after.0), limit(most)], |row| stored::account(row))
}

pub(super) fn accounts_named(connection: &Connection, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("{ACCOUNTS} WHERE a.name = ?1"))?;
    let found = names.iter().map(|name| first(&mut statement, [name.to_string()], |row| stored::account(row)));
    found.filter_map(Result::transpose).collect()
}

const HOLDS: &str = "SELECT id, account, remaining, expires, settler, state FROM holds";

pub(super) fn holds(connection: &Connection, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("{HOLDS} WHERE id = ?1"))?;
    let found = ids.iter().map(|id| first(&mut statement, [sql_number(id.0)], |row| stored::hold(row)));
    found.filter_map(Result::transpose).collect()
}

pub(super) fn due_holds(connection: &Connection, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
    let sql =
        format!("{HOLDS} WHERE state = 0 AND expires IS NOT NULL AND expires <= ?1 ORDER BY expires, id LIMIT ?2");
    all(&mut *connection.prepare_cached(&sql)?, [sql_number(now.0), limit(most)], |row| stored::hold(row))
}

pub(super) fn open_holds(connection: &Connection, account: AccountId) -> Result<Vec<Hold>, StoreError> {
    let sql = format!("{HOLDS} WHERE account = ?1 AND state = 0 ORDER BY id");
    all(&mut *connection.prepare_cached(&sql)?, [sql_number(account.0)], |row| stored::hold(row))
}

pub(super) fn all_open_holds(connection: &Connection) -> Result<Vec<Hold>, StoreError> {
    let sql = format!("{HOLDS} WHERE state = 0 ORDER BY id");
    all(&mut *connection.prepare_cached(&sql)?, [], |row| stored::hold(row))
}

pub(super) fn events_after(connection: &Connection, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
    let sql = "SELECT seq, place, kind, resource, body FROM outbox WHERE seq > ?1 ORDER BY seq, place LIMIT ?2";
    all(&mut *connection.prepare_cached(sql)?, [sql_number(seq.0), limit(most)], |row| stored::event(row))
}

pub(super) fn next_expiry(connection: &Connection) -> Result<Option<Time>, StoreError> {
    let sql = "SELECT min(expires) AS expires FROM holds WHERE state = 0 AND expires IS NOT NULL";
    Ok(single(connection, sql)?.map(Time))
}

pub(super) fn record(connection: &Connection, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT record FROM journal WHERE seq = ?1")?;
    Ok(statement.query_row([sql_number(seq.0)], |row| row.get(0)).optional()?)
}

pub(super) fn records(connection: &Connection, places: &[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
    let found = places.iter().map(|seq| Ok(record(connection, *seq)?.map(|record| (*seq, record))));
    found.filter_map(Result::transpose).collect()
}

pub(super) fn records_from(
    connection: &Connection,
    first: Seq,
    most: usize,
) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
    let sql = "SELECT seq, record FROM journal WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
    all(&mut *connection.prepare_cached(sql)?, [sql_number(first.0), limit(most)], |row| stored::record(row))
}

pub(super) fn reversal_of(connection: &Connection, original: Seq) -> Result<Option<Seq>, StoreError> {
    let sql = "SELECT original, reversal FROM reversals WHERE original = ?1";
    let found = first(&mut *connection.prepare_cached(sql)?, [sql_number(original.0)], |row| stored::reversal(row))?;
    Ok(found.map(|(_, reversal)| reversal))
}

pub(super) fn all_reversals(connection: &Connection) -> Result<BTreeMap<Seq, Seq>, StoreError> {
    let sql = "SELECT original, reversal FROM reversals";
    Ok(all(&mut *connection.prepare_cached(sql)?, [], |row| stored::reversal(row))?.into_iter().collect())
}

const RUN_COLUMNS: &str = "id, level, first_seq, last_seq, entries, first_chunk, chunks";

pub(super) fn runs(connection: &Connection) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
    let sql = format!("SELECT {RUN_COLUMNS}, summary FROM key_runs ORDER BY first_seq");
    all(&mut connection.prepare(&sql)?, [], |row| Ok((stored::key_run(row)?, row.get(7)?)))
}

pub(super) fn run_metas(connection: &Connection) -> Result<Vec<RunMeta>, StoreError> {
    let sql = format!("SELECT {RUN_COLUMNS} FROM key_runs ORDER BY first_seq");
    all(&mut *connection.prepare_cached(&sql)?, [], |row| stored::key_run(row))
}

pub(super) fn first_name_from(connection: &Connection, text: &str) -> Result<Option<String>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT min(name) FROM accounts WHERE name >= ?1")?;
    Ok(statement.query_row([text], |row| row.get(0))?)
}

pub(super) fn places_with(
    connection: &Connection,
    bytes: &[u8],
    first: Seq,
    last: Seq,
    most: usize,
) -> Result<Vec<Seq>, StoreError> {
    let sql = "SELECT seq FROM journal WHERE seq BETWEEN ?1 AND ?2 AND instr(record, ?3) > 0 ORDER BY seq LIMIT ?4";
    let values = rusqlite::params![sql_number(first.0), sql_number(last.0), bytes, limit(most)];
    all(&mut *connection.prepare_cached(sql)?, values, |row| Ok(stored::seq(row, 0)?))
}

pub(super) fn chunk(connection: &Connection, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT data FROM key_chunks WHERE id = ?1")?;
    Ok(statement.query_row([sql_number(id)], |row| row.get(0)).optional()?)
}

pub(super) fn table_names(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

/// SQLite's integers are signed; places and ids stay far below 2^63.
pub(super) fn sql_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
