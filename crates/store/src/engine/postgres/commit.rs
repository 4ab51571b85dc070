//! One batch, one transaction: arrays instead of rows, sent without waiting in between.

use std::{collections::BTreeMap, ops::Range};

use bankroll_ledger::{Batch, Seq, Unit};
use futures_util::future::try_join_all;
use tokio_postgres::{error::SqlState, types::ToSql};

use super::{
    Postgres,
    lease::head_values,
    numeric::Numeric,
    row,
    session::{Session, Values},
    source::sql_number,
};
use crate::{
    StoreError,
    engine::{Commit, Head, Records, RowsChanged, RunWrites},
};

/// What went wrong inside the transaction.
pub(super) enum Trouble {
    /// Another writer has taken over.
    Fenced,
    /// The fact of the request at this place breaks a constraint, or its row is no longer as the decision saw it.
    Fact(usize),
    /// The server has no room.
    Full,
    Database(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code() {
            Some(code) if *code == SqlState::DISK_FULL => Self::Full,
            // Only the fence divides.
            Some(code) if *code == SqlState::DIVISION_BY_ZERO => Self::Fenced,
            _ => Self::Database(error),
        }
    }
}

/// Class 23: what a table's constraints refuse.
pub(super) fn is_constraint(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| code.code().starts_with("23"))
}

/// A statement with its values, ready to be sent.
struct Ready<'a> {
    sql: &'static str,
    values: Vec<&'a (dyn ToSql + Sync)>,
}

/// Sends all of them at once and waits for the last; how many rows each changed.
fn send(session: &Session, statements: &[Ready<'_>]) -> Result<Vec<u64>, tokio_postgres::Error> {
    let prepared = statements.iter().map(|ready| session.prepared(ready.sql)).collect::<Result<Vec<_>, _>>()?;
    let all =
        statements.iter().zip(&prepared).map(|(ready, text)| session.client.execute(text, ready.values.as_slice()));
    session.wait(try_join_all(all))
}

/// Divides by zero if the row is not ours any more: what was sent behind it without waiting then fails as well, instead of
/// running until somebody looks.
const FENCE: &str = "WITH ours AS (
                       UPDATE books.ledger_head SET lease_until = clock_timestamp() + make_interval(secs => $3)
                       WHERE epoch = $1 AND seq = $2 RETURNING one
                     ) SELECT 1 / count(*) FROM ours";
const BALANCES: &str = "UPDATE books.balances b SET balance = v.balance, held = v.held
                        FROM unnest($1::bigint[], $2::numeric[], $3::numeric[]) AS v (id, balance, held)
                        WHERE b.id = v.id";
const NEW_BALANCES: &str =
    "INSERT INTO books.balances (id, balance, held) SELECT * FROM unnest($1::bigint[], $2::numeric[], $3::numeric[])";
const NEW_ACCOUNTS: &str = "INSERT INTO books.accounts (id, name, may_deposit, may_withdraw, may_transfer, debt)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::smallint[], $4::smallint[], $5::smallint[], $6::bigint[])";
const NEW_ASSETS: &str = "INSERT INTO books.assets (id, chain, contract, decimals, symbol)
     SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::smallint[], $5::text[])";
const DEBT_LINKS: &str =
    "UPDATE books.accounts a SET debt = v.debt FROM unnest($1::bigint[], $2::bigint[]) AS v (id, debt)
                          WHERE a.id = v.id";
const HOLDS: &str = "INSERT INTO books.holds (id, account, remaining, expires, settler, state)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::numeric[], $4::bigint[], $5::smallint[], $6::smallint[])
     ON CONFLICT (id) DO UPDATE SET remaining = excluded.remaining, state = excluded.state";
const REVERSALS: &str =
    "INSERT INTO books.reversals (original, reversal) SELECT * FROM unnest($1::bigint[], $2::bigint[])";
const OUTBOX: &str = "INSERT INTO books.outbox (seq, place, kind, resource, body)
     SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[])";
const CHUNKS: &str = "INSERT INTO books.key_chunks (id, data) SELECT * FROM unnest($1::bigint[], $2::bytea[])";
const JOURNAL: &str = "INSERT INTO books.journal (seq, record)
     SELECT $1 + place - 1, record FROM unnest($2::bytea[]) WITH ORDINALITY AS v (record, place)";
const BATCH: &str = "INSERT INTO books.batches (number, first, count, at, root, head) VALUES ($1, $2, $3, $4, $5, $6)";
const HEAD: &str =
    "UPDATE books.ledger_head SET batch = $3, seq = $4, at = $5, hash = $6 WHERE epoch = $1 AND seq = $2";

