//! Reading from Postgres.

use std::{collections::BTreeMap, error::Error};

use bankroll_ledger::{
    Account, AccountId, AccountName, Amount, Asset, AssetId, Batch, GENESIS, Hold, HoldId, Seq, Time, merkle::Hash,
};
use tokio_postgres::{Row, types::FromSql};

use super::{
    numeric::{Integer, Numeric},
    row,
    session::Session,
};
use crate::{
    StoreError, StoredEvent,
    engine::{
        JournalHead, Source, Statement,
        runs::RunMeta,
        stored::{self, BadColumn, StoredRow},
    },
};

const ACCOUNTS: &str = "SELECT a.id, a.name, a.may_deposit, a.may_withdraw, a.may_transfer, a.debt, b.balance, b.held
                        FROM books.accounts a JOIN books.balances b ON b.id = a.id";
const HOLDS: &str = "SELECT id, account, remaining, expires, settler, state FROM books.holds";
const BATCHES: &str = "SELECT number, first, count, at, root, head FROM books.batches";

impl Source for Session {
    fn begin_snapshot(&self) -> Result<(), StoreError> {
        Session::begin_snapshot(self)
    }

    fn end_snapshot(&self) -> Result<(), StoreError> {
        Session::end_snapshot(self)
    }

    fn head(&self) -> Result<JournalHead, StoreError> {
        let sql = format!("{BATCHES} ORDER BY number DESC LIMIT 1");
        let none = JournalHead { batch: 0, seq: Seq(0), at: Time(0), hash: GENESIS };
        let Some(row) = self.query(&sql, &[])?.pop() else { return Ok(none) };
        let (batch, hash) = stored::batch(&row, GENESIS)?;
        let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
        Ok(JournalHead { batch: batch.number, seq, at: batch.at, hash })
    }

    fn last_seq(&self) -> Result<Seq, StoreError> {
        Ok(Seq(single(self, "SELECT max(seq) FROM books.journal")?.unwrap_or(0)))
    }

    fn last_ids(&self) -> Result<(AssetId, AccountId), StoreError> {
        let assets = single(self, "SELECT max(id) FROM books.assets")?;
        let accounts = single(self, "SELECT max(id) FROM books.accounts")?;
        Ok((AssetId(assets.unwrap_or(0)), AccountId(accounts.unwrap_or(0))))
    }

    fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
        let sql = "SELECT id, chain, contract, decimals, symbol FROM books.assets ORDER BY id";
        self.query(sql, &[])?.iter().map(stored::asset).collect()
    }

    fn accounts(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| sql_number(id.0)).collect();
        let rows =
            if ids.is_empty() { Vec::new() } else { self.query(&format!("{ACCOUNTS} WHERE a.id = ANY($1)"), &[&ids])? };
        rows.iter().map(stored::account).collect()
    }

    fn accounts_named(&self, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        self.query(&format!("{ACCOUNTS} WHERE a.name = ANY($1)"), &[&names])?.iter().map(stored::account).collect()
    }

    fn accounts_after(&self, after: AccountId, most: usize) -> Result<Vec<Account>, StoreError> {
        let sql = format!("{ACCOUNTS} WHERE a.id > $1 ORDER BY a.id LIMIT $2");
        self.query(&sql, &[&sql_number(after.0), &limit(most)])?.iter().map(stored::account).collect()
    }

    fn holds(&self, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<i64> = ids.iter().map(|id| sql_number(id.0)).collect();
        self.query(&format!("{HOLDS} WHERE id = ANY($1)"), &[&ids])?.iter().map(stored::hold).collect()
    }

    fn due_holds(&self, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
        let sql =
            format!("{HOLDS} WHERE state = 0 AND expires IS NOT NULL AND expires <= $1 ORDER BY expires, id LIMIT $2");
        self.query(&sql, &[&sql_number(now.0), &limit(most)])?.iter().map(stored::hold).collect()
    }

    fn next_expiry(&self) -> Result<Option<Time>, StoreError> {
        let sql = "SELECT min(expires) FROM books.holds WHERE state = 0 AND expires IS NOT NULL";
        Ok(single(self, sql)?.map(Time))
    }

    fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError> {
        let sql = format!("{HOLDS} WHERE account = $1 AND state = 0 ORDER BY id");
        self.query(&sql, &[&sql_number(account.0)])?.iter().map(stored::hold).collect()
    }

    fn all_open_holds(&self) -> Result<Vec<Hold>, StoreError> {
        self.query(&format!("{HOLDS} WHERE state = 0 ORDER BY id"), &[])?.iter().map(stored::hold).collect()
    }

    fn holds_after(&self, after: HoldId, most: usize) -> Result<Vec<Hold>, StoreError> {
        let sql = format!("{HOLDS} WHERE id > $1 ORDER BY id LIMIT $2");
        self.query(&sql, &[&sql_number(after.0), &limit(most)])?.iter().map(stored::hold).collect()
    }

    fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        let rows = self.query("SELECT record FROM books.journal WHERE seq = $1", &[&sql_number(seq.0)])?;
        Ok(rows.first().map(|row| row.get(0)))
    }

    fn records(&self, places: &[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<i64> = places.iter().map(|seq| sql_number(seq.0)).collect();
        let sql = "SELECT seq, record FROM books.journal WHERE seq = ANY($1) ORDER BY seq";
        let rows = self.query(sql, &[&places])?;
        rows.iter().map(stored::record).collect()
    }

    fn records_from(&self, first: Seq, most: usize) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        let sql = "SELECT seq, record FROM books.journal WHERE seq >= $1 ORDER BY seq LIMIT $2";
        let rows = self.query(sql, &[&sql_number(first.0), &limit(most)])?;
        rows.iter().map(stored::record).collect()
    }

    fn batches_from(&self, first: u64, most: usize) -> Result<Vec<(Batch, Hash)>, StoreError> {
        let sql = "SELECT head FROM books.batches WHERE number = $1";
        let before = self.query(sql, &[&(sql_number(first) - 1)])?;
        let mut previous = before.first().map_or(Ok(GENESIS), |row| stored::hash(row, 0))?;
        let sql = format!("{BATCHES} WHERE number >= $1 ORDER BY number LIMIT $2");
        let rows = self.query(&sql, &[&sql_number(first), &limit(most)])?;
        let mut batches = Vec::with_capacity(rows.len());
        for row in &rows {
            let (batch, head) = stored::batch(row, previous)?;
            previous = head;
            batches.push((batch, head));
        }
        Ok(batches)
    }

    fn reversal_of(&self, original: Seq) -> Result<Option<Seq>, StoreError> {
        let sql = "SELECT reversal FROM books.reversals WHERE original = $1";
        let found = self.query(sql, &[&sql_number(original.0)])?;
        Ok(found.first().map(|row| stored::seq(row, 0)).transpose()?)
    }

    fn all_reversals(&self) -> Result<BTreeMap<Seq, Seq>, StoreError> {
        let rows = self.query("SELECT original, reversal FROM books.reversals", &[])?;
        rows.iter().map(stored::reversal).collect()
    }

    fn reversals_after(&self, after: Seq, most: usize) -> Result<Vec<(Seq, Seq)>, StoreError> {
        let sql = "SELECT original, reversal FROM books.reversals WHERE original > $1 ORDER BY original LIMIT $2";
        self.query(sql, &[&sql_number(after.0), &limit(most)])?.iter().map(stored::reversal).collect()
    }

    fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let sql =
            "SELECT seq, place, kind, resource, body FROM books.outbox WHERE seq > $1 ORDER BY seq, place LIMIT $2";
        let rows = self.query(sql, &[&sql_number(seq.0), &limit(most)])?;
        rows.iter().map(stored::event).collect()
    }

    fn runs(&self) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS}, summary FROM books.key_runs ORDER BY first_seq");
        let rows = self.query(&sql, &[])?;
        rows.iter().map(|row| Ok((stored::key_run(row)?, row.get(7)))).collect()
    }

    fn run_metas(&self) -> Result<Vec<RunMeta>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM books.key_runs ORDER BY first_seq");
        self.query(&sql, &[])?.iter().map(stored::key_run).collect()
    }

    fn first_name_from(&self, text: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT name FROM books.accounts WHERE name >= $1 ORDER BY name LIMIT 1";
        Ok(self.query(sql, &[&text])?.first().map(|row| row.get(0)))
    }

    fn places_with(&self, bytes: &[u8], first: Seq, last: Seq, most: usize) -> Result<Vec<Seq>, StoreError> {
        let sql = "SELECT seq FROM books.journal WHERE seq BETWEEN $1 AND $2 AND position($3::bytea in record) > 0
                       ORDER BY seq LIMIT $4";
        let stretch = (sql_number(first.0), sql_number(last.0));
        let rows = self.query(sql, &[&stretch.0, &stretch.1, &bytes, &limit(most)])?;
        rows.iter().map(|row| Ok(stored::seq(row, 0)?)).collect()
    }

    fn flow_rows(&self, query: &Statement) -> Result<Vec<bankroll_ledger::Row>, StoreError> {
        row::query(self, query)
    }

    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let rows = self.query("SELECT data FROM books.key_chunks WHERE id = $1", &[&sql_number(id)])?;
        Ok(rows.first().map(|row| row.get(0)))
    }
}
const RUN_COLUMNS: &str = "id, level, first_seq, last_seq, entries, first_chunk, chunks";

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
