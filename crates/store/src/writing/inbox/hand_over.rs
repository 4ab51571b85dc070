//! Handing facts over: straight into the table on Postgres, through the writer's second lane on SQLite.

use super::table::{InboxTable, NewRow};
use crate::{
    CallError, DatabaseUrl, Ledger, RowsChanged, RowsRejected, Statement, StoreError, engine::postgres::Outside,
};

/// How often a fact is handed over before its giver hears that nobody can be reached.
const TRIES: u32 = 3;

/// The way into an inbox.
pub enum HandOver {
    /// With the writer in this process.
    Here(Ledger),
    /// To a database that a writer elsewhere reads.
    Database(Box<Database>),
}

/// A database, and the connection to it while there is one.
pub struct Database {
    url: DatabaseUrl,
    connection: Option<Outside>,
}

/// Why facts were not handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandOverError {
    /// Another fact is in the table under the id of the row at this place, or the row cannot be stored. None was added.
    #[error("row {row} is not the fact that is there under its id, or cannot be stored")]
    Rejected {
        /// Which, from 0.
        row: usize,
        /// Why.
        #[source]
        why: RowsRejected,
    },
    /// The writer did not take them, or could not tell. Handing the same over again is safe.
    #[error("the writer did not take them")]
    Call(#[from] CallError),
    /// The database is out of reach. Handing the same over again is safe.
    #[error("the database could not be written to")]
    Store(#[from] StoreError),
}

impl HandOver {
    /// To a writer elsewhere. Connects when it is first used.
    #[must_use]
    pub fn to(url: DatabaseUrl) -> Self {
        Self::Database(Box::new(Database { url, connection: None }))
    }

    /// Adds rows, all or none; those that are there already are left as they are. Durable when it returns.
    ///
    /// # Errors
    /// See [`HandOverError`]. Whatever it was, handing the same rows over again makes no second ones.
    pub fn add(&mut self, table: InboxTable, rows: &[NewRow]) -> Result<(), HandOverError> {
        if rows.is_empty() {
            return Ok(());
        }
        let statements: Vec<Statement> = rows.iter().map(|row| table.adding(row)).collect();
        let added = match self {
            Self::Here(ledger) => {
                let reply = ledger.write_rows_in_turn(statements).map_err(CallError::from)?;
                reply.wait().map_err(CallError::from)?
            }
            Self::Database(database) => database.write(&statements)?,
        };
        added.map(drop).map_err(|why| {
            let (RowsRejected::Constraint { index: row }
            | RowsRejected::Changed { index: row, .. }
            | RowsRejected::Malformed { index: row, .. }) = why;
            HandOverError::Rejected { row, why }
        })
    }
}

impl Database {
    /// Writes until it is known to be there: adding a row twice is adding it once.
    fn write(&mut self, statements: &[Statement]) -> Result<RowsChanged, StoreError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_write(statements) {
                Err(error) if error.is_passing() && tries < TRIES => {}
                written => return written,
            }
        }
    }

    fn try_write(&mut self, statements: &[Statement]) -> Result<RowsChanged, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => Outside::connect(&self.url)?,
        };
        // After an error the connection is not used again.
        let written = connection.write(statements)?;
        self.connection = Some(connection);
        Ok(written)
    }
}

impl std::fmt::Debug for HandOver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HandOver")
    }
}
