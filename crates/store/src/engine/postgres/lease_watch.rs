//! Who holds the books, as the primary says: for nodes that wait for the lease, and for nodes that ask its holder.
//!
//! It only reads, over a connection of its own that is made anew when it is lost. It never asks a standby, whose answer
//! could be of yesterday. What it answers may be over a moment later: whoever acts on it must stand being refused.

use std::time::Duration;

use super::{Session, open_for_reading};
use crate::{DatabaseUrl, StoreError, engine::stored};

/// Who has the lease on books, or had it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseHolder {
    /// The name it took the lease under; no other writer ever has it.
    pub name: String,
    /// Where it answers other nodes; empty if it does not, or has given the books up.
    pub address: String,
    /// Raised by whoever takes over, and now and then by the holder itself.
    pub epoch: u64,
    /// How long its lease still is unless it is renewed; nothing if it is over.
    pub left: Duration,
    moves: bool,
}

impl LeaseHolder {
    /// Whether books are being moved here, or were when that was interrupted; those are not whole.
    #[must_use]
    pub const fn is_move(&self) -> bool {
        self.moves
    }
}

/// Looks at the lease of one database.
pub struct LeaseWatch {
    url: DatabaseUrl,
    session: Option<Session>,
}

impl LeaseWatch {
    /// Connects when it first looks.
    #[must_use]
    pub fn new(url: DatabaseUrl) -> Self {
        Self { url, session: None }
    }

    /// Who has the lease now, or had it last; `None` if there are no books yet.
    ///
    /// # Errors
    /// If the primary cannot be asked.
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

    /// TEMPORARY alias of [`LeaseWatch::holder`].
    ///
    /// # Errors
    /// If the primary cannot be asked.
    pub fn look(&mut self) -> Result<Option<LeaseHolder>, StoreError> {
        self.holder()
    }
}

impl std::fmt::Debug for LeaseWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}
