//! One batch, one transaction.

use std::ops::Range;

use bankroll_ledger::{Batch, Seq, Unit};
use rusqlite::{Connection, ErrorCode, params};

use super::{Sqlite, load::sql_number, row};
use crate::{
    StoreError,
    engine::{BalanceRow, Commit, CommitError, Records, RowsOutcome, RunWrites, Statement, checksum, flow_sql},
};

pub(super) fn write(engine: &Sqlite, commit: &Commit<'_>) -> Result<Vec<RowsOutcome>, CommitError> {
    begin(&engine.source.0).map_err(|error| match error {
        StoreError::Locked => CommitError::NothingHappened(error),
        _ => CommitError::Fatal(error),
    })?;
    try_write(engine, commit).map_err(|failure| roll_back(&engine.source.0, failure))
}

pub(super) fn append(connection: &Connection, batch: &Batch, records: &Records) -> Result<(), CommitError> {
    let append = || {
        let sql = "INSERT INTO journal (seq, record, checksum) VALUES (?1, ?2, ?3)";
        let mut insert = connection.prepare_cached(sql)?;
        let rows = records.iter().zip(records.checksums(batch.first));
        for ((record, checksum), seq) in rows.zip(sql_number(batch.first.0)..) {
            insert.execute(params![seq, record, checksum])?;
        }
        write_batch(connection, batch)
    };
    append().map_err(|error| roll_back(connection, TransactionError::Database(error)))
}

pub(super) fn commit(connection: &Connection) -> Result<(), CommitError> {
    connection.execute_batch("COMMIT").map_err(|error| roll_back(connection, TransactionError::Database(error)))
}

/// One transaction from the first read of a batch to its commit: otherwise every read would lock the file again.
pub(super) fn begin(connection: &Connection) -> Result<(), StoreError> {
    if !connection.is_autocommit() {
        return Ok(());
    }
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map(drop).map_err(|error| match code(&error) {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked,
        _ => error.into(),
    })
}

/// What went wrong inside the transaction.
enum TransactionError {
    Database(rusqlite::Error),
    Fact(usize, rusqlite::Error),
    /// A fact about a table of the store's own, or about a row that is no longer as the decision saw it.
    RefusedFact(usize),
}

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

fn roll_back(connection: &Connection, failure: TransactionError) -> CommitError {
    // A failing COMMIT may have rolled back by itself. If the transaction cannot be ended, the error is fatal.
    let rolled_back = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
    let (error, fact) = match failure {
        TransactionError::RefusedFact(place) if rolled_back => return CommitError::FactRefused(place),
        TransactionError::RefusedFact(_) => {
            return CommitError::Fatal(StoreError::diverged(Seq(0), "a transaction could not be rolled back"));
        }
        TransactionError::Fact(place, error) => (error, Some(place)),
        TransactionError::Database(error) => (error, None),
    };
    match (code(&error), fact) {
        (Some(ErrorCode::ConstraintViolation), Some(place)) if rolled_back => CommitError::FactRefused(place),
        // Without space for its last frame a commit is not in the log: nothing happened.
        (Some(ErrorCode::DiskFull), _) if rolled_back => CommitError::NothingHappened(StoreError::Full),
        // A fact that names a missing table or column.
        (Some(ErrorCode::Unknown), Some(place)) if rolled_back => CommitError::FactRefused(place),
        _ => CommitError::Fatal(error.into()),
    }
}

pub(super) fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Some(failure.code),
        // SQL that SQLite rejects at a position: an unknown column, for example.
        rusqlite::Error::SqlInputError { error, .. } => Some(error.code),
        _ => None,
    }
}

