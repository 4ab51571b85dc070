//! Postgres: the same books on a server, safe with several machines.
//!
//! - One row, `ledger_head`, says who writes: its epoch is raised by whoever takes over, and every commit updates it where
//!   epoch and place are the writer's own. Whoever was replaced cannot commit, whatever its clock says.
//! - The lease in that row is about waiting, not about safety: it keeps a standby from taking over too early, by the
//!   server's clock, and tells a writer by its own monotonic clock when it must ask before it answers.
//! - A commit whose outcome is unknown (the connection was lost, the server warned that it may not be replicated) is
//!   looked up: lock the row, which waits for the old connection's transaction, raise the epoch, compare.
//! - The server ends a transaction that its client leaves alone for as long as the lease: a writer that was stopped in
//!   the middle of one keeps nobody from taking over.
//!
//! A batch of money is one statement and one round trip (`whole.rs`). What else a batch may have, new accounts, facts, rows of
//! flows, takes a transaction of several (`commit.rs`).

mod columns;
mod commit;
mod connection_config;
mod flow_connection;
mod flows;
mod lease;
mod lease_watch;
mod migrate;
mod numeric;
mod rebuild;
mod row;
mod session;
mod single_statement;
mod source;
mod statement_index;
mod tls;

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use bankroll_ledger::{Batch, Row, RowKey, Time};

use super::{Commit, CommitError, Engine, JournalHead, Records, RowsOutcome, Source};
use crate::{Migrations, StoreError, location::DatabaseUrl};
use commit::TransactionError;
pub(crate) use connection_config::ConnectionConfig;
pub(crate) use flow_connection::FlowConnection;
pub(crate) use lease::{LeaseClaim, is_transient};
pub use lease_watch::{LeaseHolder, LeaseWatch};
pub(crate) use session::Session;
pub(crate) use statement_index::{StatementTables, open_statement_tables};

/// A hundred years.
const MOVE_LEASE: Duration = Duration::from_secs(3_155_760_000);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the other side may leave what we sent unacknowledged before the connection counts as lost.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);

/// The books of one database, open for writing.
pub(crate) struct Postgres {
    session: Session,
    /// The name this writer took the lease under; no other writer ever has it.
    holder: String,
    epoch: i64,
    lease: Duration,
    /// When the lease was last taken or renewed: the moment before that was asked for.
    renewed: Instant,
    /// Where the journal ended before the batch that is being written.
    head: JournalHead,
    /// Where it ends if that batch is committed.
    next_head: JournalHead,
    keeps_lease: bool,
}

impl Postgres {
    /// Connects, migrates, and takes the lease; refuses while another process has it.
    pub fn open(url: &DatabaseUrl, claim: LeaseClaim, sets: &[Migrations], now: Time) -> Result<Self, StoreError> {
        let session = Session::connect(url.read()?)?;
        migrate::migrate(&session, sets, now)?;
        session.limit_idle_transactions(claim.lease)?;
        let renewed = Instant::now();
        let epoch = lease::acquire(&session, &claim)?;
        let head = session.head()?;
        let LeaseClaim { holder, lease, .. } = claim;
        let engine = Self { session, holder, epoch, lease, renewed, head, next_head: head, keeps_lease: false };
        engine.check_head()?;
        Ok(engine)
    }

    /// From here on nobody else gets the books, in whatever way this one ends, until it has said that they are whole.
    pub fn lease_until_complete(&mut self) -> Result<(), StoreError> {
        (self.lease, self.keeps_lease) = (MOVE_LEASE, true);
        self.renew()
    }

    /// Whoever comes next may have them.
    pub fn mark_complete(&mut self) -> Result<(), StoreError> {
        lease::release(&self.session, self.epoch)?;
        self.keeps_lease = false;
        Ok(())
    }

    /// The row that fences must say what the journal says.
    fn check_head(&self) -> Result<(), StoreError> {
        if lease::stored_head(&self.session)? == self.head {
            Ok(())
        } else {
            Err(StoreError::diverged(self.head.seq, "the head is not where the journal ends"))
        }
    }
}

/// A connection for reading, renewed whenever it is lost.
pub(crate) fn open_for_reading(url: &DatabaseUrl) -> Result<Session, StoreError> {
    let session = Session::connect(url.read()?)?.auto_reconnecting();
    migrate::check_books_known(&session)?;
    Ok(session)
}

impl Engine for Postgres {
    fn source(&self) -> &dyn Source {
        &self.session
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        if self.renewed.elapsed() * 3 >= self.lease { self.renew() } else { Ok(()) }
    }

    fn end_unwritten(&mut self) -> Result<(), StoreError> {
        // Nothing is committed, so nothing is fenced: an answer from memory needs a lease that is ours for certain.
        if self.renewed.elapsed() >= self.lease { self.renew() } else { Ok(()) }
    }

    fn reconnect(&mut self) -> Result<(), StoreError> {
        self.reconnect_and_resolve().map(drop)
    }

    fn row(&mut self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        row::read(&self.session, key)
    }

    fn open_reader(&self) -> Result<Box<dyn Source>, StoreError> {
        Ok(Box::new(self.session.another()?.auto_reconnecting()))
    }

    fn sweep_chunks(&mut self, live: &[Range<u64>]) -> Result<(), StoreError> {
        commit::sweep_chunks(&self.session, live)
    }

    fn write(&mut self, commit: &Commit<'_>) -> Result<Vec<RowsOutcome>, CommitError> {
        self.next_head = self.head;
        let written = commit::write(self, commit);
        written.map_err(|failure| self.abandon(failure))
    }

    fn append(&mut self, batch: &Batch, records: &Records) -> Result<(), CommitError> {
        let appended = commit::append(self, batch, records);
        appended.map_err(|failure| self.abandon(failure))
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        let asked = Instant::now();
        self.session.take_warning();
        let epoch = if self.next_head == self.head { self.epoch + lease::COMMIT_MARK } else { self.epoch };
        let committed = if epoch == self.epoch {
            self.session.run("COMMIT")
        } else {
            // No record will tell whether this one is there, so the epoch does.
            self.session.run(&format!("UPDATE books.ledger_head SET epoch = {epoch} WHERE one; COMMIT"))
        };
        if committed.is_ok() && !self.session.take_warning() {
            (self.head, self.epoch, self.renewed) = (self.next_head, epoch, asked);
            return Ok(());
        }
        self.resolve()
    }

    fn can_store_at_once(&self, commit: &Commit<'_>) -> bool {
        single_statement::can_store(commit)
    }

    fn store_at_once(&mut self, commit: &Commit<'_>, batch: &Batch, records: &Records) -> Result<(), CommitError> {
        let asked = Instant::now();
        self.session.take_warning();
        self.next_head = single_statement::head_after(batch);
        let stored = single_statement::store(self, commit, batch, records);
        match stored {
            Ok(1) if !self.session.take_warning() => {
                (self.head, self.renewed) = (self.next_head, asked);
                Ok(())
            }
            // It was refused as a whole, before anything of it was committed.
            Err(error) if !self.session.is_lost() && !is_transient(&error) => Err(match error.into() {
                TransactionError::Full => CommitError::NothingHappened(StoreError::Full),
                failure => CommitError::Fatal(failure.into_error()),
            }),
            _ => self.resolve(),
        }
    }

    fn after_commit(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn max_idle(&self) -> Option<Duration> {
        Some(self.lease / 3)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if !self.keeps_lease {
            // Whoever waits need not wait for the lease to run out; if this fails, it does.
            let _ = lease::release(&self.session, self.epoch);
        }
    }
}
