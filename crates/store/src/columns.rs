//! Columns of flows' rows: values into statements, and values out of rows.
//!
//! A value that is not of the sort its column should have is a [`BadRow`]: somebody else wrote the row, and what it says is
//! not guessed at.

use std::str::FromStr;

use bankroll_ledger::{Amount, Row, Time, Value};

use crate::Statement;

/// A row that this program has not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column} of a row has a value that this program does not know")]
pub struct BadRow {
    /// Which column.
    pub column: &'static str,
}

/// A text.
#[must_use]
pub fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A number. Those that count things here (blocks, epochs, microseconds) never leave 63 bits.
#[must_use]
pub fn int(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// A time, in microseconds.
#[must_use]
pub fn time(time: Time) -> Value {
    int(time.0)
}

/// A statement that changes exactly one row, or takes back the whole set it is in.
#[must_use]
pub fn one(sql: &str, values: Vec<Value>) -> Statement {
    Statement { sql: sql.to_owned(), values, must_change: Some(1) }
}

/// A statement that changes as many rows as it finds.
#[must_use]
pub fn any(sql: &str, values: Vec<Value>) -> Statement {
    Statement { sql: sql.to_owned(), values, must_change: None }
}

/// The text in a column.
///
/// # Errors
/// If there is none.
pub fn text_of<'a>(row: &'a Row, column: &'static str) -> Result<&'a str, BadRow> {
    match row.get(column) {
        Some(Value::Text(text)) => Ok(text),
        _ => Err(BadRow { column }),
    }
}

/// What the text in a column means.
///
/// # Errors
/// If there is none, or it does not mean that.
pub fn parsed<T: FromStr>(row: &Row, column: &'static str) -> Result<T, BadRow> {
    text_of(row, column)?.parse().map_err(|_| BadRow { column })
}

/// The number in a column.
///
/// # Errors
/// If there is none, or it is below zero.
pub fn number_of(row: &Row, column: &'static str) -> Result<u64, BadRow> {
    match row.get(column) {
        Some(Value::Int(number)) => u64::try_from(*number).map_err(|_| BadRow { column }),
        _ => Err(BadRow { column }),
    }
}

/// The amount in a column.
///
/// # Errors
/// If there is none.
pub fn amount_of(row: &Row, column: &'static str) -> Result<Amount, BadRow> {
    match row.get(column) {
        Some(Value::Amount(amount)) => Ok(*amount),
        _ => Err(BadRow { column }),
    }
}

/// What a column says, if it says anything.
///
/// # Errors
/// If it says something else.
pub fn maybe<'a, T>(
    row: &'a Row,
    column: &'static str,
    read: impl FnOnce(&'a Row, &'static str) -> Result<T, BadRow>,
) -> Result<Option<T>, BadRow> {
    match row.get(column) {
        Some(Value::Null) => Ok(None),
        _ => read(row, column).map(Some),
    }
}
