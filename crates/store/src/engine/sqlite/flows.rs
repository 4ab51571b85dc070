//! Whole tables of flows, for moving books.

use bankroll_ledger::ColumnValue;

use super::{load, row::column_value, source::SqliteSource};
use crate::{StoreError, engine::migrations};

/// A table: its name, its columns, its rows.
pub(crate) type FlowTable = (String, Vec<String>, Vec<Vec<ColumnValue>>);

/// Every table that is not the store's own.
pub(crate) fn flow_tables(books: &SqliteSource) -> Result<Vec<FlowTable>, StoreError> {
    let mut alone = rusqlite::Connection::open_in_memory()?;
    migrations::migrate(&mut alone, &[migrations::BOOKS], bankroll_ledger::Time(0))?;
    let own = load::table_names(&alone)?;
    let foreign = load::table_names(&books.0)?.into_iter().filter(|name| !own.contains(name));
    foreign.map(|name| table(books, name)).collect()
}

fn table(books: &SqliteSource, name: String) -> Result<FlowTable, StoreError> {
    let mut statement = books.0.prepare(&format!("SELECT * FROM \"{name}\""))?;
    let columns: Vec<(String, bool)> = statement
        .columns()
        .map(|column| (column.name().to_owned(), column.decl_type().is_some_and(|declared| declared == "AMOUNT")))
        .collect();
    let rows = statement.query_map([], |row| {
        columns
            .iter()
            .enumerate()
            .map(|(place, (_, is_amount))| Ok(column_value(row.get_ref(place)?, *is_amount)))
            .collect()
    })?;
    let rows = rows.collect::<Result<_, _>>()?;
    Ok((name, columns.into_iter().map(|(name, _)| name).collect(), rows))
}
