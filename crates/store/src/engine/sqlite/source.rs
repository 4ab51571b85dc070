//! Reading from SQLite, for the writer's connection and for read-only ones.

use std::{
    collections::BTreeMap,
    fs::File,
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use bankroll_ledger::{
    Account, AccountId, AccountName, Asset, AssetId, Batch, GENESIS, Hold, HoldId, Row, Seq, Time, merkle::Hash,
};
use rusqlite::{Connection, ErrorCode, OptionalExtension};

use super::{
    load::{all, first, limit, single, sql_number},
    moved, row,
};
use crate::{
    MovedBooks, StoreError, StoredEvent,
    engine::{JournalHead, Source, Statement, runs::RunMeta, stored},
};

/// A connection to the file, as a source, and the lock that keeps writers out, if it needs one.
#[derive(Debug)]
pub(crate) struct SqliteSource(
    pub(super) Connection,
    #[expect(dead_code, reason = "held, not used")] pub(super) Option<File>,
);

/// The columns that [`stored::account`] reads, of `accounts a JOIN balances b`.
const ACCOUNTS: &str = "SELECT a.id, a.name, a.may_deposit, a.may_withdraw, a.may_transfer, a.debt, b.balance, b.held
                        FROM accounts a JOIN balances b ON b.id = a.id";

const HOLDS: &str = "SELECT id, account, remaining, expires, settler, state FROM holds";

const RUN_COLUMNS: &str = "id, level, first_seq, last_seq, entries, first_chunk, chunks";

impl SqliteSource {
    /// The mark of a move, and the name of the move in the database.
    pub(crate) fn mark(&self) -> Result<Option<(MovedBooks, String)>, StoreError> {
        moved::read(&self.0)
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
        let mut before = self.0.prepare_cached("SELECT head FROM batches WHERE number = ?1")?;
        let before = first(&mut before, [sql_number(number) - 1], |row| Ok(stored::hash(row, 0)?))?;
        let mut previous = before.unwrap_or(GENESIS);
        let mut statement = self.0.prepare_cached(
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

    fn last_ids(&self) -> Result<(AssetId, AccountId), StoreError> {
        let assets = single(&self.0, "SELECT max(id) FROM assets")?;
        let accounts = single(&self.0, "SELECT max(id) FROM accounts")?;
        Ok((AssetId(assets.unwrap_or(0)), AccountId(accounts.unwrap_or(0))))
    }

    fn assets(&self) -> Result<Vec<(AssetId, Asset)>, StoreError> {
        let sql = "SELECT id, chain, contract, decimals, symbol FROM assets ORDER BY id";
        all(&mut self.0.prepare(sql)?, [], |row| stored::asset(row))
    }

    fn accounts(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        let mut statement = self.0.prepare_cached(&format!("{ACCOUNTS} WHERE a.id = ?1"))?;
        let found = ids.iter().map(|id| first(&mut statement, [sql_number(id.0)], |row| stored::account(row)));
        found.filter_map(Result::transpose).collect()
    }

    fn accounts_after(&self, after: AccountId, most: usize) -> Result<Vec<Account>, StoreError> {
        let sql = format!("{ACCOUNTS} WHERE a.id > ?1 ORDER BY a.id LIMIT ?2");
        all(&mut *self.0.prepare_cached(&sql)?, [sql_number(after.0), limit(most)], |row| stored::account(row))
    }

    fn accounts_named(&self, names: &[AccountName]) -> Result<Vec<Account>, StoreError> {
        let mut statement = self.0.prepare_cached(&format!("{ACCOUNTS} WHERE a.name = ?1"))?;
        let found = names.iter().map(|name| first(&mut statement, [name.to_string()], |row| stored::account(row)));
        found.filter_map(Result::transpose).collect()
    }

    fn holds(&self, ids: &[HoldId]) -> Result<Vec<Hold>, StoreError> {
        let mut statement = self.0.prepare_cached(&format!("{HOLDS} WHERE id = ?1"))?;
        let found = ids.iter().map(|id| first(&mut statement, [sql_number(id.0)], |row| stored::hold(row)));
        found.filter_map(Result::transpose).collect()
    }

    fn due_holds(&self, now: Time, most: usize) -> Result<Vec<Hold>, StoreError> {
        let sql =
            format!("{HOLDS} WHERE state = 0 AND expires IS NOT NULL AND expires <= ?1 ORDER BY expires, id LIMIT ?2");
        all(&mut *self.0.prepare_cached(&sql)?, [sql_number(now.0), limit(most)], |row| stored::hold(row))
    }

    fn open_holds(&self, account: AccountId) -> Result<Vec<Hold>, StoreError> {
        let sql = format!("{HOLDS} WHERE account = ?1 AND state = 0 ORDER BY id");
        all(&mut *self.0.prepare_cached(&sql)?, [sql_number(account.0)], |row| stored::hold(row))
    }

    fn all_open_holds(&self) -> Result<Vec<Hold>, StoreError> {
        let sql = format!("{HOLDS} WHERE state = 0 ORDER BY id");
        all(&mut *self.0.prepare_cached(&sql)?, [], |row| stored::hold(row))
    }

    fn holds_after(&self, after: HoldId, most: usize) -> Result<Vec<Hold>, StoreError> {
        let sql = format!("{HOLDS} WHERE id > ?1 ORDER BY id LIMIT ?2");
        all(&mut *self.0.prepare_cached(&sql)?, [sql_number(after.0), limit(most)], |row| stored::hold(row))
    }

    fn events_after(&self, seq: Seq, most: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let sql = "SELECT seq, place, kind, resource, body FROM outbox WHERE seq > ?1 ORDER BY seq, place LIMIT ?2";
        all(&mut *self.0.prepare_cached(sql)?, [sql_number(seq.0), limit(most)], |row| stored::event(row))
    }

    fn next_expiry(&self) -> Result<Option<Time>, StoreError> {
        let sql = "SELECT min(expires) AS expires FROM holds WHERE state = 0 AND expires IS NOT NULL";
        Ok(single(&self.0, sql)?.map(Time))
    }

    fn record(&self, seq: Seq) -> Result<Option<Vec<u8>>, StoreError> {
        let mut statement = self.0.prepare_cached("SELECT record FROM journal WHERE seq = ?1")?;
        Ok(statement.query_row([sql_number(seq.0)], |row| row.get(0)).optional()?)
    }

    fn records(&self, places: &[Seq]) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        let found = places.iter().map(|seq| Ok(self.record(*seq)?.map(|record| (*seq, record))));
        found.filter_map(Result::transpose).collect()
    }

    fn records_from(&self, first: Seq, most: usize) -> Result<Vec<(Seq, Vec<u8>)>, StoreError> {
        let sql = "SELECT seq, record FROM journal WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
        all(&mut *self.0.prepare_cached(sql)?, [sql_number(first.0), limit(most)], |row| stored::record(row))
    }

    fn reversal_of(&self, original: Seq) -> Result<Option<Seq>, StoreError> {
        let sql = "SELECT original, reversal FROM reversals WHERE original = ?1";
        let found = first(&mut *self.0.prepare_cached(sql)?, [sql_number(original.0)], |row| stored::reversal(row))?;
        Ok(found.map(|(_, reversal)| reversal))
    }

    fn all_reversals(&self) -> Result<BTreeMap<Seq, Seq>, StoreError> {
        let sql = "SELECT original, reversal FROM reversals";
        Ok(all(&mut *self.0.prepare_cached(sql)?, [], |row| stored::reversal(row))?.into_iter().collect())
    }

    fn reversals_after(&self, after: Seq, most: usize) -> Result<Vec<(Seq, Seq)>, StoreError> {
        let sql = "SELECT original, reversal FROM reversals WHERE original > ?1 ORDER BY original LIMIT ?2";
        all(&mut *self.0.prepare_cached(sql)?, [sql_number(after.0), limit(most)], |row| stored::reversal(row))
    }

    fn runs(&self) -> Result<Vec<(RunMeta, Vec<u8>)>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS}, summary FROM key_runs ORDER BY first_seq");
        all(&mut self.0.prepare(&sql)?, [], |row| Ok((stored::key_run(row)?, row.get(7)?)))
    }

    fn run_metas(&self) -> Result<Vec<RunMeta>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS} FROM key_runs ORDER BY first_seq");
        all(&mut *self.0.prepare_cached(&sql)?, [], |row| stored::key_run(row))
    }

    fn first_name_from(&self, text: &str) -> Result<Option<String>, StoreError> {
        let mut statement = self.0.prepare_cached("SELECT min(name) FROM accounts WHERE name >= ?1")?;
        Ok(statement.query_row([text], |row| row.get(0))?)
    }

    fn places_with(&self, bytes: &[u8], first: Seq, last: Seq, most: usize) -> Result<Vec<Seq>, StoreError> {
        let sql = "SELECT seq FROM journal WHERE seq BETWEEN ?1 AND ?2 AND instr(record, ?3) > 0 ORDER BY seq LIMIT ?4";
        let values = rusqlite::params![sql_number(first.0), sql_number(last.0), bytes, limit(most)];
        all(&mut *self.0.prepare_cached(sql)?, values, |row| Ok(stored::seq(row, 0)?))
    }

    fn chunk(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let mut statement = self.0.prepare_cached("SELECT data FROM key_chunks WHERE id = ?1")?;
        Ok(statement.query_row([sql_number(id)], |row| row.get(0)).optional()?)
    }

    fn flow_rows(&self, query: &Statement) -> Result<Vec<Row>, StoreError> {
        row::query(&self.0, query)
    }

    fn moved(&self) -> Result<Option<MovedBooks>, StoreError> {
        Ok(self.mark()?.map(|(moved, _)| moved))
    }

    fn check_pages(&self, within: Option<Duration>) -> Result<bool, StoreError> {
        let interrupt = self.0.get_interrupt_handle();
        let (done, is_done) = channel::<()>();
        let checked = thread::scope(|scope| {
            if let Some(within) = within {
                scope.spawn(move || {
                    if is_done.recv_timeout(within) == Err(RecvTimeoutError::Timeout) {
                        interrupt.interrupt();
                    }
                });
            }
            let checked = self.0.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
            drop(done);
            checked
        });
        match checked {
            Ok(found) if found == "ok" => Ok(true),
            Ok(what) => Err(StoreError::Damaged { what }),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn last_batch(source: &SqliteSource) -> Result<Option<(Batch, Hash)>, StoreError> {
    let last = single(&source.0, "SELECT max(number) FROM batches")?;
    last.map_or(Ok(None), |number| Ok(source.batches_from(number, 1)?.pop()))
}
