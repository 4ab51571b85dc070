//! Rows of flows: reading one for a guard, writing facts, and running the statements of the second lane.
//!
//! The store's own tables are in the schema `books`; a statement that names it is refused, and so is anything but a
//! change of rows.

use bankroll_ledger::{Fact, Row, RowKey};
use tokio_postgres::{error::SqlState, types::ToSql};

use super::{
    commit::{is_constraint, is_statement_error},
    numeric::{FlowValue, SqlValue},
    session::Session,
    source,
};
use crate::{
    StoreError,
    engine::{RowsOutcome, RowsRejection, Statement, flow_sql},
};

/// A row as a guard sees it. A `NUMERIC` column is an amount.
pub(super) fn read(session: &Session, key: &RowKey) -> Result<Option<Row>, StoreError> {
    let (sql, values) = flow_sql::reading(key);
    let values: Vec<SqlValue<'_>> = values.into_iter().map(SqlValue).collect();
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
    let found = match session.prepared(&sql).and_then(|text| session.wait(session.client().query_opt(&text, &values))) {
        Ok(found) => found,
        // With a missing table or column, or a key that does not fit, there is no such row; writing the fact will fail.
        Err(error) if is_statement_error(session, &error) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    found.as_ref().map(row_of).transpose()
}

/// Fails for an amount below zero or with a fraction, which this program never writes.
fn row_of(row: &tokio_postgres::Row) -> Result<Row, StoreError> {
    let columns = row.columns().iter().enumerate();
    let column = |(place, column): (usize, &tokio_postgres::Column)| {
        Ok((column.name().to_owned(), source::value::<FlowValue>(row, place)?.0))
    };
    columns.map(column).collect()
}

/// The rows that a query of a flow finds.
pub(super) fn query(session: &Session, query: &Statement) -> Result<Vec<Row>, StoreError> {
    let values: Vec<SqlValue<'_>> = query.values.iter().map(SqlValue).collect();
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
    session.query(&query.sql, &values)?.iter().map(row_of).collect()
}

/// Writes one fact; returns whether the row was still as the decision saw it.
pub(super) fn write_fact(session: &Session, fact: &Fact, changed_before: bool) -> Result<bool, tokio_postgres::Error> {
    let Some((sql, values)) = flow_sql::writing(fact, changed_before) else { return Ok(true) };
    let values: Vec<SqlValue<'_>> = values.into_iter().map(SqlValue).collect();
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
    session.execute(&sql, &values).map(|changed| changed == 1)
}

/// Runs a set of statements, all or none. Only a failure of the database itself is an error.
pub(super) fn run(session: &Session, statements: &[Statement]) -> Result<RowsOutcome, tokio_postgres::Error> {
    session.run("SAVEPOINT flow")?;
    let mut changed = Vec::with_capacity(statements.len());
    for (index, statement) in statements.iter().enumerate() {
        let rejected = match run_one(session, statement) {
            Ok(Ok(count)) if statement.must_change.is_none_or(|must| must == count) => {
                changed.push(count);
                continue;
            }
            Ok(Ok(count)) => RowsRejection::Changed { index, changed: count },
            Ok(Err(reason)) => RowsRejection::Malformed { index, reason: reason.into() },
            Err(error) => rejection(session, index, error)?,
        };
        session.run("ROLLBACK TO flow; RELEASE flow")?;
        return Ok(Err(rejected));
    }
    session.run("RELEASE flow")?;
    Ok(Ok(changed))
}

fn run_one(session: &Session, statement: &Statement) -> Result<Result<u64, &'static str>, tokio_postgres::Error> {
    if let Some(reason) = refused(&statement.sql) {
        return Ok(Err(reason));
    }
    let prepared = session.prepared(&statement.sql)?;
    let wanted = prepared.params().len();
    if wanted > statement.values.len() {
        return Ok(Err("it has more parameters than values"));
    }
    let values: Vec<SqlValue<'_>> = statement.values[..wanted].iter().map(SqlValue).collect();
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
    session.wait(session.client().execute(&prepared, &values)).map(Ok)
}

/// Why a flow may not use this statement.
fn refused(sql: &str) -> Option<&'static str> {
    let plain = sql.trim_start().to_lowercase();
    let changes_rows = ["insert ", "update ", "delete "].iter().any(|verb| plain.starts_with(verb));
    if !changes_rows {
        return Some("a flow may change rows, and nothing else");
    }
    let names_the_books = plain.contains("books.") || plain.contains("\"books\"") || plain.contains("books .");
    names_the_books.then_some("a flow may not touch the books")
}

/// The flow's mistake, or the same error if it is the database's.
fn rejection(
    session: &Session,
    index: usize,
    error: tokio_postgres::Error,
) -> Result<RowsRejection, tokio_postgres::Error> {
    if is_constraint(&error) {
        return Ok(RowsRejection::Constraint { index });
    }
    match error.as_db_error() {
        // Class 22 is data that does not fit, class 42 a syntax error or an unknown name.
        Some(failed) if ["22", "42"].iter().any(|class| failed.code().code().starts_with(class)) => {
            Ok(RowsRejection::Malformed { index, reason: failed.message().to_owned() })
        }
        Some(failed) if *failed.code() == SqlState::FEATURE_NOT_SUPPORTED => {
            Ok(RowsRejection::Malformed { index, reason: failed.message().to_owned() })
        }
        // A value that could not be encoded.
        None if !session.is_lost() => Ok(RowsRejection::Malformed { index, reason: error.to_string() }),
        _ => Err(error),
    }
}
