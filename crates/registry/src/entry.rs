//! How an entry of the registry is a row: its table, its key, its columns, and back.
//!
//! Every entry has a revision, from 1. The first revision creates the row; each later one is written only over the one
//! before it. So of two changes that were decided from the same state, the ledger refuses the second.

use std::str::FromStr;

use bankroll_ledger::{Column, ColumnValue, Fact, Guard, GuardFailure, Row, RowKey, Time};
use bankroll_store::{
    Reader, StoreError,
    columns::{BadRow, int, number_of, parsed, text_of},
};

pub(crate) trait Entry: Sized {
    const TABLE: &'static str;
    /// The column that has the revision.
    const REVISION: &'static str = "revision";

    /// The columns of the primary key, in the table's order.
    fn key(&self) -> Vec<Column>;
    /// All other columns but the revision.
    fn columns(&self) -> Vec<Column>;
    fn revision(&self) -> u64;
    fn from_row(row: &Row) -> Result<Self, BadRow>;
}

/// The fact that writes an entry over its previous revision.
pub(crate) fn fact<E: Entry>(entry: &E) -> Fact {
    let revision = entry.revision();
    let guard = match revision.checked_sub(1) {
        None | Some(0) => Guard::Absent,
        Some(before) => Guard::Is(vec![(E::REVISION.to_owned(), int(before))]),
    };
    let mut set = entry.columns();
    set.push((E::REVISION.to_owned(), int(revision)));
    let row = RowKey { table: E::TABLE.to_owned(), columns: entry.key() };
    Fact { row, guard, otherwise: GuardFailure::Conflict, set }
}

/// A row that is written once and never changed.
pub(crate) fn new_row(table: &str, key: Vec<Column>, set: Vec<Column>) -> Fact {
    let row = RowKey { table: table.to_owned(), columns: key };
    Fact { row, guard: Guard::Absent, otherwise: GuardFailure::Conflict, set }
}

/// Every entry of a table.
pub(crate) fn all<E: Entry>(reader: &Reader) -> Result<Vec<E>, RegistryError> {
    let rows = reader.rows(&format!("SELECT * FROM {}", E::TABLE), vec![])?;
    rows.iter().map(|row| E::from_row(row).map_err(|bad| RegistryError::Row { table: E::TABLE, bad })).collect()
}

/// Why the registry cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("the registry cannot be read")]
    Store(#[from] StoreError),
    #[error("table {table} of the registry")]
    Row {
        table: &'static str,
        #[source]
        bad: BadRow,
    },
    #[error(transparent)]
    Log(bankroll_operators::LogError),
    #[error("the audit log ends at entry {entries}, and the journal does not")]
    LogCutShort { entries: u64 },
    #[error("entry {entry} of the audit log is not the one that the journal has")]
    LogNotInJournal { entry: u64 },
    #[error("record {record} overrides the rules, and is no proposal that people have signed")]
    OverrideUnsigned { record: bankroll_ledger::Seq },
    #[error("whether player {player} is frozen is not what the audit log says")]
    FreezeMismatch { player: bankroll_ledger::Name },
}

impl RegistryError {
    /// Whether the rows are not what was written.
    #[must_use]
    pub fn is_unsound(&self) -> bool {
        match self {
            Self::Store(error) => error.is_unsound(),
            _ => true,
        }
    }
}

pub(crate) fn column(name: &str, value: ColumnValue) -> Column {
    (name.to_owned(), value)
}

pub(crate) fn shown(value: &impl ToString) -> ColumnValue {
    ColumnValue::Text(value.to_string())
}

pub(crate) fn maybe_shown(value: Option<&impl ToString>) -> ColumnValue {
    value.map_or(ColumnValue::Null, shown)
}

pub(crate) fn maybe_time(value: Option<Time>) -> ColumnValue {
    value.map_or(ColumnValue::Null, bankroll_store::columns::time)
}

pub(crate) fn flag(value: bool) -> ColumnValue {
    int(u64::from(value))
}

pub(crate) fn time_of(row: &Row, column: &'static str) -> Result<Time, BadRow> {
    number_of(row, column).map(Time)
}

pub(crate) fn flag_of(row: &Row, column: &'static str) -> Result<bool, BadRow> {
    match number_of(row, column)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(BadRow { column }),
    }
}

pub(crate) fn small_of<N: TryFrom<u64>>(row: &Row, column: &'static str) -> Result<N, BadRow> {
    N::try_from(number_of(row, column)?).map_err(|_| BadRow { column })
}

pub(crate) fn maybe_parsed<T: FromStr>(row: &Row, column: &'static str) -> Result<Option<T>, BadRow> {
    bankroll_store::columns::maybe(row, column, parsed)
}

pub(crate) fn string_of(row: &Row, column: &'static str) -> Result<String, BadRow> {
    text_of(row, column).map(str::to_owned)
}
