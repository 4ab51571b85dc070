//! The present holder of the books, read from the primary: for nodes that wait for the lease, and for nodes that call
//! its holder.
//!
//! It only reads, over a connection of its own that is reopened when it is lost. It never reads from a standby, which
//! may lag. The answer may be outdated a moment later: callers must handle a refusal by the holder.

use std::time::Duration;

use super::{Session, open_for_reading};
use crate::{DatabaseUrl, StoreError, engine::stored};

/// The writer that has the lease on the books, or had it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    /// The name it acquired the lease under; no other writer ever has it.
    pub name: String,
    /// Where it answers other nodes; empty if it does not, or has released the books.
    pub address: String,
    /// Raised by a writer that takes over, and sometimes by the holder itself.
    pub epoch: u64,
    /// What is left of the lease unless it is renewed; zero if it has expired.
    pub left: Duration,
    moves: bool,
}

impl LeaseHolder {
    /// Whether books are being moved into this database, or such a move was interrupted; they are incomplete.
    #[must_use]
    pub const fn is_move(&self) -> bool {
        self.moves
    }
}

/// Reads the lease of one database.
pub struct LeaseWatch {
    url: DatabaseUrl,
    session: Option<Session>,
}

impl LeaseWatch {
    /// Connects on first use.
    #[must_use]
    pub fn new(url: DatabaseUrl) -> Self {
        Self { url, session: None }
    }

    /// The present holder, or the last one; `None` if there are no books yet.
    ///
    /// # Errors
    /// If the primary is unreachable.
    pub fn holder(&mut self) -> Result<Option<LeaseHolder>, StoreError> {
        let session = match self.session.take().filter(|session| !session.is_lost()) {
            Some(session) => session,
            None => match open_for_reading(&self.url) {
                Err(StoreError::NoBooks) => return Ok(None),
                opened => opened?,
            },
        };
        let sql = "SELECT holder, address, epoch,
                     greatest(extract(epoch FROM lease_until - clock_timestamp()) * 1000, 0)::bigint, moves
                   FROM books.ledger_head";
        // After an error the connection is not used again.
        let row = session.one(sql, &[])?;
        self.session = Some(session);
        let (epoch, left) = (stored::number(&row, 2)?, Duration::from_millis(stored::number(&row, 3)?));
        Ok(Some(LeaseHolder { name: row.get(0), address: row.get(1), epoch, left, moves: row.get(4) }))
    }
}

impl std::fmt::Debug for LeaseWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LeaseWatch")
    }
}
