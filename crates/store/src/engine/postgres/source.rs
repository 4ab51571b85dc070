//! Reading from Postgres.

use std::{collections::BTreeMap, error::Error};

use bankroll_ledger::{
    Account, AccountId, AccountName, Amount, Asset, AssetId, Batch, GENESIS, Hold, HoldId, Seq, Time, merkle::Hash,
};
use tokio_postgres::{Row, types::FromSql};

use super::{
    finding,
    numeric::{Integer, Numeric},
    row, schema,
    session::{Session, Values},
};
use crate::{
    EventPosition, Migrations, SchemaReport, StoreError, StoredEvent,
    engine::{
        JournalHead, Source, Statement, confirm,
        runs::RunMeta,
        stored::{self, BadColumn, StoredRow},
    },
};

const ACCOUNTS: &str = "SELECT a.id, a.name, a.may_deposit, a.may_withdraw, a.may_transfer, a.debt, a.name_hash,
                               a.checksum, b.balance, b.held, b.checksum
                        FROM books.accounts a JOIN books.balances b ON b.id = a.id";
const HOLDS: &str =
    "SELECT id, account, remaining, expires, settler, state, checksum FROM books.holds WHERE id = ANY($1)";
const HOLDS_AFTER: &str = "SELECT id, account, remaining, expires, settler, state, checksum FROM books.holds
                           WHERE id > $1 ORDER BY id LIMIT $2";
const BATCHES: &str = "SELECT number, first, count, at, root, head FROM books.batches";
const RECORDS: &str = "SELECT seq, record, checksum FROM books.journal";
const RUN_COLUMNS: &str = "id, level, first_seq, last_seq, entries, first_chunk, chunks, checksum";

impl Session {
    /// The rows that a statement finds for these numbers.
    fn each<N: Copy>(&self, sql: &str, numbers: &[N], number: impl Fn(N) -> u64) -> Result<Vec<Row>, StoreError> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let numbers: Vec<i64> = numbers.iter().map(|one| sql_number(number(*one))).collect();
        self.query(sql, &[&numbers])
    }

    /// The numbers of the holds that an index finds.
    fn hold_ids(&self, sql: &str, values: Values<'_>) -> Result<Vec<HoldId>, StoreError> {
        self.query(sql, values)?.iter().map(|row| Ok(HoldId(stored::number(row, 0)?))).collect()
    }

    /// The last numbers that assets and accounts were given, kept apart from them; their newest rows must have them.
    fn last_numbers(&self) -> Result<(u64, u64), StoreError> {
        // One statement, so one snapshot.
        let sql = "SELECT last_asset, (SELECT coalesce(max(id), 0) FROM books.assets),
                          last_account, (SELECT coalesce(max(id), 0) FROM books.accounts) FROM books.ledger_head";
        let row = self.one(sql, &[])?;
        let number = |column| stored::number::<u64>(&row, column);
        for (table, column) in [("assets", 0), ("accounts", 2)] {
            let (known, found) = (number(column)?, number(column + 1)?);
            // A number above the known one is there, at least; the audit compares the row with the journal.
            if known > found {
                let what = format!("its last row is {found}, and row {known} was written");
                return Err(StoreError::row_damaged(table, what));
            }
        }
        Ok((number(1)?, number(3)?))
    }
}

impl Source for Session {
    fn begin_snapshot(&self) -> Result<(), StoreError> {
        Session::begin_snapshot(self)
    }

    fn end_snapshot(&self) -> Result<(), StoreError> {
        Session::end_snapshot(self)
    }