fn try_write(engine: &Sqlite, commit: &Commit<'_>) -> Result<Vec<RowsOutcome>, TransactionError> {
    let connection = &engine.source.0;
    write_derived(connection, commit)?;
    for (place, fact, changed_before) in flow_sql::in_order(&commit.facts) {
        if engine.owns(&fact.row.table) {
            return Err(TransactionError::RefusedFact(place));
        }
        if !row::write_fact(connection, fact, changed_before).map_err(|error| TransactionError::Fact(place, error))? {
            return Err(TransactionError::RefusedFact(place));
        }
    }
    write_events(connection, commit)?;
    commit.runs.map_or(Ok(()), |runs| write_runs(connection, runs))?;
    let run = |statements: &&[Statement]| row::run(connection, &engine.in_flow_statement, statements);
    Ok(commit.rows.iter().map(run).collect::<rusqlite::Result<_>>()?)
}

/// Accounts, balances and holds: what can be rebuilt from the journal.
pub(super) fn write_derived(connection: &Connection, commit: &Commit<'_>) -> rusqlite::Result<()> {
    write_accounts(connection, commit)?;
    write_balances(connection, commit)?;
    write_holds(connection, commit)
}

fn write_batch(connection: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    let sql = "INSERT INTO batches (number, first, count, at, root, head) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(sql)?.execute(params![
        sql_number(batch.number),
        sql_number(batch.first.0),
        batch.count,
        sql_number(batch.at.0),
        batch.root,
        batch.head()
    ])?;
    Ok(())
}