pub(super) fn write(engine: &Postgres, commit: &Commit<'_>) -> Result<Vec<RowsChanged>, Trouble> {
    let session = &engine.session;
    let (epoch, seq, lease) = (engine.epoch, sql_number(engine.head.seq.0), engine.lease.as_secs_f64());
    let fence = Ready { sql: FENCE, values: vec![&epoch, &seq, &lease] };
    write_derived(session, fence, commit)?;
    for (place, fact) in &commit.facts {
        if !row::write_fact(session, fact).map_err(|error| fact_trouble(session, *place, error))? {
            return Err(Trouble::Fact(*place));
        }
    }
    commit.runs.map_or(Ok(()), |runs| write_runs(session, runs))?;
    Ok(commit.rows.iter().map(|statements| row::run(session, statements)).collect::<Result<_, _>>()?)
}

/// A constraint, a table or column that is not there, or a value that does not fit: the fact's own fault.
fn fact_trouble(session: &Session, place: usize, error: tokio_postgres::Error) -> Trouble {
    let class = error.code().map(|code| code.code()[..2].to_owned());
    match class.as_deref() {
        Some("22" | "23" | "42") => Trouble::Fact(place),
        None if !session.is_lost() => Trouble::Fact(place),
        _ => error.into(),
    }
}

/// Begins the transaction, fences and writes accounts, balances, holds and announcements, all in one go.
fn write_derived(session: &Session, fence: Ready<'_>, commit: &Commit<'_>) -> Result<(), tokio_postgres::Error> {
    let assets = columns5(commit.assets, |(id, asset)| {
        let contract = match &asset.unit {
            Unit::Native => String::new(),
            Unit::Token(contract) => contract.to_string(),
        };
        (i64::from(id.0), asset.chain.to_string(), contract, i16::from(asset.decimals), asset.symbol.clone())
    });
    let ids: Vec<i64> = commit.accounts.iter().map(|account| sql_number(account.id.0)).collect();
    let names: Vec<String> = commit.accounts.iter().map(|account| account.name.to_string()).collect();
    let rights = |of: fn(&bankroll_ledger::Policy) -> u8| -> Vec<i16> {
        commit.accounts.iter().map(|account| i16::from(of(&account.policy))).collect()
    };
    let rights = [
        rights(|policy| policy.deposit.bits()),
        rights(|policy| policy.withdraw.bits()),
        rights(|policy| policy.transfer.bits()),
    ];
    let debts: Vec<Option<i64>> =
        commit.accounts.iter().map(|account| account.debt.map(|debt| sql_number(debt.0))).collect();
    let opened = (
        commit.accounts.iter().map(|account| Numeric(account.balance.units())).collect::<Vec<_>>(),
        commit.accounts.iter().map(|account| Numeric(account.held.units())).collect::<Vec<_>>(),
    );
    let links: (Vec<i64>, Vec<i64>) =
        commit.debt_links.iter().map(|(account, debt)| (sql_number(account.0), sql_number(debt.0))).unzip();
    let standing_ids: Vec<i64> = commit.standings.iter().map(|standing| sql_number(standing.id.0)).collect();
    let standings: (Vec<Numeric>, Vec<Numeric>) = commit
        .standings
        .iter()
        .map(|standing| (Numeric(standing.balance.units()), Numeric(standing.held.units())))
        .unzip();
    // A hold that changed more than once in the batch is stored as it stands last.
    let last: BTreeMap<_, _> = commit.holds.iter().map(|hold| (hold.id, hold)).collect();
    let holds: Vec<_> = last.into_values().collect();
    let hold_ids: Vec<i64> = holds.iter().map(|hold| sql_number(hold.id.0)).collect();
    let hold_accounts: Vec<i64> = holds.iter().map(|hold| sql_number(hold.account.0)).collect();
    let remaining: Vec<Numeric> = holds.iter().map(|hold| Numeric(hold.remaining.units())).collect();
    let expires: Vec<Option<i64>> =
        holds.iter().map(|hold| hold.expires.map(|expires| sql_number(expires.0))).collect();
    let (settlers, states): (Vec<i16>, Vec<i16>) =
        holds.iter().map(|hold| (i16::from(hold.settler as u8), i16::from(hold.state as u8))).unzip();
    let reversals: (Vec<i64>, Vec<i64>) =
        commit.reversals.iter().map(|(original, by)| (sql_number(original.0), sql_number(by.0))).unzip();
    let events = columns5(&commit.events, |(seq, place, event)| {
        (sql_number(seq.0), i32::from(*place), event.kind.to_string(), event.resource.clone(), event.body.clone())
    });
    let all = [
        (
            commit.assets.is_empty(),
            Ready { sql: NEW_ASSETS, values: vec![&assets.0, &assets.1, &assets.2, &assets.3, &assets.4] },
        ),
        (
            commit.accounts.is_empty(),
            Ready { sql: NEW_ACCOUNTS, values: vec![&ids, &names, &rights[0], &rights[1], &rights[2], &debts] },
        ),
        (commit.accounts.is_empty(), Ready { sql: NEW_BALANCES, values: vec![&ids, &opened.0, &opened.1] }),
        (commit.debt_links.is_empty(), Ready { sql: DEBT_LINKS, values: vec![&links.0, &links.1] }),
        (commit.standings.is_empty(), Ready { sql: BALANCES, values: vec![&standing_ids, &standings.0, &standings.1] }),
        (
            holds.is_empty(),
            Ready { sql: HOLDS, values: vec![&hold_ids, &hold_accounts, &remaining, &expires, &settlers, &states] },
        ),
        (commit.reversals.is_empty(), Ready { sql: REVERSALS, values: vec![&reversals.0, &reversals.1] }),
        (
            commit.events.is_empty(),
            Ready { sql: OUTBOX, values: vec![&events.0, &events.1, &events.2, &events.3, &events.4] },
        ),
    ];
    let needed = all.into_iter().filter(|(empty, _)| !empty).map(|(_, ready)| ready);
    let begin = Ready { sql: "BEGIN", values: Vec::new() };
    let all: Vec<Ready<'_>> = [begin, fence].into_iter().chain(needed).collect();
    send(session, &all).map(drop)
}

