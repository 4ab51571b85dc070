//! Columns of flows' rows: values into statements, and values out of rows.
//!
//! A value of the wrong type is a [`BadRow`]: another program wrote the row, and this one does not guess what it means.

use std::str::FromStr;

use bankroll_ledger::{Amount, ColumnValue, Row, Time};

use crate::Statement;

/// A row that this program did not write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column} of a row has a value that this program does not know")]
pub struct BadRow {
    pub column: &'static str,
}

/// A text.
#[must_use]
pub fn text(text: &str) -> ColumnValue {
    ColumnValue::Text(text.to_owned())
}

/// A number. Blocks, epochs and microseconds always fit into 63 bits.
#[must_use]
pub fn int(number: u64) -> ColumnValue {
    ColumnValue::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A time, in microseconds.
#[must_use]
pub fn time(time: Time) -> ColumnValue {
    int(time.0)
}

/// A statement that must change exactly one row; otherwise its whole set is rolled back.
#[must_use]
pub fn one(sql: &str, values: Vec<ColumnValue>) -> Statement {
    Statement { sql: sql.to_owned(), values, must_change: Some(1) }
}

/// A statement that may change any number of rows.
#[must_use]
pub fn any(sql: &str, values: Vec<ColumnValue>) -> Statement {
    Statement { sql: sql.to_owned(), values, must_change: None }
}

/// The text in a column.
///
/// # Errors
/// If there is none.
pub fn text_of<'a>(row: &'a Row, column: &'static str) -> Result<&'a str, BadRow> {
    match row.get(column) {
        Some(ColumnValue::Text(text)) => Ok(text),
        _ => Err(BadRow { column }),
    }
}

/// The text in a column, parsed.
///
/// # Errors
/// If there is none, or it cannot be parsed.
pub fn parsed<T: FromStr>(row: &Row, column: &'static str) -> Result<T, BadRow> {
    text_of(row, column)?.parse().map_err(|_| BadRow { column })
}

/// The number in a column.
///
/// # Errors
/// If there is none, or it is below zero.
pub fn number_of(row: &Row, column: &'static str) -> Result<u64, BadRow> {
    match row.get(column) {
        Some(ColumnValue::Int(number)) => u64::try_from(*number).map_err(|_| BadRow { column }),
        _ => Err(BadRow { column }),
    }
}

/// The amount in a column.
///
/// # Errors
/// If there is none.
pub fn amount_of(row: &Row, column: &'static str) -> Result<Amount, BadRow> {
    match row.get(column) {
        Some(ColumnValue::Amount(amount)) => Ok(*amount),
        _ => Err(BadRow { column }),
    }
}

/// The value of a column that may be null.
///
/// # Errors
/// If `read` rejects a value that is not null.
pub fn maybe<'a, T>(
    row: &'a Row,
    column: &'static str,
    read: impl FnOnce(&'a Row, &'static str) -> Result<T, BadRow>,
) -> Result<Option<T>, BadRow> {
    match row.get(column) {
        Some(ColumnValue::Null) => Ok(None),
        _ => read(row, column).map(Some),
    }
}
