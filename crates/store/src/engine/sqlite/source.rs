//! Reading from SQLite, for the writer's connection and for read-only ones.

use std::{collections::BTreeMap, fs::File, time::Duration};

use bankroll_ledger::{
    Account, AccountId, AccountName, Asset, AssetId, Batch, GENESIS, Hold, HoldId, Row, Seq, Time, merkle::Hash,
};
use rusqlite::Connection;

use super::{
    load::{all, first, limit, single, sql_number},
    moved, pages, row, schema,
};
use crate::{
    EventPosition, Migrations, MovedBooks, SchemaReport, StoreError, StoredEvent,
    engine::{JournalHead, Source, Statement, confirm, runs::RunMeta, stored},
};

/// A connection to the file, as a source, and the lock that keeps writers out, if it needs one.
#[derive(Debug)]
pub(crate) struct SqliteSource(
    pub(super) Connection,
    #[expect(dead_code, reason = "held, not used")] pub(super) Option<File>,
);

/// The columns that [`stored::account`] reads, of `accounts a JOIN balances b`.
const ACCOUNTS: &str = "SELECT a.id, a.name, a.may_deposit, a.may_withdraw, a.may_transfer, a.debt, a.name_hash,
                               a.checksum, b.balance, b.held, b.checksum
                        FROM accounts a JOIN balances b ON b.id = a.id";

const HOLD: &str = "SELECT id, account, remaining, expires, settler, state, checksum FROM holds WHERE id = ?1";
const HOLDS_AFTER: &str = "SELECT id, account, remaining, expires, settler, state, checksum FROM holds
                           WHERE id > ?1 ORDER BY id LIMIT ?2";
const RECORDS: &str = "SELECT seq, record, checksum FROM journal";
const REVERSALS: &str = "SELECT original, reversal, checksum FROM reversals";
const RUN_COLUMNS: &str = "id, level, first_seq, last_seq, entries, first_chunk, chunks, checksum";

impl SqliteSource {
    /// The mark of a move, and the name of the move in the database.
    pub(crate) fn mark(&self) -> Result<Option<(MovedBooks, String)>, StoreError> {
        moved::read(&self.0)
    }

    /// The rows that a statement finds for each number.
    fn each<N: Copy, T>(
        &self,
        sql: &str,
        numbers: &[N],
        number: impl Fn(N) -> u64,
        read: impl Fn(&rusqlite::Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.0.prepare_cached(sql)?;
        let found = numbers.iter().map(|one| first(&mut statement, [sql_number(number(*one))], &read));
        found.filter_map(Result::transpose).collect()
    }

    /// The numbers of the holds that an index finds.
    fn hold_ids(&self, sql: &str, values: impl rusqlite::Params) -> Result<Vec<HoldId>, StoreError> {
        all(&mut *self.0.prepare_cached(sql)?, values, |row| Ok(HoldId(stored::number(row, 0)?)))
    }

    /// The last number that a table gave away, as SQLite keeps it apart; its newest row must have it.
    fn last_number(&self, table: &'static str) -> Result<u64, StoreError> {
        let sql = format!("SELECT seq FROM sqlite_sequence WHERE name = '{table}'");
        let last = || Ok::<u64, StoreError>(single(&self.0, &sql)?.unwrap_or(0));
        let newest = || Ok::<u64, StoreError>(single(&self.0, &format!("SELECT max(id) FROM {table}"))?.unwrap_or(0));
        // A writer may add a row between two reads.
        let (known, found) = (last()?, newest()?);
        if found == known || (found > known && found <= last()?) {
            Ok(found)
        } else {
            Err(StoreError::row_damaged(table, format!("its last row is {found}, and row {known} was written")))
        }
    }
}

impl Source for SqliteSource {
    fn begin_snapshot(&self) -> Result<(), StoreError> {
        Ok(self.0.execute_batch("BEGIN")?)
    }

    fn end_snapshot(&self) -> Result<(), StoreError> {
        Ok(self.0.execute_batch("COMMIT")?)
    }

    fn head(&self) -> Result<JournalHead, StoreError> {
        let none = JournalHead { batch: 0, seq: Seq(0), at: Time(0), hash: GENESIS };
        Ok(last_batch(self)?.map_or(none, |(batch, hash)| {
            let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
            JournalHead { batch: batch.number, seq, at: batch.at, hash }
        }))
    }

    fn last_seq(&self) -> Result<Seq, StoreError> {
        Ok(Seq(single(&self.0, "SELECT max(seq) FROM journal")?.unwrap_or(0)))
    }

    fn batches_from(&self, number: u64, most: usize) -> Result<Vec<(Batch, Hash)>, StoreError> {
        let sql =
            "SELECT number, first, count, at, root, head FROM batches WHERE number >= ?1 ORDER BY number LIMIT ?2";
        confirm::chain(self, number, most, |number, most| {
            all(&mut *self.0.prepare_cached(sql)?, [sql_number(number), limit(most)], |row| stored::batch(row))
        })
    }

