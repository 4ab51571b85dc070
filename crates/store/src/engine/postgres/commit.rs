//! A batch with more than money, in a transaction of several statements: arrays instead of rows, pipelined where no
//! statement depends on the answer to another.

use std::ops::Range;

use bankroll_ledger::Batch;
use futures_util::future::try_join_all;
use tokio_postgres::error::SqlState;

use super::{
    Postgres,
    columns::{BALANCES, BoundStatement, Columns, DEBT_LINKS},
    lease::{head_values, is_transient},
    row,
    session::{Session, Values, milliseconds},
    single_statement::head_after,
    source::sql_number,
};
use crate::{
    StoreError,
    engine::{Commit, Records, RowsOutcome, RunWrites, checksum, flow_sql},
};

/// What went wrong inside the transaction.
pub(super) enum TransactionError {
    /// Another writer has taken over.
    Fenced,
    /// The fact of the request at this place breaks a constraint, or its row is no longer as the decision saw it.
    Fact(usize),
    /// The server's disk is full.
    Full,
    /// A row that was there when the batch was decided is not found.
    Lost,
    Database(tokio_postgres::Error),
}

impl TransactionError {
    /// For callers without a batch that could be given up.
    pub fn into_error(self) -> StoreError {
        match self {
            Self::Fenced => StoreError::Fenced,
            Self::Full => StoreError::Full,
            Self::Lost => StoreError::row_damaged("balances", "a row that the commit changes is lost"),
            Self::Fact(_) => unreachable!("there are no facts in it"),
            Self::Database(error) => error.into(),
        }
    }
}

impl From<tokio_postgres::Error> for TransactionError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code() {
            Some(code) if *code == SqlState::DISK_FULL => Self::Full,
            // Only the single statement compares how many balances it has changed in this way.
            Some(code) if *code == SqlState::INVALID_TEXT_REPRESENTATION => Self::Lost,
            // Only the fence divides, see `begin`.
            Some(code) if *code == SqlState::DIVISION_BY_ZERO => Self::Fenced,
            _ => Self::Database(error),
        }
    }
}

impl From<TransactionError> for StoreError {
    fn from(failure: TransactionError) -> Self {
        failure.into_error()
    }
}

/// Class 23: constraint violations.
pub(super) fn is_constraint(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| code.code().starts_with("23"))
}

/// Pipelines all statements and waits for the last; returns how many rows each changed.
fn send(session: &Session, statements: &[BoundStatement<'_>]) -> Result<Vec<u64>, tokio_postgres::Error> {
    let prepared = statements.iter().map(|ready| session.prepared(ready.sql)).collect::<Result<Vec<_>, _>>()?;
    let client = session.client();
    let all = statements.iter().zip(&prepared).map(|(ready, text)| client.execute(text, ready.values.as_slice()));
    session.wait(try_join_all(all))
}

pub(super) const CHUNKS: &str =
    "INSERT INTO books.key_chunks (id, data) SELECT * FROM unnest($1::bigint[], $2::bytea[])";
pub(super) const JOURNAL: &str = "INSERT INTO books.journal (seq, record, checksum)
     SELECT $1 + place - 1, record, checksum
     FROM unnest($2::bytea[], $3::bigint[]) WITH ORDINALITY AS v (record, checksum, place)";
const BATCH: &str = "INSERT INTO books.batches (number, first, count, at, root, head) VALUES ($1, $2, $3, $4, $5, $6)";
const HEAD: &str =
    "UPDATE books.ledger_head SET batch = $3, seq = $4, at = $5, hash = $6 WHERE epoch = $1 AND seq = $2";

pub(super) fn write(engine: &Postgres, commit: &Commit<'_>) -> Result<Vec<RowsOutcome>, TransactionError> {
    let session = &engine.session;
    begin(engine)?;
    write_derived(session, commit)?;
    for (place, fact, changed_before) in flow_sql::in_order(&commit.facts) {
        let written = row::write_fact(session, fact, changed_before);
        let failure =
            |error| if is_statement_error(session, &error) { TransactionError::Fact(place) } else { error.into() };
        if !written.map_err(failure)? {
            return Err(TransactionError::Fact(place));
        }
    }
    commit.runs.map_or(Ok(()), |runs| write_runs(session, runs))?;
    Ok(commit.rows.iter().map(|statements| row::run(session, statements)).collect::<Result<_, _>>()?)
}

/// Whether a flow's statement itself is wrong: a constraint, a missing table or column, a value that does not fit or
/// cannot be encoded. A missing privilege is never the statement's error, although it is in class 42: an operator may
/// grant it later, and a refusal is stored.
pub(super) fn is_statement_error(session: &Session, error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => false,
        Some(code) => ["22", "23", "42"].iter().any(|class| code.code().starts_with(class)),
        None => !session.is_lost() && !is_transient(error),
    }
}

