//! Decoding rows of the file, and encoding values.

use bankroll_ledger::Amount;
use rusqlite::{
    Connection, Params, Row, Statement,
    types::{FromSqlError, ValueRef},
};

use crate::{
    StoreError,
    engine::stored::{self, BadColumn, StoredRow},
};

impl StoredRow for Row<'_> {
    fn name(&self, column: usize) -> String {
        self.as_ref().column_name(column).map_or_else(|_| column.to_string(), str::to_owned)
    }

    fn integer(&self, column: usize) -> Result<Option<i64>, BadColumn> {
        value(self, column, ValueRef::as_i64_or_null)
    }

    fn text(&self, column: usize) -> Result<&str, BadColumn> {
        value(self, column, |value| value.as_str())
    }

    fn bytes(&self, column: usize) -> Result<&[u8], BadColumn> {
        value(self, column, |value| value.as_blob())
    }

    /// Sixteen bytes that sort.
    fn amount(&self, column: usize) -> Result<Amount, BadColumn> {
        let bytes = self.bytes(column)?;
        let sortable = bytes.try_into().map_err(|_| self.bad(column, format!("{} bytes", bytes.len())))?;
        Ok(Amount::from_sortable(sortable))
    }
}

fn value<'a, T>(
    row: &'a Row<'_>,
    column: usize,
    read: impl FnOnce(&ValueRef<'a>) -> Result<T, FromSqlError>,
) -> Result<T, BadColumn> {
    let value = row.get_ref(column).map_err(|error| row.bad(column, error))?;
    read(&value).map_err(|error| row.bad(column, error))
}

/// The row that a statement finds, decoded.
pub(super) fn first<T>(
    statement: &mut Statement<'_>,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    statement.query(values)?.next()?.map(read).transpose()
}

/// All rows that a statement finds, decoded.
pub(super) fn all<T>(
    statement: &mut Statement<'_>,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let (mut found, mut rows) = (Vec::new(), statement.query(values)?);
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The single number that a statement returns, if any.
pub(super) fn single<T: TryFrom<i64>>(connection: &Connection, sql: &str) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    Ok(first(&mut statement, [], |row| Ok(stored::optional_number(row, 0)?))?.flatten())
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

pub(super) fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
