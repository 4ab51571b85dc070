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

mod address;
mod columns;
mod commit;
mod flows;
mod inbox;
mod lease;
mod migrate;
mod numeric;
mod rebuild;
mod row;
mod session;
mod source;
mod terms;
mod tls;
mod watch;
mod whole;

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use bankroll_ledger::{Batch, Row, RowKey, Time};

use super::{Commit, CommitError, Engine, Head, Records, RowsChanged, Source};
use crate::{Migrations, StoreError, location::DatabaseUrl};
pub(crate) use address::Address;
use commit::Trouble;
pub(crate) use inbox::Outside;
pub(crate) use lease::{Claim, is_passing};
pub(crate) use session::Session;
pub(crate) use terms::{StatementTables, open_statement_tables};
pub use watch::{Holder, Watch};

/// A hundred years.
const FOR_GOOD: Duration = Duration::from_secs(3_155_760_000);
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
    head: Head,
    /// Where it ends if that batch is committed.
    head_to_be: Head,
    keeps_lease: bool,
}

impl Postgres {
    /// Connects, migrates, and takes the lease; refuses while another process has it.
    pub fn open(url: &DatabaseUrl, claim: Claim, sets: &[Migrations], now: Time) -> Result<Self, StoreError> {
        let session = Session::connect(url.read()?)?;
        migrate::migrate(&session, sets, now)?;
        session.limit_silence_in_transactions(claim.lease)?;
        let renewed = Instant::now();
        let epoch = lease::take(&session, &claim)?;
        let head = session.head()?;
        let Claim { holder, lease, .. } = claim;
        let engine = Self { session, holder, epoch, lease, renewed, head, head_to_be: head, keeps_lease: false };
        engine.check_head()?;
        Ok(engine)
    }

    /// From here on nobody else gets the books, in whatever way this one ends, until it has said that they are whole.
    pub fn keep_for_good(&mut self) -> Result<(), StoreError> {
        (self.lease, self.keeps_lease) = (FOR_GOOD, true);
        self.renew()
    }

    /// Whoever comes next may have them.
    pub fn are_whole(&mut self) -> Result<(), StoreError> {
        lease::give_back(&self.session, self.epoch)?;
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
    let session = Session::connect(url.read()?)?.renewing();
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

    fn mend(&mut self) -> Result<(), StoreError> {
        self.reconnect().map(drop)
    }

    fn row(&mut self, key: &RowKey) -> Result<Option<Row>, StoreError> {
        row::read(&self.session, key)
    }

    fn beside(&self) -> Result<Box<dyn Source>, StoreError> {
        Ok(Box::new(self.session.another()?.renewing()))
    }

    fn sweep_chunks(&mut self, live: &[Range<u64>]) -> Result<(), StoreError> {
        commit::sweep_chunks(&self.session, live)
    }

    fn write(&mut self, commit: &Commit<'_>) -> Result<Vec<RowsChanged>, CommitError> {
        self.head_to_be = self.head;
        let written = commit::write(self, commit);
        written.map_err(|trouble| self.give_up(trouble))
    }

    fn append(&mut self, batch: &Batch, records: &Records) -> Result<(), CommitError> {
        let appended = commit::append(self, batch, records);
        appended.map_err(|trouble| self.give_up(trouble))
    }

    fn commit(&mut self) -> Result<(), CommitError> {
        let asked = Instant::now();
        self.session.take_warning();
        let epoch = if self.head_to_be == self.head { self.epoch + lease::MARK } else { self.epoch };
        let committed = if epoch == self.epoch {
            self.session.run("COMMIT")
        } else {
            // No record will tell whether this one is there, so the epoch does.
            self.session.run(&format!("UPDATE books.ledger_head SET epoch = {epoch} WHERE one; COMMIT"))
        };
        if committed.is_ok() && !self.session.take_warning() {
            (self.head, self.epoch, self.renewed) = (self.head_to_be, epoch, asked);
            return Ok(());
        }
        self.resolve()
    }

    fn stores_whole(&self, commit: &Commit<'_>) -> bool {
        whole::can_take(commit)
    }

    fn store_whole(&mut self, commit: &Commit<'_>, batch: &Batch, records: &Records) -> Result<(), CommitError> {
        let asked = Instant::now();
        self.session.take_warning();
        self.head_to_be = whole::head_after(batch);
        let stored = whole::store(self, commit, batch, records);
        match stored {
            Ok(1) if !self.session.take_warning() => {
                (self.head, self.renewed) = (self.head_to_be, asked);
                Ok(())
            }
            // It was refused as a whole, before anything of it was committed.
            Err(error) if !self.session.is_lost() && !is_passing(&error) => Err(match error.into() {
                Trouble::Full => CommitError::NothingHappened(StoreError::Full),
                trouble => CommitError::Fatal(trouble.into_error()),
            }),
            _ => self.resolve(),
        }
    }

    fn after_commit(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn rest_at_most(&self) -> Option<Duration> {
        Some(self.lease / 3)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if !self.keeps_lease {
            // Whoever waits need not wait for the lease to run out; if this fails, it does.
            let _ = lease::give_back(&self.session, self.epoch);
        }
    }
}
