//! Rows of flows: reading one for a guard, writing facts, and running the statements of the second lane.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bankroll_ledger::{Amount, ColumnValue, Fact, Row, RowKey};
use rusqlite::{
    Connection, ErrorCode, OptionalExtension, ToSql,
    hooks::{AuthAction, AuthContext, Authorization},
    types::{ToSqlOutput, ValueRef},
};

use super::commit::code;
use crate::{
    StoreError,
    engine::{RowsOutcome, RowsRejection, Statement, flow_sql},
};

/// A flow's value as SQLite stores it: amounts are sixteen bytes that sort.
struct SqlValue<'a>(&'a ColumnValue);

impl ToSql for SqlValue<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            ColumnValue::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            ColumnValue::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            ColumnValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            ColumnValue::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            ColumnValue::Amount(amount) => ToSqlOutput::Owned(amount.to_sortable().to_vec().into()),
        })
    }
}

/// A row as a guard sees it. A column declared `AMOUNT` comes back as an amount, every other as it is stored.
pub(super) fn read(connection: &Connection, key: &RowKey) -> Result<Option<Row>, StoreError> {
    let (sql, values) = flow_sql::reading(key);
    let mut statement = match connection.prepare_cached(&sql) {
        // With a missing table or column there is no such row; writing the fact will fail.
        Err(error) if code(&error) == Some(ErrorCode::Unknown) => return Ok(None),
        prepared => prepared?,
    };
    let columns = columns(&statement);
    let values = rusqlite::params_from_iter(values.into_iter().map(SqlValue));
    Ok(statement.query_row(values, |row| row_of(row, &columns)).optional()?)
}

/// The columns of a statement: their names, and whether they are amounts.
fn columns(statement: &rusqlite::Statement<'_>) -> Vec<(String, bool)> {
    let is_amount = |declared: &str| declared == "AMOUNT";
    let columns = statement.columns();
    columns.map(|column| (column.name().to_owned(), column.decl_type().is_some_and(is_amount))).collect()
}

fn row_of(row: &rusqlite::Row<'_>, columns: &[(String, bool)]) -> rusqlite::Result<Row> {
    let column = |(place, (name, is_amount)): (usize, &(String, bool))| {
        Ok((name.clone(), column_value(row.get_ref(place)?, *is_amount)))
    };
    columns.iter().enumerate().map(column).collect()
}

/// `$1` is a name to SQLite, numbered by first use: looks up the real index of each.
fn bind(prepared: &mut rusqlite::Statement<'_>, values: &[ColumnValue]) -> rusqlite::Result<()> {
    for (value, number) in values.iter().zip(1..) {
        if let Some(place) = prepared.parameter_index(&format!("${number}"))? {
            prepared.raw_bind_parameter(place, SqlValue(value))?;
        }
    }
    Ok(())
}

pub(super) fn column_value(value: ValueRef<'_>, is_amount: bool) -> ColumnValue {
    match value {
        ValueRef::Null => ColumnValue::Null,
        ValueRef::Integer(number) => ColumnValue::Int(number),
        // No flow's table has floating-point columns; such a value reads as text and fails its guard.
        ValueRef::Real(number) => ColumnValue::Text(number.to_string()),
        // Invalid UTF-8 reads as bytes and fails its guard, as on Postgres.
        ValueRef::Text(text) => {
            String::from_utf8(text.to_vec()).map_or_else(|_| ColumnValue::Bytes(text.to_vec()), ColumnValue::Text)
        }
        ValueRef::Blob(bytes) => match <[u8; 16]>::try_from(bytes) {
            Ok(sortable) if is_amount => ColumnValue::Amount(Amount::from_sortable(sortable)),
            _ => ColumnValue::Bytes(bytes.to_vec()),
        },
    }
}

/// The rows that a query of a flow finds.
pub(super) fn query(connection: &Connection, query: &Statement) -> Result<Vec<Row>, StoreError> {
    let mut prepared = connection.prepare_cached(&query.sql)?;
    let columns = columns(&prepared);
    bind(&mut prepared, &query.values)?;
    let (mut found, mut rows) = (Vec::new(), prepared.raw_query());
    while let Some(row) = rows.next()? {
        found.push(row_of(row, &columns)?);
    }
    Ok(found)
}