/// Five columns of as many rows.
type Columns<A, B, C, D, E> = (Vec<A>, Vec<B>, Vec<C>, Vec<D>, Vec<E>);

fn columns5<T, A, B, C, D, E>(rows: &[T], column: impl Fn(&T) -> (A, B, C, D, E)) -> Columns<A, B, C, D, E> {
    let mut columns = Columns::default();
    for row in rows {
        let (a, b, c, d, e) = column(row);
        columns.0.push(a);
        columns.1.push(b);
        columns.2.push(c);
        columns.3.push(d);
        columns.4.push(e);
    }
    columns
}

pub(super) fn append(engine: &mut Postgres, batch: &Batch, records: &Records) -> Result<(), Trouble> {
    let hash = batch.head();
    let seq = Seq(batch.first.0 + u64::from(batch.count) - 1);
    let after = Head { batch: batch.number, seq, at: batch.at, hash };
    let (first, number, at) = (sql_number(batch.first.0), sql_number(batch.number), sql_number(batch.at.0));
    let count = i32::try_from(batch.count).unwrap_or(i32::MAX);
    let all: Vec<&[u8]> = records.iter().collect();
    let (root, head) = (batch.root.as_slice(), hash.as_slice());
    let (epoch, before, values) = (engine.epoch, sql_number(engine.head.seq.0), head_values(&after));
    let changed = send(
        &engine.session,
        &[
            Ready { sql: JOURNAL, values: vec![&first, &all] },
            Ready { sql: BATCH, values: vec![&number, &first, &count, &at, &root, &head] },
            Ready { sql: HEAD, values: vec![&epoch, &before, &values.0, &values.1, &values.2, &values.3] },
        ],
    )?;
    if changed[2] != 1 {
        return Err(Trouble::Fenced);
    }
    engine.head_to_be = after;
    Ok(())
}

fn write_runs(session: &Session, runs: &RunWrites) -> Result<(), tokio_postgres::Error> {
    if !runs.chunks.is_empty() {
        let ids: Vec<i64> = runs.chunks.iter().map(|(id, _)| sql_number(*id)).collect();
        let data: Vec<&[u8]> = runs.chunks.iter().map(|(_, data)| data.as_slice()).collect();
        session.execute(CHUNKS, &[&ids, &data])?;
    }
    if !runs.removed.is_empty() {
        let removed: Vec<i64> = runs.removed.iter().map(|id| sql_number(*id)).collect();
        session.execute("DELETE FROM books.key_runs WHERE id = ANY($1)", &[&removed])?;
    }
    if let Some((meta, summary)) = &runs.added {
        let sql = "INSERT INTO books.key_runs (id, level, first_seq, last_seq, entries, first_chunk, chunks, summary)
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let values: Values<'_> = &[
            &sql_number(meta.id),
            &i16::from(meta.level),
            &sql_number(meta.first.0),
            &sql_number(meta.last.0),
            &sql_number(meta.entries),
            &sql_number(meta.first_chunk),
            &sql_number(meta.chunks),
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