    fn last_ids(&self) -> Result<(AssetId, AccountId), StoreError> {
        let assets = u32::try_from(self.last_number("assets")?);
        let assets = assets.map_err(|_| StoreError::row_damaged("assets", "its last number is too large"))?;
        Ok((AssetId(assets), AccountId(self.last_number("accounts")?)))
    }

    fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
        let sql = "SELECT id, chain, contract, decimals, symbol, checksum FROM assets ORDER BY id";
        let read = || all(&mut *self.0.prepare_cached(sql)?, [], |row| stored::asset(row));
        confirm::page("assets", 1, usize::MAX, |(id, _)| id.0.into(), read, || self.last_number("assets"))
    }

    fn accounts(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        let sql = format!("{ACCOUNTS} WHERE a.id = ?1");
        let read = |ids: &[AccountId]| self.each(&sql, ids, |id| id.0, |row| stored::account(row));
        confirm::accounts(self, ids, read)
    }

    fn accounts_after(&self, after: AccountId, most: usize) -> Result<Vec<Account>, StoreError> {
        let sql = format!("{ACCOUNTS} WHERE a.id > ?1 ORDER BY a.id LIMIT ?2");
        let values = [sql_number(after.0), limit(most)];
        let read = || all(&mut *self.0.prepare_cached(&sql)?, values, |row| stored::account(row));
        let first = after.0.saturating_add(1);
        confirm::page("accounts", first, most, |account| account.id.0, read, || self.last_number("accounts"))
    }

    fn accounts_named(&self, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
        confirm::named(self, names, |texts, hashes| {
            let id = |row: &rusqlite::Row<'_>| Ok(AccountId(stored::number(row, 0)?));
            let mut by_name = self.0.prepare_cached("SELECT id FROM accounts WHERE name = ?1")?;
            let sql = "SELECT id FROM accounts INDEXED BY accounts_name_hash WHERE name_hash = ?1";
            let mut by_hash = self.0.prepare_cached(sql)?;
            let mut found = [Vec::new(), Vec::new()];
            for (text, hash) in texts.iter().zip(hashes) {
                found[0].extend(all(&mut by_name, [text], id)?);
                found[1].extend(all(&mut by_hash, [hash], id)?);
            }
            Ok(found)
        })
    }

    fn holds(&self, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
        confirm::holds(self, ids, |ids| self.each(HOLD, ids, |id| id.0, |row| stored::hold(row)))
    }

    fn due_holds(&self, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
        let sql = "SELECT id FROM holds INDEXED BY holds_due
                   WHERE state = 0 AND expires IS NOT NULL AND expires <= ?1 ORDER BY expires, id LIMIT ?2";
        let ids = self.hold_ids(sql, [sql_number(now.0), limit(most)])?;
        confirm::indexed_holds(self, "holds_due", &ids, |hold| hold.is_due(now))
    }

    fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError> {
        let sql = "SELECT id FROM holds INDEXED BY holds_open WHERE account = ?1 AND state = 0 ORDER BY id";
        let ids = self.hold_ids(sql, [sql_number(account.0)])?;
        confirm::indexed_holds(self, "holds_open", &ids, |hold| hold.account == account)
    }

    fn all_open_holds(&self) -> Result<Vec<Hold>, StoreError> {
        let ids = self.hold_ids("SELECT id FROM holds INDEXED BY holds_open WHERE state = 0 ORDER BY id", [])?;
        confirm::indexed_holds(self, "holds_open", &ids, |_| true)
    }

    fn holds_after(&self, after: HoldId, most: usize) -> Result<Vec<Hold>, StoreError> {
        all(&mut *self.0.prepare_cached(HOLDS_AFTER)?, [sql_number(after.0), limit(most)], |row| stored::hold(row))
    }

    fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let sql =
            "SELECT seq, place, kind, resource, body, checksum FROM outbox WHERE seq > ?1 ORDER BY seq, place LIMIT ?2";
        all(&mut *self.0.prepare_cached(sql)?, [sql_number(seq.0), limit(most)], |row| stored::event(row))
    }

    fn events_after_position(&self, after: EventPosition, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = "SELECT seq, place, kind, resource, body, checksum FROM outbox WHERE (seq, place) > (?1, ?2)
                   ORDER BY seq, place LIMIT ?3";
        let values = [sql_number(after.seq.0), i64::from(after.place), limit(most)];
        all(&mut *self.0.prepare_cached(sql)?, values, |row| stored::event(row))
    }

    fn newest_event(&self) -> Result<EventPosition, StoreError> {
        let sql = "SELECT seq, place FROM outbox ORDER BY seq DESC, place DESC LIMIT 1";
        let found = first(&mut *self.0.prepare_cached(sql)?, [], |row| Ok(stored::position(row)?))?;
        Ok(found.unwrap_or_default())
    }

    fn events_about(&self, resource: &str, until: EventPosition) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM outbox INDEXED BY outbox_resource
                   WHERE resource = ?1 AND (seq, place) <= (?2, ?3)";
        let values = rusqlite::params![resource, sql_number(until.seq.0), until.place];
        let count = first(&mut *self.0.prepare_cached(sql)?, values, |row| Ok(stored::number(row, 0)?))?;
        Ok(count.unwrap_or(0))
    }

    fn next_expiry(&self) -> Result<Option<Time>, StoreError> {
        let sql = "SELECT id FROM holds INDEXED BY holds_due
                   WHERE state = 0 AND expires IS NOT NULL ORDER BY expires LIMIT 1";
        let ids = self.hold_ids(sql, [])?;
        let next = confirm::indexed_holds(self, "holds_due", &ids, |hold| hold.expires.is_some())?;
        Ok(next.first().and_then(|hold| hold.expires))
    }

    fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.records(&[seq])?.pop().map(|(_, record)| record))
    }

    fn records(&self, places: &[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        let sql = format!("{RECORDS} WHERE seq = ?1");
        confirm::records(self, places, |places| self.each(&sql, places, |seq| seq.0, |row| stored::record(row)))
    }

    fn records_from(&self, first: Seq, most: usize) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        let sql = format!("{RECORDS} WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
        let values = [sql_number(first.0), limit(most)];
        let read = || all(&mut *self.0.prepare_cached(&sql)?, values, |row| stored::record(row));
        confirm::page("journal", first.0, most, |(seq, _)| seq.0, read, || Ok(self.head()?.seq.0))
    }

    fn reversal_of(&self, original: Seq) -> Result<Option<Seq>, StoreError> {
        confirm::reversal(original, || {
            let of_table = format!("{REVERSALS} NOT INDEXED WHERE original = ?1");
            let of_table = self.each(&of_table, &[original], |seq| seq.0, |row| stored::reversal(row))?;
            let of_index = "SELECT reversal FROM reversals INDEXED BY reversals_confirmed WHERE original + 0 = ?1";
            let of_index = self.each(of_index, &[original], |seq| seq.0, |row| Ok(stored::seq(row, 0)?))?;
            Ok((of_table.first().copied(), of_index.first().copied()))
        })
    }

    fn all_reversals(&self) -> Result<BTreeMap<Seq, Seq>, StoreError> {
        Ok(all(&mut *self.0.prepare_cached(REVERSALS)?, [], |row| stored::reversal(row))?.into_iter().collect())
    }

    fn reversals_after(&self, after: Seq, most: usize) -> Result<Vec<(Seq, Seq)>, StoreError> {
        let sql = format!("{REVERSALS} WHERE original > ?1 ORDER BY original LIMIT ?2");
        all(&mut *self.0.prepare_cached(&sql)?, [sql_number(after.0), limit(most)], |row| stored::reversal(row))
    }

    fn runs(&self) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS}, summary FROM key_runs ORDER BY first_seq");
        let read =
            || all(&mut self.0.prepare(&sql)?, [], |row| Ok((stored::key_run(row)?, stored::key_bytes(row, 8)?)));
        read().map_err(of_key_index)
    }

    fn run_metas(&self) -> Result<Vec<RunMeta>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM key_runs ORDER BY first_seq");
        let read = || all(&mut *self.0.prepare_cached(&sql)?, [], |row| stored::key_run(row));
        read().map_err(of_key_index)
    }

    fn first_name_from(&self, text: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT id, name FROM accounts WHERE name >= ?1 ORDER BY name LIMIT 1";
        let mut statement = self.0.prepare_cached(sql)?;
        let found = first(&mut statement, [text], |row| {
            Ok((AccountId(stored::number(row, 0)?), stored::StoredRow::text(row, 1)?.to_owned()))
        })?;
        found.map_or(Ok(None), |(id, name)| confirm::indexed_name(self, id, name, text).map(Some))
    }

    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let read = || {
            let mut statement = self.0.prepare_cached("SELECT data FROM key_chunks WHERE id = ?1")?;
            first(&mut statement, [sql_number(id)], |row| stored::key_bytes(row, 0))
        };
        read().map_err(of_key_index)
    }

    fn flow_rows(&self, query: &Statement) -> Result<Vec<Row>, StoreError> {
        row::query(&self.0, query)
    }

    fn moved(&self) -> Result<Option<MovedBooks>, StoreError> {
        Ok(self.mark()?.map(|(moved, _)| moved))
    }

    fn compare_schema(&self, sets: &[Migrations]) -> Result<SchemaReport, StoreError> {
        schema::compare(&self.0, sets)
    }

    fn check_pages(&self, within: Option<Duration>) -> Result<bool, StoreError> {
        pages::check(&self.0, within)
    }
}

fn last_batch(source: &SqliteSource) -> Result<Option<(Batch, Hash)>, StoreError> {
    let Some(number) = single(&source.0, "SELECT max(number) FROM batches")? else { return Ok(None) };
    let last = source.batches_from(number, 1)?.pop();
    last.map(Some).ok_or_else(|| StoreError::row_damaged("batches", format!("row {number} is lost")))
}

/// The key index is derived: a page of it that SQLite cannot read is a reason to rebuild it.
pub(super) fn of_key_index(error: StoreError) -> StoreError {
    match error {
        StoreError::Damaged { what } => StoreError::KeyIndexDamaged { what },
        error => error,
    }
}