/// Writes one fact; returns whether the row was still as the decision saw it.
pub(super) fn write_fact(connection: &Connection, fact: &Fact, changed_before: bool) -> rusqlite::Result<bool> {
    let Some((sql, values)) = flow_sql::writing(fact, changed_before) else { return Ok(true) };
    // Each `$n` is used once and in order, so that it is also the n-th parameter to SQLite.
    let changed =
        connection.prepare_cached(&sql)?.execute(rusqlite::params_from_iter(values.into_iter().map(SqlValue)))?;
    Ok(changed == 1)
}

/// Restricts flows to their own tables: while the flag is set, a prepared statement may read everything, and change
/// rows of tables that are not the store's. Everything else (settings, schema, transactions) is refused.
pub(super) fn guard_own_tables(connection: &mut Connection, own: Vec<String>) -> rusqlite::Result<Arc<AtomicBool>> {
    let in_flow_statement = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&in_flow_statement);
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        let foreign = |table: &str| !own.iter().any(|own| own == table);
        let allowed = !flag.load(Ordering::Relaxed)
            || match context.action {
                AuthAction::Select | AuthAction::Read { .. } | AuthAction::Function { .. } | AuthAction::Recursive => {
                    true
                }
                AuthAction::Insert { table_name }
                | AuthAction::Delete { table_name }
                | AuthAction::Update { table_name, .. } => foreign(table_name),
                _ => false,
            };
        if allowed { Authorization::Allow } else { Authorization::Deny }
    }))?;
    Ok(in_flow_statement)
}

/// Runs a set of statements, all or none. Only a failure of the database itself is an error.
pub(super) fn run(
    connection: &Connection,
    in_flow_statement: &AtomicBool,
    statements: &[Statement],
) -> rusqlite::Result<RowsOutcome> {
    connection.execute_batch("SAVEPOINT rows")?;
    let mut changed = Vec::with_capacity(statements.len());
    for (index, statement) in statements.iter().enumerate() {
        let rejected = match run_one(connection, in_flow_statement, statement) {
            Ok(count) if statement.must_change.is_none_or(|must| must == count) => {
                changed.push(count);
                continue;
            }
            Ok(count) => RowsRejection::Changed { index, changed: count },
            Err(error) => rejection(index, error)?,
        };
        connection.execute_batch("ROLLBACK TO rows; RELEASE rows")?;
        return Ok(Err(rejected));
    }
    connection.execute_batch("RELEASE rows")?;
    Ok(Ok(changed))
}

fn run_one(connection: &Connection, in_flow_statement: &AtomicBool, statement: &Statement) -> rusqlite::Result<u64> {
    in_flow_statement.store(true, Ordering::Relaxed);
    // The comment separates a flow's text from the same text of the store in the cache, which was prepared unguarded.
    let prepared = connection.prepare_cached(&format!("/* flow */ {}", statement.sql));
    in_flow_statement.store(false, Ordering::Relaxed);
    let mut prepared = prepared?;
    if prepared.parameter_count() > statement.values.len() {
        return Err(rusqlite::Error::InvalidParameterCount(statement.values.len(), prepared.parameter_count()));
    }
    bind(&mut prepared, &statement.values)?;
    prepared.raw_execute().map(|count| count as u64)
}

/// The flow's mistake, or the same error if it is the database's.
fn rejection(index: usize, error: rusqlite::Error) -> rusqlite::Result<RowsRejection> {
    use rusqlite::ErrorCode::{
        ApiMisuse, AuthorizationForStatementDenied, ConstraintViolation, ParameterOutOfRange, TooBig, TypeMismatch,
        Unknown,
    };
    match code(&error) {
        Some(ConstraintViolation) => Ok(RowsRejection::Constraint { index }),
        None
        | Some(Unknown | TypeMismatch | TooBig | ApiMisuse | ParameterOutOfRange | AuthorizationForStatementDenied) => {
            Ok(RowsRejection::Malformed { index, reason: error.to_string() })
        }
        Some(_) => Err(error),
    }
}
