//! Flows' rows, as they must be after the facts of the journal.
//!
//! A column that a fact has set belongs to the journal: only a commit with money changes it. So the audit finds edits
//! of every such column that money depends on. Columns that no fact has set belong to the flow.
//!
//! The guards of facts are decided again by the same columns: an applied request whose guard could not have held was not
//! decided by this program's rules.
//!
//! Bounds: a few hundred bytes a row; of a value only a hash is kept, with random keys of this process.

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, RandomState},
};

use bankroll_ledger::{Amount, ColumnValue, Fact, Guard, Row, Seq};

use crate::{Reader, StoreError};

/// Rows read at a time.
const PAGE: usize = 128;

/// A table, and the names of the columns of its key.
type FoldedTable = (String, Vec<String>);

#[derive(Debug, Default)]
pub(in crate::history) struct FlowRows {
    tables: BTreeMap<FoldedTable, HashMap<Vec<ColumnValue>, ExpectedRow>>,
    /// Names of columns, each once.
    names: Vec<String>,
    hashing: RandomState,
}

/// Rows that are not compared yet, table by table.
pub(in crate::history) type RowsLeft = Vec<(FoldedTable, Vec<(Vec<ColumnValue>, ExpectedRow)>)>;

/// A row that differs from the records that were replayed before it was read. Later records may have changed it.
#[derive(Debug)]
pub(in crate::history) struct UndecidedRow {
    table: FoldedTable,
    key: Vec<ColumnValue>,
    found: Option<Row>,
}

#[derive(Debug)]
pub(in crate::history) struct ExpectedRow {
    /// The last record that changed it.
    by: Seq,
    /// The place of a name, and the hash of a value.
    columns: Vec<(usize, u64)>,
}

impl FlowRows {
    /// Decides the guards of an applied request again, by the rows as the facts before it made them; returns one that
    /// could not have held. The guards of a request are all decided by the rows before it, so this comes before
    /// [`FlowRows::apply`]. What no fact has set cannot be decided again.
    pub fn broken_guard(&self, facts: &[Fact]) -> Option<String> {
        facts.iter().find_map(|fact| {
            let (names, key): (Vec<String>, Vec<ColumnValue>) = fact.row.columns.iter().cloned().unzip();
            let table = (fact.row.table.clone(), names);
            let row = self.tables.get(&table)?.get(&key)?;
            let id = || key.iter().map(display).collect::<Vec<_>>().join(", ");
            match &fact.guard {
                Guard::Absent => {
                    Some(format!("its guard wants no row {} of {}, and record {} had set one", id(), table.0, row.by))
                }
                Guard::Is(columns) => columns.iter().find_map(|(name, value)| {
                    let place = self.names.iter().position(|known| known == name)?;
                    let (_, set) = row.columns.iter().find(|(known, _)| *known == place)?;
                    (*set != self.hash(value))
                        .then(|| format!("its guard on {name} of row {} of {} could not have held", id(), table.0))
                }),
            }
        })
    }

    /// Takes over what an applied request has set.
    pub fn apply(&mut self, seq: Seq, facts: &[Fact]) {
        for fact in facts.iter().filter(|fact| !fact.set.is_empty()) {
            let (names, key) = fact.row.columns.iter().cloned().unzip();
            let columns: Vec<(usize, u64)> =
                fact.set.iter().map(|(name, value)| (self.place_of(name), self.hash(value))).collect();
            let rows = self.tables.entry((fact.row.table.clone(), names)).or_default();
            let row = rows.entry(key).or_insert(ExpectedRow { by: seq, columns: Vec::new() });
            row.by = seq;
            if fact.guard == Guard::Absent {
                row.columns.clear();
            }
            row.columns.retain(|(name, _)| columns.iter().all(|(set, _)| set != name));
            row.columns.extend(columns);
        }
    }

    pub fn count(&self) -> u64 {
        self.tables.values().map(|rows| rows.len() as u64).sum()
    }

    /// Compares all of them with what is stored.
    pub fn compare(&self, reader: &Reader) -> Result<(), StoreError> {
        for (table, rows) in &self.tables {
            let mut all: Vec<(&Vec<ColumnValue>, &ExpectedRow)> = rows.iter().collect();
            // Sorted, so that the first difference is always the same.
            all.sort_unstable_by_key(|(_, expected)| expected.by);
            all.chunks(PAGE).try_for_each(|page| self.compare_page(reader, table, page))?;
        }
        Ok(())
    }

    fn compare_page(
        &self,
        reader: &Reader,
        (table, names): &FoldedTable,
        page: &[(&Vec<ColumnValue>, &ExpectedRow)],
    ) -> Result<(), StoreError> {
        let keys: Vec<&Vec<ColumnValue>> = page.iter().map(|(key, _)| *key).collect();
        let found = read(reader, table, names, &keys)?;
        page.iter().try_for_each(|(key, expected)| self.compare_row(table, key, expected, found.get(*key)))
    }

