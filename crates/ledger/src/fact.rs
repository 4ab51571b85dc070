//! Facts: what a flow wants recorded in the same commit as the money.
//!
//! A fact is data, never a closure: one row of one of the flow's tables, a guard on that row as it stands, and the
//! columns to set. So it can be checked in the decision, covered by the journal's hash chain, and replayed. A column
//! that a fact has set changes by facts alone from then on, and its row stays: an audit calls anything else an edit. The
//! ledger does not know what the tables mean.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Amount;

/// A column's value, the same on both engines.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnValue {
    /// No value.
    Null,
    /// A whole number.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An amount, stored as the engine stores amounts.
    Amount(Amount),
}

/// Column name and value.
pub type Column = (String, ColumnValue);

/// Which row: its table and the columns of its primary key, in the table's order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowKey {
    /// The table.
    pub table: String,
    /// The columns of its primary key.
    pub columns: Vec<Column>,
}

/// A row as it stands.
pub type Row = BTreeMap<String, ColumnValue>;

/// What must be true of the row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// There is no such row yet; the fact makes it.
    Absent,
    /// The row is there and these columns have these values. Whoever guards a column must have set it, since a default
    /// of the table is not seen until the next batch.
    Is(Vec<Column>),
}

/// What a failed guard means for the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardFailure {
    /// Something else happened to the row first: a verdict, remembered with the key.
    Conflict,
    /// The row says the server is paused: not remembered, the same request may succeed later.
    Paused,
}

/// One row to check and write with the money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Which row.
    pub row: RowKey,
    /// What must be true of it.
    pub guard: Guard,
    /// What a failed guard means.
    pub otherwise: GuardFailure,
    /// What to set. Empty for a fact that only checks.
    pub set: Vec<Column>,
}

impl Guard {
    /// Whether the row as it stands satisfies the guard.
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
    /// The row as it stands after this fact.
    #[must_use]
    pub fn apply(&self, row: Option<&Row>) -> Row {
        let mut after = row.cloned().unwrap_or_else(|| self.row.columns.iter().cloned().collect());
        after.extend(self.set.iter().cloned());
        after
    }

    /// Whether table and columns are plain identifiers, the key is named, and every text is one that any store can keep: what may
    /// be put into a statement.
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

/// Postgres keeps no text with a zero in it. Whoever sends one is told so, by either store, instead of stopping the books.
pub(crate) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// `[a-z][a-z0-9_]*`, at most 63 bytes (Postgres cuts longer ones).
fn is_identifier(text: &str) -> bool {
    let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    (1..=63).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(legal)
}
