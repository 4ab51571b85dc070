//! Rows of flows, read beside the writer.

use bankroll_ledger::Row;

use super::{
    row::{Stored, loaded},
    settings::ReadOnly,
};
use crate::{StoreError, engine::Statement};

impl ReadOnly {
    /// The rows that a query of a flow finds.
    pub fn rows(&self, query: &Statement) -> Result<Vec<Row>, StoreError> {
        let mut prepared = self.0.prepare_cached(&query.sql)?;
        let columns: Vec<(String, bool)> = prepared
            .columns()
            .map(|column| (column.name().to_owned(), column.decl_type().is_some_and(|declared| declared == "AMOUNT")))
            .collect();
        // `$1` is a name to SQLite, numbered by first use: find where each one really went.
        for (value, number) in query.values.iter().zip(1..) {
            if let Some(place) = prepared.parameter_index(&format!("${number}"))? {
                prepared.raw_bind_parameter(place, Stored(value))?;
            }
        }
        let (mut found, mut rows) = (Vec::new(), prepared.raw_query());
        while let Some(row) = rows.next()? {
            let column = |(place, (name, is_amount)): (usize, &(String, bool))| {
                Ok((name.clone(), loaded(row.get_ref(place)?, *is_amount)))
            };
            found.push(columns.iter().enumerate().map(column).collect::<rusqlite::Result<Row>>()?);
        }
        Ok(found)
    }
}