    fn head(&self) -> Result<JournalHead, StoreError> {
        let mut rows: Vec<(Batch, Hash)> = self
            .query(&format!("{BATCHES} ORDER BY number DESC LIMIT 2"), &[])?
            .iter()
            .rev()
            .map(stored::batch)
            .collect::<Result<_, _>>()?;
        confirm::linked(rows.last().map_or(1, |(batch, _)| batch.number.saturating_sub(1)), &mut rows)?;
        let none = JournalHead { batch: 0, seq: Seq(0), at: Time(0), hash: GENESIS };
        let Some((batch, hash)) = rows.pop() else { return Ok(none) };
        let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
        Ok(JournalHead { batch: batch.number, seq, at: batch.at, hash })
    }

    fn last_seq(&self) -> Result<Seq, StoreError> {
        Ok(Seq(single(self, "SELECT max(seq) FROM books.journal")?.unwrap_or(0)))
    }

    fn last_ids(&self) -> Result<(AssetId, AccountId), StoreError> {
        let (asset, account) = self.last_numbers()?;
        let asset = u32::try_from(asset);
        let asset = asset.map_err(|_| StoreError::row_damaged("assets", "its last number is too large"))?;
        Ok((AssetId(asset), AccountId(account)))
    }

    fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
        let sql = "SELECT id, chain, contract, decimals, symbol, checksum FROM books.assets ORDER BY id";
        let read = || self.query(sql, &[])?.iter().map(stored::asset).collect();
        confirm::page("assets", 1, usize::MAX, |(id, _)| id.0.into(), read, || Ok(self.last_numbers()?.0))
    }

    fn accounts(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        let sql = format!("{ACCOUNTS} WHERE a.id = ANY($1)");
        confirm::accounts(self, ids, |ids| self.each(&sql, ids, |id| id.0)?.iter().map(stored::account).collect())
    }

    fn accounts_named(&self, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
        confirm::named(self, names, |texts, hashes| {
            let ids = |rows: Vec<Row>| -> Result<Vec<AccountId>, StoreError> {
                rows.iter().map(|row| Ok(AccountId(stored::number(row, 0)?))).collect()
            };
            let by_name = self.query("SELECT id FROM books.accounts WHERE name = ANY($1)", &[&texts])?;
            let by_hash = self.query("SELECT id FROM books.accounts WHERE name_hash = ANY($1)", &[&hashes])?;
            Ok([ids(by_name)?, ids(by_hash)?])
        })
    }

    fn accounts_after(&self, after: AccountId, most: usize) -> Result<Vec<Account>, StoreError> {
        let sql = format!("{ACCOUNTS} WHERE a.id > $1 ORDER BY a.id LIMIT $2");
        let read = || self.query(&sql, &[&sql_number(after.0), &limit(most)])?.iter().map(stored::account).collect();
        let (first, last) = (after.0.saturating_add(1), || Ok(self.last_numbers()?.1));
        confirm::page("accounts", first, most, |account: &Account| account.id.0, read, last)
    }

    fn holds(&self, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
        confirm::holds(self, ids, |ids| self.each(HOLDS, ids, |id| id.0)?.iter().map(stored::hold).collect())
    }

    fn due_holds(&self, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
        let sql = "SELECT id FROM books.holds WHERE state = 0 AND expires IS NOT NULL AND expires <= $1
                   ORDER BY expires, id LIMIT $2";
        let ids = self.hold_ids(sql, &[&sql_number(now.0), &limit(most)])?;
        confirm::indexed_holds(self, "holds_due", &ids, |hold| hold.is_due(now))
    }

    fn next_expiry(&self) -> Result<Option<Time>, StoreError> {
        let sql = "SELECT id FROM books.holds WHERE state = 0 AND expires IS NOT NULL ORDER BY expires LIMIT 1";
        let ids = self.hold_ids(sql, &[])?;
        let next = confirm::indexed_holds(self, "holds_due", &ids, |hold| hold.expires.is_some())?;
        Ok(next.first().and_then(|hold| hold.expires))
    }

    fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError> {
        let sql = "SELECT id FROM books.holds WHERE account = $1 AND state = 0 ORDER BY id";
        let ids = self.hold_ids(sql, &[&sql_number(account.0)])?;
        confirm::indexed_holds(self, "holds_open", &ids, |hold| hold.account == account)
    }

    fn all_open_holds(&self) -> Result<Vec<Hold>, StoreError> {
        let ids = self.hold_ids("SELECT id FROM books.holds WHERE state = 0 ORDER BY id", &[])?;
        confirm::indexed_holds(self, "holds_open", &ids, |_| true)
    }

    fn holds_after(&self, after: HoldId, most: usize) -> Result<Vec<Hold>, StoreError> {
        self.query(HOLDS_AFTER, &[&sql_number(after.0), &limit(most)])?.iter().map(stored::hold).collect()
    }

    fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.records(&[seq])?.pop().map(|(_, record)| record))
    }

    fn records(&self, places: &[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        let sql = format!("{RECORDS} WHERE seq = ANY($1) ORDER BY seq");
        confirm::records(self, places, |places| {
            self.each(&sql, places, |seq| seq.0)?.iter().map(stored::record).collect()
        })
    }

    fn records_from(&self, first: Seq, most: usize) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        let sql = format!("{RECORDS} WHERE seq >= $1 ORDER BY seq LIMIT $2");
        let read = || self.query(&sql, &[&sql_number(first.0), &limit(most)])?.iter().map(stored::record).collect();
        let last = || Ok(self.head()?.seq.0);
        confirm::page("journal", first.0, most, |(seq, _): &(Seq, Vec<u8>)| seq.0, read, last)
    }

    fn batches_from(&self, first: u64, most: usize) -> Result<Vec<(Batch, Hash)>, StoreError> {
        let sql = format!("{BATCHES} WHERE number >= $1 ORDER BY number LIMIT $2");
        confirm::chain(self, first, most, |first, most| {
            self.query(&sql, &[&sql_number(first), &limit(most)])?.iter().map(stored::batch).collect()
        })
    }

    fn reversal_of(&self, original: Seq) -> Result<Option<Seq>, StoreError> {
        confirm::reversal(original, || {
            let sql = "SELECT original, reversal, checksum FROM books.reversals WHERE original = $1";
            let of_table = self.query(sql, &[&sql_number(original.0)])?;
            let sql = "SELECT reversal FROM books.reversals WHERE original + 0 = $1";
            let of_index = self.query(sql, &[&sql_number(original.0)])?;
            let by_index = of_index.first().map(|row| stored::seq(row, 0)).transpose()?;
            Ok((of_table.first().map(stored::reversal).transpose()?, by_index))
        })
    }

    fn all_reversals(&self) -> Result<BTreeMap<Seq, Seq>, StoreError> {
        let rows = self.query("SELECT original, reversal, checksum FROM books.reversals", &[])?;
        rows.iter().map(stored::reversal).collect()
    }

    fn reversals_after(&self, after: Seq, most: usize) -> Result<Vec<(Seq, Seq)>, StoreError> {
        let sql = "SELECT original, reversal, checksum FROM books.reversals WHERE original > $1
                   ORDER BY original LIMIT $2";
        self.query(sql, &[&sql_number(after.0), &limit(most)])?.iter().map(stored::reversal).collect()
    }

    fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = "SELECT seq, place, kind, resource, body, checksum FROM books.outbox WHERE seq > $1
                   ORDER BY seq, place LIMIT $2";
        let rows = self.query(sql, &[&sql_number(seq.0), &limit(most)])?;
        rows.iter().map(stored::event).collect()
    }

    fn events_after_position(&self, after: EventPosition, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = "SELECT seq, place, kind, resource, body, checksum FROM books.outbox WHERE (seq, place) > ($1, $2)
                   ORDER BY seq, place LIMIT $3";
        let rows = self.query(sql, &[&sql_number(after.seq.0), &i32::from(after.place), &limit(most)])?;
        rows.iter().map(stored::event).collect()
    }

    fn newest_event(&self) -> Result<EventPosition, StoreError> {
        let rows = self.query("SELECT seq, place FROM books.outbox ORDER BY seq DESC, place DESC LIMIT 1", &[])?;
        Ok(rows.first().map(stored::position).transpose()?.unwrap_or_default())
    }

    fn events_about(&self, resource: &str, until: EventPosition) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM books.outbox WHERE resource = $1 AND (seq, place) <= ($2, $3)";
        let row = self.one(sql, &[&resource, &sql_number(until.seq.0), &i32::from(until.place)])?;
        Ok(stored::number(&row, 0)?)
    }

    fn runs(&self) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS}, summary FROM books.key_runs ORDER BY first_seq");
        let rows = self.query(&sql, &[]).map_err(of_key_index)?;
        rows.iter().map(|row| Ok((stored::key_run(row)?, stored::key_bytes(row, 8)?))).collect()
    }

    fn run_metas(&self) -> Result<Vec<RunMeta>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM books.key_runs ORDER BY first_seq");
        self.query(&sql, &[]).map_err(of_key_index)?.iter().map(stored::key_run).collect()
    }

    fn first_name_from(&self, text: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT id, name FROM books.accounts WHERE name >= $1 ORDER BY name LIMIT 1";
        let rows = self.query(sql, &[&text])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let (id, name) = (AccountId(stored::number(row, 0)?), row.text(1)?.to_owned());
        confirm::indexed_name(self, id, name, text).map(Some)
    }

    fn flow_rows(&self, query: &Statement) -> Result<Vec<bankroll_ledger::Row>, StoreError> {
        row::query(self, query)
    }

    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT data FROM books.key_chunks WHERE id = $1";
        let rows = self.query(sql, &[&sql_number(id)]).map_err(of_key_index)?;
        rows.first().map(|row| stored::key_bytes(row, 0)).transpose()
    }

    fn finding(&self) -> Result<Option<String>, StoreError> {
        finding::read(self)
    }

    fn last_finding(&self) -> Result<Option<(u64, String)>, StoreError> {
        finding::read_last(self)
    }

    fn compare_schema(&self, sets: &[Migrations]) -> Result<SchemaReport, StoreError> {
        schema::compare(self, sets)
    }

    fn has_page_checksums(&self) -> Result<Option<bool>, StoreError> {
        let row = self.one("SELECT current_setting('data_checksums') = 'on'", &[])?;
        Ok(Some(row.get(0)))
    }
}

