//! Whole tables of flows, for moving books.

use bankroll_ledger::ColumnValue;
use tokio_postgres::types::ToSql;

use super::{Postgres, numeric::SqlValue};
use crate::StoreError;

impl Postgres {
    /// Fills a flow's table, all or nothing.
    pub fn insert_rows(&self, table: &str, columns: &[String], rows: &[Vec<ColumnValue>]) -> Result<(), StoreError> {
        self.session.run("BEGIN")?;
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("${place}")).collect();
        let sql = format!("INSERT INTO \"{table}\" ({}) VALUES ({})", columns.join(", "), places.join(", "));
        for row in rows {
            let values: Vec<SqlValue<'_>> = row.iter().map(SqlValue).collect();
            let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
            self.session.execute(&sql, &values)?;
        }
        Ok(self.session.run("COMMIT")?)
    }
}