/// Begins the transaction and locks the fencing row until it ends; divides by zero if another writer has taken over.
/// It is one text, so that nothing runs if BEGIN fails. It is waited for, because statements after a failed BEGIN
/// would commit one by one. The lock timeout limits how long a locked row of a flow can block the books: to the
/// length of the lease.
pub(super) fn begin(engine: &Postgres) -> Result<(), TransactionError> {
    let (epoch, seq, lease) = (engine.epoch, sql_number(engine.head.seq.0), engine.lease.as_secs_f64());
    let patience = milliseconds(engine.lease);
    Ok(engine.session.run(&format!(
        "BEGIN;
         WITH ours AS (
           UPDATE books.ledger_head SET lease_until = clock_timestamp() + make_interval(secs => {lease})
           WHERE epoch = {epoch} AND seq = {seq} RETURNING one
         ) SELECT 1 / count(*) FROM ours;
         SET LOCAL lock_timeout = {patience}"
    ))?)
}

/// Writes accounts, balances, holds and events into the transaction, pipelined. A balance or a debtor that is not found
/// is an error: otherwise money would vanish with its row.
pub(super) fn write_derived(session: &Session, commit: &Commit<'_>) -> Result<(), TransactionError> {
    let columns = Columns::of(commit);
    let all: Vec<BoundStatement<'_>> = columns.accounts().into_iter().chain(columns.money()).collect();
    let changed = send(session, &all)?;
    let found_all = |(statement, changed): (&BoundStatement<'_>, &u64)| match statement.sql {
        BALANCES => *changed == commit.balances.len() as u64,
        DEBT_LINKS => *changed == commit.debt_links.len() as u64,
        _ => true,
    };
    if all.iter().zip(&changed).all(found_all) { Ok(()) } else { Err(TransactionError::Lost) }
}

pub(super) fn append(engine: &mut Postgres, batch: &Batch, records: &Records) -> Result<(), TransactionError> {
    let after = head_after(batch);
    let (first, number, at) = (sql_number(batch.first.0), sql_number(batch.number), sql_number(batch.at.0));
    let count = i32::try_from(batch.count).unwrap_or(i32::MAX);
    let (all, checksums): (Vec<&[u8]>, Vec<i64>) = records.iter().zip(records.checksums(batch.first)).unzip();
    let (root, head) = (batch.root.as_slice(), after.hash.as_slice());
    let (epoch, before, values) = (engine.epoch, sql_number(engine.head.seq.0), head_values(&after));
    let changed = send(
        &engine.session,
        &[
            BoundStatement { sql: JOURNAL, values: vec![&first, &all, &checksums] },
            BoundStatement { sql: BATCH, values: vec![&number, &first, &count, &at, &root, &head] },
            BoundStatement { sql: HEAD, values: vec![&epoch, &before, &values.0, &values.1, &values.2, &values.3] },
        ],
    )?;
    if changed[2] != 1 {
        return Err(TransactionError::Fenced);
    }
    engine.next_head = after;
    Ok(())
}

fn write_runs(session: &Session, runs: &RunWrites) -> Result<(), tokio_postgres::Error> {
    if !runs.chunks.is_empty() {
        let ids: Vec<i64> = runs.chunks.iter().map(|(id, _)| sql_number(*id)).collect();
        let data: Vec<&[u8]> = runs.chunks.iter().map(|(_, data)| data.as_slice()).collect();
        session.execute(CHUNKS, &[&ids, &data])?;
    }
    if runs.removes_all {
        session.execute("DELETE FROM books.key_runs", &[])?;
    }
    if !runs.removed.is_empty() {
        let removed: Vec<i64> = runs.removed.iter().map(|id| sql_number(*id)).collect();
        session.execute("DELETE FROM books.key_runs WHERE id = ANY($1)", &[&removed])?;
    }
    if let Some((meta, summary)) = &runs.added {
        let sql = "INSERT INTO books.key_runs
                   (id, level, first_seq, last_seq, entries, first_chunk, chunks, checksum, summary)
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let values: Values<'_> = &[
            &sql_number(meta.id),
            &i16::from(meta.level),
            &sql_number(meta.first.0),
            &sql_number(meta.last.0),
            &sql_number(meta.entries),
            &sql_number(meta.first_chunk),
            &sql_number(meta.chunks),
            &checksum::key_run(meta),
            summary,
        ];
        session.execute(sql, values)?;
    }
    runs.dropped_chunks.iter().try_for_each(|range| drop_chunks(session, range))
}

fn drop_chunks(session: &Session, range: &Range<u64>) -> Result<(), tokio_postgres::Error> {
    let sql = "DELETE FROM books.key_chunks WHERE id >= $1 AND id < $2";
    session.execute(sql, &[&sql_number(range.start), &sql_number(range.end)]).map(drop)
}

/// Deletes every chunk outside the live ranges.
pub(super) fn sweep_chunks(session: &Session, live: &[Range<u64>]) -> Result<(), StoreError> {
    let mut live = live.to_vec();
    live.sort_by_key(|range| range.start);
    let mut from = 0;
    for range in live {
        if from < range.start {
            drop_chunks(session, &(from..range.start))?;
        }
        from = from.max(range.end);
    }
    Ok(drop_chunks(session, &(from..u64::MAX))?)
}
