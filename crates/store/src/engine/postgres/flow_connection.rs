//! Rows of flows beside the writer: reading them, and handing new ones over from another process.

use bankroll_ledger::Row;

use super::{Session, open_for_reading, row};
use crate::{
    DatabaseUrl, StoreError,
    engine::{RowsOutcome, Statement},
};

/// A connection to flows' tables that has no part in the lease.
pub(crate) struct FlowConnection(Session);

impl FlowConnection {
    pub fn connect(url: &DatabaseUrl) -> Result<Self, StoreError> {
        open_for_reading(url).map(Self)
    }

    /// The rows that a query of a flow finds.
    pub fn rows(&self, query: &Statement) -> Result<Vec<Row>, StoreError> {
        row::query(&self.0, query)
    }

    /// Writes rows, all or none. After [`StoreError::Unreachable`] nobody knows whether they are there for good.
    pub fn write(&self, statements: &[Statement]) -> Result<RowsOutcome, StoreError> {
        self.0.run("BEGIN")?;
        let written = row::run(&self.0, statements)?;
        self.0.take_warning();
        self.0.run(if written.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        // Committed here, and perhaps not where it must be too.
        if self.0.take_warning() { Err(StoreError::Unreachable) } else { Ok(written) }
    }
}