fn write_accounts(connection: &Connection, commit: &Commit<'_>) -> rusqlite::Result<()> {
    for (id, asset) in commit.assets {
        let contract = match &asset.unit {
            Unit::Native => "",
            Unit::Token(contract) => contract.as_str(),
        };
        let sql =
            "INSERT INTO assets (id, chain, contract, decimals, symbol, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let (chain, checksum) = (asset.chain.as_str(), checksum::asset(*id, asset));
        let row = params![id.0, chain, contract, asset.decimals, asset.symbol, checksum];
        connection.prepare_cached(sql)?.execute(row)?;
    }
    if !commit.accounts.is_empty() {
        let mut account = connection.prepare_cached(
            "INSERT INTO accounts (id, name, may_deposit, may_withdraw, may_transfer, debt, name_hash, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        let sql = "INSERT INTO balances (id, balance, held, checksum) VALUES (?1, ?2, ?3, ?4)";
        let mut balance = connection.prepare_cached(sql)?;
        for new in commit.accounts {
            let (id, policy) = (sql_number(new.id.0), new.policy);
            let rights = (policy.deposit.bits(), policy.withdraw.bits(), policy.transfer.bits());
            let debt = new.debt.map(|debt| sql_number(debt.0));
            let name = new.name.to_string();
            let hash = checksum::name_hash(&name);
            let checksum = checksum::account(new, &name, hash);
            account.execute(params![id, name, rights.0, rights.1, rights.2, debt, hash, checksum])?;
            let checksum = checksum::balance(new.id, new.balance, new.held);
            balance.execute(params![id, new.balance.to_sortable(), new.held.to_sortable(), checksum])?;
        }
    }
    for account in commit.debt_links {
        let name = account.name.to_string();
        let checksum = checksum::account(account, &name, checksum::name_hash(&name));
        let debt = account.debt.map(|debt| sql_number(debt.0));
        let sql = "UPDATE accounts SET debt = ?2, checksum = ?3 WHERE id = ?1";
        let changed = connection.prepare_cached(sql)?.execute(params![sql_number(account.id.0), debt, checksum])?;
        expect_one(changed)?;
    }
    Ok(())
}

fn write_balances(connection: &Connection, commit: &Commit<'_>) -> rusqlite::Result<()> {
    let sql = "UPDATE balances SET balance = ?2, held = ?3, checksum = ?4 WHERE id = ?1";
    let mut update = connection.prepare_cached(sql)?;
    for BalanceRow { id, balance, held } in commit.balances {
        let checksum = checksum::balance(*id, *balance, *held);
        let row = params![sql_number(id.0), balance.to_sortable(), held.to_sortable(), checksum];
        expect_one(update.execute(row)?)?;
    }
    Ok(())
}

/// A row that was there when the batch was decided must still be found: otherwise money would vanish with it.
fn expect_one(changed: usize) -> rusqlite::Result<()> {
    if changed == 1 { Ok(()) } else { Err(rusqlite::Error::StatementChangedRows(changed)) }
}

fn write_holds(connection: &Connection, commit: &Commit<'_>) -> rusqlite::Result<()> {
    for hold in commit.holds {
        let mut put = connection.prepare_cached(
            "INSERT INTO holds (id, account, remaining, expires, settler, state, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE
             SET remaining = excluded.remaining, state = excluded.state, checksum = excluded.checksum",
        )?;
        put.execute(params![
            sql_number(hold.id.0),
            sql_number(hold.account.0),
            hold.remaining.to_sortable(),
            hold.expires.map(|expires| sql_number(expires.0)),
            hold.settler as u8,
            hold.state as u8,
            checksum::hold(hold)
        ])?;
    }
    for (original, reversal) in commit.reversals {
        let sql = "INSERT INTO reversals (original, reversal, checksum) VALUES (?1, ?2, ?3)";
        let checksum = checksum::reversal(*original, *reversal);
        connection.prepare_cached(sql)?.execute(params![sql_number(original.0), sql_number(reversal.0), checksum])?;
    }
    Ok(())
}

pub(super) fn write_events(connection: &Connection, commit: &Commit<'_>) -> rusqlite::Result<()> {
    for (seq, place, event) in &commit.events {
        let sql = "INSERT INTO outbox (seq, place, kind, resource, body, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let kind = event.kind.as_str();
        let checksum = checksum::event(*seq, *place, kind, &event.resource, &event.body);
        let row = params![sql_number(seq.0), place, kind, event.resource, event.body, checksum];
        connection.prepare_cached(sql)?.execute(row)?;
    }
    Ok(())
}

fn write_runs(connection: &Connection, runs: &RunWrites) -> rusqlite::Result<()> {
    for (id, data) in &runs.chunks {
        let sql = "INSERT INTO key_chunks (id, data) VALUES (?1, ?2)";
        connection.prepare_cached(sql)?.execute(params![sql_number(*id), data])?;
    }
    if runs.removes_all {
        connection.execute("DELETE FROM key_runs", [])?;
    }
    for id in &runs.removed {
        connection.prepare_cached("DELETE FROM key_runs WHERE id = ?1")?.execute([sql_number(*id)])?;
    }
    if let Some((meta, summary)) = &runs.added {
        let sql =
            "INSERT INTO key_runs (id, level, first_seq, last_seq, entries, first_chunk, chunks, checksum, summary)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        connection.prepare_cached(sql)?.execute(params![
            sql_number(meta.id),
            meta.level,
            sql_number(meta.first.0),
            sql_number(meta.last.0),
            sql_number(meta.entries),
            sql_number(meta.first_chunk),
            sql_number(meta.chunks),
            checksum::key_run(meta),
            summary
        ])?;
    }
    runs.dropped_chunks.iter().try_for_each(|range| drop_chunks(connection, "key_chunks", range))
}

pub(super) fn drop_chunks(connection: &Connection, table: &str, range: &Range<u64>) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached(&format!("DELETE FROM {table} WHERE id >= ?1 AND id < ?2"))?;
    delete.execute([sql_number(range.start), sql_number(range.end)])?;
    Ok(())
}

/// Deletes every chunk of a table outside the live ranges.
pub(super) fn sweep_chunks(connection: &Connection, table: &str, live: &[Range<u64>]) -> rusqlite::Result<()> {
    let mut live = live.to_vec();
    live.sort_by_key(|range| range.start);
    let mut from = 0;
    for range in live {
        if from < range.start {
            drop_chunks(connection, table, &(from..range.start))?;
        }
        from = from.max(range.end);
    }
    drop_chunks(connection, table, &(from..u64::MAX))
}
