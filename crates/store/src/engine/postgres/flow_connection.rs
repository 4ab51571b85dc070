//! Rows of flows without the writer: reading them, and writing them from another process.

use bankroll_ledger::Row;

use super::{Session, open_for_reading, row};
use crate::{
    DatabaseUrl, StoreError,
    engine::{RowsOutcome, Statement},
};

/// A process that is frozen between two statements of a write keeps rows locked that the books want. After a second the
/// server ends its transaction; a write has no pauses of its own.
const BEGIN: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '1s'";

/// A connection to flows' tables that does not need the lease.
pub(crate) struct FlowConnection(Session);

impl FlowConnection {
    pub fn connect(url: &DatabaseUrl) -> Result<Self, StoreError> {
        open_for_reading(url).map(Self)
    }

    /// The rows that a query of a flow finds.
    pub fn rows(&self, query: &Statement) -> Result<Vec<Row>, StoreError> {
        row::query(&self.0, query)
    }

    /// Writes rows, all or none. After [`StoreError::Unreachable`] it is unknown whether they are stored.
    pub fn write(&self, statements: &[Statement]) -> Result<RowsOutcome, StoreError> {
        self.0.run(BEGIN)?;
        let written = row::run(&self.0, statements)?;
        self.0.take_warning();
        self.0.run(if written.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        // Committed on the primary, but perhaps not replicated.
        if self.0.take_warning() { Err(StoreError::Unreachable) } else { Ok(written) }
    }
}