    fn compare_row(
        &self,
        table: &str,
        key: &[ColumnValue],
        expected: &ExpectedRow,
        found: Option<&Row>,
    ) -> Result<(), StoreError> {
        let id = || key.iter().map(display).collect::<Vec<_>>().join(", ");
        let differs = |what: String| Err(StoreError::diverged(expected.by, what));
        let Some(row) = found else {
            return differs(format!("row {} of {table} is in the journal and not in its table", id()));
        };
        let is_same =
            |(name, hash): &(usize, u64)| row.get(&self.names[*name]).is_some_and(|value| self.hash(value) == *hash);
        match expected.columns.iter().find(|column| !is_same(column)) {
            Some((name, _)) => {
                let name = &self.names[*name];
                differs(format!("{name} of row {} of {table} is not what the journal says it is", id()))
            }
            None => Ok(()),
        }
    }

    /// Takes all rows out, to compare them piece by piece.
    pub fn take_rows(&mut self) -> RowsLeft {
        std::mem::take(&mut self.tables).into_iter().map(|(table, rows)| (table, rows.into_iter().collect())).collect()
    }

    /// Compares the next of these rows with what is stored. Those that differ are followed further, and returned.
    pub fn compare_next(&mut self, reader: &Reader, left: &mut RowsLeft) -> Result<Vec<UndecidedRow>, StoreError> {
        let Some((table, rows)) = left.last_mut() else { return Ok(Vec::new()) };
        let page = rows.split_off(rows.len().saturating_sub(PAGE));
        let keys: Vec<&Vec<ColumnValue>> = page.iter().map(|(key, _)| key).collect();
        let mut found = read(reader, &table.0, &table.1, &keys)?;
        let mut undecided = Vec::new();
        for (key, expected) in page {
            let found = found.remove(&key);
            if self.compare_row(&table.0, &key, &expected, found.as_ref()).is_err() {
                self.tables.entry(table.clone()).or_default().insert(key.clone(), expected);
                undecided.push(UndecidedRow { table: table.clone(), key, found });
            }
        }
        if rows.is_empty() {
            left.pop();
        }
        Ok(undecided)
    }

    /// Compares a row again, after exactly those records that were there when it was read.
    pub fn decide(&self, row: &UndecidedRow) -> Result<(), StoreError> {
        let expected = self.tables.get(&row.table).and_then(|rows| rows.get(&row.key));
        expected.map_or(Ok(()), |expected| self.compare_row(&row.table.0, &row.key, expected, row.found.as_ref()))
    }

    fn place_of(&mut self, name: &str) -> usize {
        self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// A number has one hash, whether its column is declared as an amount or not.
    fn hash(&self, value: &ColumnValue) -> u64 {
        let number = if let ColumnValue::Int(number) = value { u128::try_from(*number).ok() } else { None };
        self.hashing.hash_one(number.map(|number| ColumnValue::Amount(Amount::new(number))).as_ref().unwrap_or(value))
    }
}

/// The rows with these keys, without the columns of their keys.
fn read(
    reader: &Reader,
    table: &str,
    names: &[String],
    keys: &[&Vec<ColumnValue>],
) -> Result<HashMap<Vec<ColumnValue>, Row>, StoreError> {
    let key_of = |row: &mut Row| -> Vec<ColumnValue> {
        names.iter().map(|name| row.remove(name).unwrap_or(ColumnValue::Null)).collect()
    };
    let values = keys.iter().flat_map(|key| key.iter().cloned()).collect();
    let found = reader.rows(&reading(table, names, keys.len()), values)?;
    Ok(found.into_iter().map(|mut row| (key_of(&mut row), row)).collect())
}

fn reading(table: &str, names: &[String], count: usize) -> String {
    let mut places = 1..;
    let mut one = || {
        let columns: Vec<String> = names.iter().zip(&mut places).map(|(name, at)| format!("{name} = ${at}")).collect();
        columns.join(" AND ")
    };
    let all: Vec<String> = (0..count).map(|_| format!("({})", one())).collect();
    format!("SELECT * FROM {table} WHERE {}", all.join(" OR "))
}

fn display(value: &ColumnValue) -> String {
    match value {
        ColumnValue::Null => "nothing".into(),
        ColumnValue::Int(number) => number.to_string(),
        ColumnValue::Text(text) => text.clone(),
        ColumnValue::Bytes(bytes) => format!("{} bytes", bytes.len()),
        ColumnValue::Amount(amount) => amount.to_string(),
    }
}
