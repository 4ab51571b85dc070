//! Facts: rows that a flow records in the same commit as the money.
//!
//! A fact is data, never a closure: one row of one of the flow's tables, a guard on the current row, and the columns
//! to set. So the decision can check it, the journal's hash chain covers it, and it can be replayed. Once a fact has
//! set a column, only facts may change it and its row must stay: an audit reports anything else as an edit. The ledger
//! does not know what the tables mean.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Amount;

/// A column's value, the same on both engines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnValue {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
    /// An amount, stored as the engine stores amounts.
    Amount(Amount),
}

/// Column name and value.
pub type Column = (String, ColumnValue);

/// A row's table and the columns of its primary key, in the table's order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowKey {
    pub table: String,
    pub columns: Vec<Column>,
}

/// The current columns of a row.
pub type Row = BTreeMap<String, ColumnValue>;

/// A condition on the row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// The row does not exist yet; the fact creates it.
    Absent,
    /// The row exists and these columns have these values. The guarded columns must have been set by a fact, since a
    /// default of the table is not visible until the next batch.
    Is(Vec<Column>),
}

/// What a failed guard means for the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardFailure {
    /// Another request changed the row first: a verdict, remembered with the key.
    Conflict,
    /// The server is paused: not remembered, the same request may succeed later.
    Paused,
}

/// One row to check and write with the money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    pub row: RowKey,
    pub guard: Guard,
    pub otherwise: GuardFailure,
    /// Empty for a fact that only checks.
    pub set: Vec<Column>,
}

impl Guard {
    /// Whether the current row satisfies the guard.
    #[must_use]
    pub fn holds(&self, row: Option<&Row>) -> bool {
        match (self, row) {
            (Self::Absent, row) => row.is_none(),
            (Self::Is(_), None) => false,
            (Self::Is(columns), Some(row)) => columns.iter().all(|(name, value)| row.get(name) == Some(value)),
        }
    }
}

impl Fact {
    /// The row after this fact.
    #[must_use]
    pub fn apply(&self, row: Option<&Row>) -> Row {
        let mut after = row.cloned().unwrap_or_else(|| self.row.columns.iter().cloned().collect());
        after.extend(self.set.iter().cloned());
        after
    }

    /// Whether the fact is safe to put into a statement: table and columns are plain identifiers, the key is named,
    /// and every store can keep every text.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        let guarded: &[Column] = match &self.guard {
            Guard::Absent => &[],
            Guard::Is(columns) => columns,
        };
        let mut columns = self.row.columns.iter().chain(guarded).chain(&self.set);
        let written: Vec<&String> = self.row.columns.iter().chain(&self.set).map(|(name, _)| name).collect();
        let mut distinct = written.clone();
        distinct.sort_unstable();
        distinct.dedup();
        !self.row.columns.is_empty()
            && is_identifier(&self.row.table)
            && distinct.len() == written.len()
            && columns.all(|(name, value)| is_identifier(name) && value.is_storable())
            && (self.guard != Guard::Absent || !self.set.is_empty())
    }
}

impl ColumnValue {
    fn is_storable(&self) -> bool {
        if let Self::Text(text) = self { is_storable(text) } else { true }
    }
}

/// Postgres cannot keep a text with a zero byte. Either store refuses it for the caller, instead of stopping the
/// ledger.
pub(crate) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// `[a-z][a-z0-9_]*`, at most 63 bytes (Postgres truncates longer ones).
fn is_identifier(text: &str) -> bool {
    let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    (1..=63).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(legal)
}
