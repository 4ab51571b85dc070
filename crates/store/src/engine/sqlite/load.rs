//! Reading back what the writer needs.

use std::collections::BTreeMap;

use bankroll_ledger::{
    Account, AccountId, AccountName, Amount, Asset, AssetId, Batch, GENESIS, Hold, HoldId, HoldState, Policy, Role,
    Roles, Seq, Time, Unit, merkle::Hash,
};
use rusqlite::{Connection, OptionalExtension, Row, types::FromSql};

use crate::{
    StoreError, StoredEvent,
    engine::{Head, runs::RunMeta},
};

pub(super) fn head(connection: &Connection) -> Result<Head, StoreError> {
    let none = Head { batch: 0, seq: Seq(0), at: Time(0), hash: GENESIS };
    Ok(last_batch(connection)?.map_or(none, |(batch, hash)| {
        let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
        Head { batch: batch.number, seq, at: batch.at, hash }
    }))
}

/// The place of the last record, whatever the batches say.
pub(super) fn last_seq(connection: &Connection) -> Result<Seq, StoreError> {
    let last = connection.query_row("SELECT max(seq) FROM journal", [], |row| optional_number(row, 0))?;
    Ok(Seq(last.unwrap_or(0)))
}

fn last_batch(connection: &Connection) -> Result<Option<(Batch, Hash)>, StoreError> {
    let last: Option<u64> =
        connection.query_row("SELECT max(number) FROM batches", [], |row| optional_number(row, 0))?;
    last.map_or(Ok(None), |number| Ok(batches_from(connection, number, 1)?.pop()))
}

pub(super) fn batches_from(
    connection: &Connection,
    number: u64,
    most: usize,
) -> Result<Vec<(Batch, Hash)>, StoreError> {
    let mut previous: Hash = connection
        .prepare_cached("SELECT head FROM batches WHERE number = ?1")?
        .query_row([sql_number(number) - 1], |row| row.get(0))
        .optional()?
        .unwrap_or(GENESIS);
    let mut statement = connection.prepare_cached(
        "SELECT number, first, count, at, root, head FROM batches WHERE number >= ?1 ORDER BY number LIMIT ?2",
    )?;
    let mut rows = statement.query([sql_number(number), i64::try_from(most).unwrap_or(i64::MAX)])?;
    let mut batches = Vec::new();
    while let Some(row) = rows.next()? {
        let batch = Batch {
            number: number_at(row, 0)?,
            first: Seq(number_at(row, 1)?),
            count: row.get(2)?,
            at: Time(number_at(row, 3)?),
            root: row.get(4)?,
            previous,
        };
        let head: Hash = row.get(5)?;
        previous = head;
        batches.push((batch, head));
    }
    Ok(batches)
}

pub(super) fn last_ids(connection: &Connection) -> Result<(AssetId, AccountId), StoreError> {
    let assets: Option<u32> = connection.query_row("SELECT max(id) FROM assets", [], |row| row.get(0))?;
    let accounts = connection.query_row("SELECT max(id) FROM accounts", [], |row| optional_number(row, 0))?;
    Ok((AssetId(assets.unwrap_or(0)), AccountId(accounts.unwrap_or(0))))
}