/// The key index is derived: a page of it that the server cannot read is a reason to rebuild it.
fn of_key_index(error: StoreError) -> StoreError {
    match error {
        StoreError::Damaged { what } => StoreError::KeyIndexDamaged { what },
        error => error,
    }
}

/// Postgres' integers are signed; places, ids and times stay far below 2^63.
pub(super) fn sql_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// The single number that a statement returns, if any.
fn single<T: TryFrom<i64>>(session: &Session, sql: &str) -> Result<Option<T>, StoreError> {
    Ok(stored::optional_number(&session.one(sql, &[])?, 0)?)
}

impl StoredRow for Row {
    fn name(&self, column: usize) -> String {
        self.columns().get(column).map_or_else(|| column.to_string(), |column| column.name().to_owned())
    }

    fn integer(&self, column: usize) -> Result<Option<i64>, BadColumn> {
        Ok(value::<Option<Integer>>(self, column)?.map(|integer| integer.0))
    }

    fn text(&self, column: usize) -> Result<&str, BadColumn> {
        value(self, column)
    }

    fn bytes(&self, column: usize) -> Result<&[u8], BadColumn> {
        value(self, column)
    }

    fn amount(&self, column: usize) -> Result<Amount, BadColumn> {
        Ok(Amount::new(value::<Numeric>(self, column)?.0))
    }
}

pub(super) fn value<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, BadColumn> {
    row.try_get(column).map_err(|error| {
        let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        row.bad(column, why)
    })
}
