//! A flow's rows, as a role works with them: read beside the writer, written all or none.
//!
//! It guarantees that what [`Rows::write`] says is written is durable, and that a set of statements of which one cannot be
//! carried out has changed nothing. After [`RowsError::Call`] it may not be known whether it is there: whoever writes reads
//! again before he goes on, and guards what he writes by what he has read (`WHERE`, and how many rows must change).
//!
//! It does not know what the rows mean.

use bankroll_ledger::{Row, Value};

use crate::{CallError, Ledger, Reader, RowsRejected, Statement, StoreError};

/// The rows of flows.
#[derive(Debug)]
pub struct Rows {
    ledger: Ledger,
    reader: Reader,
}

/// Why rows were not written, or not for certain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// None was written.
    #[error("the rows were not written")]
    Rejected(#[from] RowsRejected),
    /// The writer did not take them, or could not tell.
    #[error("the writer has no answer")]
    Call(#[from] CallError),
}

impl Rows {
    /// With the writer in this process.
    ///
    /// # Errors
    /// If the books cannot be opened for reading.
    pub fn beside(ledger: &Ledger) -> Result<Self, StoreError> {
        Ok(Self { reader: Reader::open(ledger.location())?, ledger: ledger.clone() })
    }

    /// What is committed, of the books too.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The rows that a query finds; see [`Reader::rows`].
    ///
    /// # Errors
    /// If the books cannot be read, or it is no query that the database understands.
    pub fn read(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        self.reader.rows(sql, values)
    }

    /// Writes rows, all or none, and waits until they are durable. With each statement goes how many rows it changed.
    ///
    /// # Errors
    /// See [`RowsError`].
    pub fn write(&self, statements: Vec<Statement>) -> Result<Vec<u64>, RowsError> {
        let reply = self.ledger.write_rows(statements).map_err(CallError::from)?;
        Ok(reply.wait().map_err(CallError::from)??)
    }
}
