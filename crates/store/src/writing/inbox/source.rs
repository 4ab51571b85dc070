//! Reading the inbox: a connection of its own, on either engine, reopened when it is lost.

use bankroll_ledger::{Row, Time};

use super::table::{InboxRow, InboxTable};
use crate::{
    BOOKS_FILE, Location, Statement, StoreError,
    engine::{
        Source,
        postgres::FlowConnection,
        sqlite::{SqliteSource, open_read_only},
    },
};

/// Reads inbox tables without the writer, also from another node; on Postgres from the primary.
pub(super) struct InboxSource {
    location: Location,
    connection: Option<InboxConnection>,
}

enum InboxConnection {
    Sqlite(SqliteSource),
    Postgres(Box<FlowConnection>),
}

impl InboxSource {
    /// Connects on first use.
    pub fn new(location: impl Into<Location>) -> Self {
        Self { location: location.into(), connection: None }
    }

    pub fn waiting(
        &mut self,
        table: InboxTable,
        kinds: &[String],
        now: Time,
        most: usize,
    ) -> Result<Vec<InboxRow>, StoreError> {
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        self.rows(&table.waiting(kinds, now, most))?.iter().map(InboxRow::from_row).collect()
    }

    fn rows(&mut self, query: &Statement) -> Result<Vec<Row>, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => match &self.location {
                Location::Folder(folder) => InboxConnection::Sqlite(open_read_only(&folder.join(BOOKS_FILE))?),
                Location::Postgres(url) => InboxConnection::Postgres(Box::new(FlowConnection::connect(url)?)),
            },
        };
        // After an error the connection is not used again.
        let rows = match &connection {
            InboxConnection::Sqlite(reader) => reader.flow_rows(query)?,
            InboxConnection::Postgres(connection) => connection.rows(query)?,
        };
        self.connection = Some(connection);
        Ok(rows)
    }
}
