//! A flow's rows, as a role uses them: read without the writer, written all or none.
//!
//! On SQLite, and where the books are in this process, rows go through the writer's second lane. A role in another
//! process writes its own tables directly into the database.
//!
//! It guarantees that rows are durable when [`Rows::write`] returns `Ok`, and that a set of statements of which one
//! fails changes nothing. After [`RowsError::Call`] and [`RowsError::Store`] the outcome may be unknown: the caller
//! reads again before it continues, and guards its writes by what it has read (`WHERE`, and how many rows must
//! change).
//!
//! It does not know what the rows mean.

use std::cell::RefCell;

use bankroll_ledger::{ColumnValue, Row};

use crate::{
    DatabaseUrl, Ledger, Reader, RowsRejection, Statement, StoreError, SubmitError, engine::postgres::FlowConnection,
};

/// The rows of flows.
pub struct Rows {
    reader: Reader,
    location: RowsLocation,
    /// The open connection to a database whose writer is in another process.
    connection: RefCell<Option<FlowConnection>>,
}

/// Where the rows of flows are written.
#[derive(Clone, Debug)]
pub enum RowsLocation {
    /// Through the writer in this process.
    Writer(Ledger),
    /// Into a database whose writer is in another process.
    Database(DatabaseUrl),
}

impl From<&Ledger> for RowsLocation {
    fn from(ledger: &Ledger) -> Self {
        Self::Writer(ledger.clone())
    }
}

impl From<DatabaseUrl> for RowsLocation {
    fn from(url: DatabaseUrl) -> Self {
        Self::Database(url)
    }
}

impl From<&Self> for RowsLocation {
    fn from(location: &Self) -> Self {
        location.clone()
    }
}

/// Why rows were not written, or not certainly.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// None was written.
    #[error("the rows were not written")]
    Rejected(#[from] RowsRejection),
    /// The writer did not accept them, or could not report the outcome.
    #[error("the writer has no answer")]
    Call(#[from] SubmitError),
    /// The database is unreachable, or could not report the outcome.
    #[error("the database has no answer")]
    Store(#[from] StoreError),
}

impl Rows {
    /// Opens the rows of the writer in this process, or of a database whose writer is in another process.
    ///
    /// # Errors
    /// If the books cannot be opened for reading.
    pub fn open(location: impl Into<RowsLocation>) -> Result<Self, StoreError> {
        let location = location.into();
        let reader = match &location {
            RowsLocation::Writer(ledger) => Reader::open(ledger.location()),
            RowsLocation::Database(url) => Reader::open(url.clone()),
        };
        Ok(Self { reader: reader?, location, connection: RefCell::default() })
    }

    /// A reader of the committed books.
    #[must_use]
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The rows that a query finds; see [`Reader::rows`].
    ///
    /// # Errors
    /// If the books cannot be read, or the database rejects the query.
    pub fn read(&self, sql: &str, values: Vec<ColumnValue>) -> Result<Vec<Row>, StoreError> {
        self.reader.rows(sql, values)
    }

    /// Writes rows, all or none, and waits until they are durable. Returns how many rows each statement changed.
    ///
    /// # Errors
    /// See [`RowsError`].
    pub fn write(&self, statements: Vec<Statement>) -> Result<Vec<u64>, RowsError> {
        let written = match &self.location {
            RowsLocation::Writer(ledger) => {
                let reply = ledger.write_rows_in_turn(statements).map_err(SubmitError::from)?;
                reply.wait().map_err(SubmitError::from)?
            }
            RowsLocation::Database(url) => {
                let known = self.connection.borrow_mut().take();
                let connection = known.map_or_else(|| FlowConnection::connect(url), Ok)?;
                // After an error the connection is not used again.
                let written = connection.write(&statements)?;
                *self.connection.borrow_mut() = Some(connection);
                written
            }
        };
        Ok(written?)
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Rows")
    }
}