pub(super) fn assets(connection: &Connection) -> Result<Vec<(AssetId, Asset)>, StoreError> {
    let mut statement = connection.prepare("SELECT id, chain, contract, decimals, symbol FROM assets ORDER BY id")?;
    let rows = statement.query_map([], |row| {
        let contract: String = row.get(2)?;
        let unit = if contract.is_empty() { Unit::Native } else { Unit::Token(parsed(row, 2)?) };
        let asset = Asset { chain: parsed(row, 1)?, unit, decimals: row.get(3)?, symbol: row.get(4)? };
        Ok((AssetId(row.get(0)?), asset))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The columns that [`read_account`] reads, of `accounts a JOIN balances b`.
pub(super) fn account_columns() -> &'static str {
    "a.id, a.name, a.may_deposit, a.may_withdraw, a.may_transfer, a.debt, b.balance, b.held
     FROM accounts a JOIN balances b ON b.id = a.id"
}

pub(super) fn read_account(row: &Row<'_>) -> rusqlite::Result<Account> {
    Ok(Account {
        id: AccountId(number_at(row, 0)?),
        name: parsed(row, 1)?,
        policy: Policy {
            deposit: Roles::from_bits(row.get(2)?),
            withdraw: Roles::from_bits(row.get(3)?),
            transfer: Roles::from_bits(row.get(4)?),
        },
        debt: optional_number(row, 5)?.map(AccountId),
        balance: Amount::from_sortable(row.get(6)?),
        held: Amount::from_sortable(row.get(7)?),
    })
}

pub(super) fn accounts(connection: &Connection, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {} WHERE a.id = ?1", account_columns()))?;
    let found = ids.iter().map(|id| statement.query_row([sql_number(id.0)], read_account).optional());
    found.filter_map(Result::transpose).collect::<Result<_, _>>().map_err(Into::into)
}

pub(super) fn accounts_after(
    connection: &Connection,
    after: AccountId,
    most: usize,
) -> Result<Vec<Account>, StoreError> {
    let sql = format!("SELECT {} WHERE a.id > ?1 ORDER BY a.id LIMIT ?2", account_columns());
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([sql_number(after.0), sql_number(most as u64)], read_account)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn accounts_named(connection: &Connection, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {} WHERE a.name = ?1", account_columns()))?;
    let found = names.iter().map(|name| statement.query_row([name.to_string()], read_account).optional());
    found.filter_map(Result::transpose).collect::<Result<_, _>>().map_err(Into::into)
}

const HOLD_COLUMNS: &str = "id, account, remaining, expires, settler, state FROM holds";

fn read_hold(row: &Row<'_>) -> rusqlite::Result<Hold> {
    let settler: u8 = row.get(4)?;
    let state: u8 = row.get(5)?;
    Ok(Hold {
        id: HoldId(number_at(row, 0)?),
        account: AccountId(number_at(row, 1)?),
        remaining: Amount::from_sortable(row.get(2)?),
        expires: optional_number(row, 3)?.map(Time),
        settler: Role::ALL.into_iter().find(|role| *role as u8 == settler).unwrap_or(Role::System),
        state: match state {
            0 => HoldState::Open,
            1 => HoldState::Settled,
            _ => HoldState::Expired,
        },
    })
}

pub(super) fn holds(connection: &Connection, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {HOLD_COLUMNS} WHERE id = ?1"))?;
    let found = ids.iter().map(|id| statement.query_row([sql_number(id.0)], read_hold).optional());
    found.filter_map(Result::transpose).collect::<Result<_, _>>().map_err(Into::into)
}

pub(super) fn due_holds(connection: &Connection, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {HOLD_COLUMNS} WHERE state = 0 AND expires IS NOT NULL AND expires <= ?1 ORDER BY expires, id LIMIT ?2"
    ))?;
    let rows = statement.query_map([sql_number(now.0), i64::try_from(most).unwrap_or(i64::MAX)], read_hold)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn open_holds(connection: &Connection, account: AccountId) -> Result<Vec<Hold>, StoreError> {
    let sql = format!("SELECT {HOLD_COLUMNS} WHERE account = ?1 AND state = 0 ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([sql_number(account.0)], read_hold)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn all_open_holds(connection: &Connection) -> Result<Vec<Hold>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {HOLD_COLUMNS} WHERE state = 0 ORDER BY id"))?;
    let rows = statement.query_map([], read_hold)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn events_after(connection: &Connection, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
    let sql = "SELECT seq, place, kind, resource, body FROM outbox WHERE seq > ?1 ORDER BY seq, place LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([sql_number(seq.0), i64::try_from(most).unwrap_or(i64::MAX)], |row| {
        let seq = Seq(number_at(row, 0)?);
        Ok(StoredEvent { seq, place: row.get(1)?, kind: row.get(2)?, resource: row.get(3)?, body: row.get(4)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn next_expiry(connection: &Connection) -> Result<Option<Time>, StoreError> {
    let sql = "SELECT min(expires) FROM holds WHERE state = 0 AND expires IS NOT NULL";
    Ok(connection.prepare_cached(sql)?.query_row([], |row| optional_number(row, 0))?.map(Time))
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
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([sql_number(first.0), i64::try_from(most).unwrap_or(i64::MAX)], |row| {
        Ok((Seq(number_at(row, 0)?), row.get(1)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn reversal_of(connection: &Connection, original: Seq) -> Result<Option<Seq>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT reversal FROM reversals WHERE original = ?1")?;
    Ok(statement.query_row([sql_number(original.0)], |row| number_at(row, 0)).optional()?.map(Seq))
}

pub(super) fn all_reversals(connection: &Connection) -> Result<BTreeMap<Seq, Seq>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT original, reversal FROM reversals")?;
    let rows = statement.query_map([], |row| Ok((Seq(number_at(row, 0)?), Seq(number_at(row, 1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

const RUN_COLUMNS: &str = "id, level, first_seq, last_seq, entries, first_chunk, chunks";

fn read_run(row: &Row<'_>) -> rusqlite::Result<RunMeta> {
    Ok(RunMeta {
        id: number_at(row, 0)?,
        level: row.get(1)?,
        first: Seq(number_at(row, 2)?),
        last: Seq(number_at(row, 3)?),
        entries: number_at(row, 4)?,
        first_chunk: number_at(row, 5)?,
        chunks: number_at(row, 6)?,
    })
}

pub(super) fn runs(connection: &Connection) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
    let sql = format!("SELECT {RUN_COLUMNS}, summary FROM key_runs ORDER BY first_seq");
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| Ok((read_run(row)?, row.get(7)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn run_metas(connection: &Connection) -> Result<Vec<RunMeta>, StoreError> {
    let sql = format!("SELECT {RUN_COLUMNS} FROM key_runs ORDER BY first_seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], read_run)?;
    Ok(rows.collect::<Result<_, _>>()?)
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
    let mut statement = connection.prepare_cached(sql)?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = statement.query_map(rusqlite::params![sql_number(first.0), sql_number(last.0), bytes, most], |row| {
        Ok(Seq(number_at(row, 0)?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
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

fn number_at(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn optional_number(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = FromSql::column_result(row.get_ref(column)?)?;
    let out_of_range = |number| rusqlite::Error::IntegralValueOutOfRange(column, number);
    number.map(|number| u64::try_from(number).map_err(|_| out_of_range(number))).transpose()
}

fn parsed<T: std::str::FromStr>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}
