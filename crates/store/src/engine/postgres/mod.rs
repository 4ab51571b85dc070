//! Postgres: the same books on a server, safe with several machines.
//!
//! - One fencing row, `ledger_head`, names the writer: a writer that takes over raises its epoch, and every commit
//!   updates the row where epoch and place are the writer's own. A replaced writer cannot commit, regardless of its
//!   clock.
//! - The lease in that row is about waiting, not about safety: by the server's clock it keeps a standby from taking
//!   over too early; by the writer's own monotonic clock the writer knows when to renew before it answers.
//! - A commit whose outcome is unknown (the connection was lost, the server warned that it may not be replicated) is
//!   resolved: lock the row, which waits for the old connection's transaction, raise the epoch, compare.
//! - The server ends a transaction that is idle for as long as the lease: a writer that was suspended in the middle
//!   of a transaction does not block the next one.
//!
//! A batch of money is one statement and one round trip (`single_statement.rs`). Anything else (new accounts, facts,
//! rows of flows) takes a transaction of several statements (`commit.rs`).

mod columns;
mod commit;
mod connection_config;
mod damage;
mod finding;
mod flow_connection;
mod flows;
mod lease;
mod lease_watch;
mod migrate;
mod numeric;
mod rebuild;
mod row;
mod schema;
mod session;
mod single_statement;
mod source;
mod statement_index;
mod tls;
mod users;

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use bankroll_ledger::{Batch, Row, RowKey, Time};

use super::{Commit, CommitError, Engine, JournalHead, Opening, Records, RowsOutcome, Source};
use crate::{Migrations, StoreError, location::DatabaseUrl};
use commit::TransactionError;
pub(crate) use connection_config::ConnectionConfig;
pub(crate) use damage::locate_damage;
pub(crate) use finding::lift_finding;
pub(crate) use flow_connection::FlowConnection;
pub(crate) use lease::{LeaseClaim, OnFinding, finish_move, is_move_unfinished, is_transient};
pub use lease_watch::{LeaseHolder, LeaseWatch};
pub(crate) use session::Session;
pub(crate) use statement_index::{StatementTables, open_statement_tables};
pub use users::{DatabaseUser, UserReport, compare_user, write_users};

/// The lease during a move: a hundred years.
const MOVE_LEASE: Duration = Duration::from_secs(3_155_760_000);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the server may leave sent data unacknowledged before the connection counts as lost.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);

/// The books of one database, open for writing.
pub(crate) struct Postgres {
    session: Session,
    /// The name this writer took the lease under; no other writer ever has it.
    holder: String,
    epoch: i64,
    lease: Duration,
    /// When the lease was last acquired or renewed: the moment before the request was sent.
    renewed: Instant,
    /// Where the journal ended before the batch that is being written.
    head: JournalHead,
    /// Where it ends if that batch is committed.
    next_head: JournalHead,
    keeps_lease: bool,
}

impl Postgres {
    /// Connects, migrates or creates, and acquires the lease; fails while another process holds it.
    pub fn open(
        url: &DatabaseUrl,
        claim: LeaseClaim,
        opening: Opening,
        sets: &[Migrations],
        now: Time,
    ) -> Result<Self, StoreError> {
        let session = Session::connect(url.read()?)?;
        match (opening, migrate::has_books(&session)?) {
            (Opening::Existing, false) => return Err(StoreError::NoBooks),
            (Opening::New, true) => return Err(StoreError::NotEmpty),
            _ => {}
        }
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

    /// From here on no other process can open the books, in whatever way this one ends, until
    /// [`Postgres::mark_complete`].
    pub fn lease_until_complete(&mut self) -> Result<(), StoreError> {
        (self.lease, self.keeps_lease) = (MOVE_LEASE, true);
        self.renew()
    }

    /// The books are complete: releases the lease.
    pub fn mark_complete(&mut self) -> Result<(), StoreError> {
        lease::release(&self.session, self.epoch)?;
        self.keeps_lease = false;
        Ok(())
    }

    /// The fencing row must agree with the journal.
    fn check_head(&self) -> Result<(), StoreError> {
        if lease::stored_head(&self.session)? == self.head {
            Ok(())
        } else {
            Err(StoreError::diverged(self.head.seq, "the head is not where the journal ends"))
        }
    }
}

/// A connection for reading that reconnects whenever it is lost.
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
        // Without a commit there is no fence: an answer from memory needs a lease that is certainly ours.
        if self.renewed.elapsed() >= self.lease { self.renew() } else { Ok(()) }
    }

    fn reconnect(&mut self) -> Result<(), StoreError> {
        self.reconnect_and_resolve().map(drop)
    }

    fn row(&mut self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        row::read(&self.session, key)
    }

    fn open_reader(&self) -> Result<Box<dyn Source>, StoreError> {
        Ok(Box::new(self.session.connect_again()?.auto_reconnecting()))
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
        let sent_at = Instant::now();
        self.session.take_warning();
        let epoch = if self.next_head == self.head { self.epoch + lease::COMMIT_MARK } else { self.epoch };
        let committed = if epoch == self.epoch {
            self.session.run("COMMIT")
        } else {
            // A commit without records is recognised by the epoch.
            self.session.run(&format!("UPDATE books.ledger_head SET epoch = {epoch} WHERE one; COMMIT"))
        };
        if committed.is_ok() && !self.session.take_warning() {
            (self.head, self.epoch, self.renewed) = (self.next_head, epoch, sent_at);
            return Ok(());
        }
        self.resolve()
    }

    fn can_store_at_once(&self, commit: &Commit<'_>) -> bool {
        single_statement::can_store(commit)
    }

    fn store_at_once(&mut self, commit: &Commit<'_>, batch: &Batch, records: &Records) -> Result<(), CommitError> {
        let sent_at = Instant::now();
        self.session.take_warning();
        self.next_head = single_statement::head_after(batch);
        let stored = single_statement::store(self, commit, batch, records);
        match stored {
            Ok(1) if !self.session.take_warning() => {
                (self.head, self.renewed) = (self.next_head, sent_at);
                Ok(())
            }
            // The statement failed before anything was committed.
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

    fn note_finding(&mut self, finding: &str) -> Result<(), StoreError> {
        finding::note(&self.session, self.epoch, finding)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if !self.keeps_lease {
            // So that the next writer need not wait for the lease to expire; if this fails, it does.
            let _ = lease::release(&self.session, self.epoch);
        }
    }
}
