//! Who writes: taking the lease, renewing it, and finding out what became of a commit.

use std::{
    error::Error,
    thread,
    time::{Duration, Instant},
};

use bankroll_ledger::Time;
use tokio_postgres::error::SqlState;

use super::{Postgres, commit::TransactionError, session::Session, source::sql_number};
use crate::{
    JournalHead, StoreError,
    engine::{CommitError, stored},
};

/// How long a commit whose outcome is unknown is asked after before the writer gives up and stops.
const RESOLVE_WITHIN: Duration = Duration::from_secs(20);
const RESOLVE_PAUSE: Duration = Duration::from_millis(50);

/// What a commit without records raises the epoch by, and what looking after an unknown one does: an odd difference to
/// the epoch the writer had says that the commit is there, however often it was looked after.
pub(super) const COMMIT_MARK: i64 = 1;
const RESOLVE_STEP: i64 = 2;

/// What a writer takes the lease with.
pub(crate) struct LeaseClaim {
    /// A name that no other writer has or ever had.
    pub holder: String,
    /// Where it answers other nodes; empty if it does not.
    pub address: String,
    pub lease: Duration,
    /// Whether it moves books into the database, which are not whole until it has given the lease back.
    pub moves: bool,
}

/// Takes the lease if nobody has it, and raises the epoch, so that whoever had it cannot commit any more.
pub(super) fn acquire(session: &Session, claim: &LeaseClaim) -> Result<i64, StoreError> {
    session.run("BEGIN")?;
    let taken = try_acquire(session, claim);
    session.run(if taken.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    if session.take_warning() {
        // Not replicated for certain: whoever asked will ask again.
        return Err(StoreError::Unreachable);
    }
    taken
}

fn try_acquire(session: &Session, claim: &LeaseClaim) -> Result<i64, StoreError> {
    // Locking the row waits for a transaction of the last holder that is still on its way.
    let sql = "SELECT epoch, holder, extract(epoch FROM lease_until - clock_timestamp())::float8 FROM books.ledger_head
               FOR UPDATE";
    let row = session.one(sql, &[])?;
    let (epoch, last_holder, seconds_left): (i64, String, f64) = (row.get(0), row.get(1), row.get(2));
    if seconds_left > 0.0 {
        return Err(StoreError::Leased { holder: last_holder, seconds_left: seconds_left.ceil() as u64 });
    }
    let sql = "UPDATE books.ledger_head SET epoch = $1, holder = $2, address = $3, moves = $5,
               lease_until = clock_timestamp() + make_interval(secs => $4) WHERE one";
    let lease = claim.lease.as_secs_f64();
    session.execute(sql, &[&(epoch + 1), &claim.holder, &claim.address, &lease, &claim.moves])?;
    Ok(epoch + 1)
}

/// Lets the lease end now, and sends nobody here any more.
pub(super) fn release(session: &Session, epoch: i64) -> Result<(), tokio_postgres::Error> {
    let sql =
        "UPDATE books.ledger_head SET lease_until = clock_timestamp(), address = '', moves = false WHERE epoch = $1";
    session.execute(sql, &[&epoch]).map(drop)
}

/// Where the journal ends, by the row that fences.
pub(super) fn stored_head(session: &Session) -> Result<JournalHead, StoreError> {
    let row = session.one("SELECT batch, seq, at, hash FROM books.ledger_head", &[])?;
    let (batch, seq, at) = (stored::number(&row, 0)?, stored::seq(&row, 1)?, Time(stored::number(&row, 2)?));
    Ok(JournalHead { batch, seq, at, hash: stored::hash(&row, 3)? })
}

impl Postgres {
    /// Renews the lease; an error if another writer has taken over.
    pub(super) fn renew(&mut self) -> Result<(), StoreError> {
        let asked = Instant::now();
        let sql = "UPDATE books.ledger_head SET lease_until = clock_timestamp() + make_interval(secs => $2)
                   WHERE epoch = $1";
        let renewed = self.session.execute(sql, &[&self.epoch, &self.lease.as_secs_f64()]);
        match renewed {
            Ok(1) => {
                self.renewed = asked;
                Ok(())
            }
            Ok(_) => Err(StoreError::Fenced),
            // Whether it was renewed does not matter; whether the books are still ours does.
            Err(error) if self.session.is_lost() || is_transient(&error) => self.reconnect_and_resolve().map(drop),
            Err(error) => Err(error.into()),
        }
    }

    /// The transaction is over; nothing of it happened unless another writer says otherwise.
    pub(super) fn abandon(&mut self, failure: TransactionError) -> CommitError {
        match failure {
            TransactionError::Fenced => CommitError::Fatal(StoreError::Fenced),
            _ if self.session.is_lost() => self.give_up_connection(),
            failure => match (self.session.run("ROLLBACK"), failure) {
                // A server that goes down says so before it closes the connection.
                (Err(_), _) => self.give_up_connection(),
                (Ok(()), TransactionError::Fact(place)) => CommitError::FactRefused(place),
                (Ok(()), TransactionError::Full) => CommitError::NothingHappened(StoreError::Full),
                (Ok(()), TransactionError::Database(error)) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                    CommitError::NothingHappened(StoreError::Locked)
                }
                (Ok(()), TransactionError::Database(error)) if is_transient(&error) => {
                    CommitError::NothingHappened(StoreError::Unreachable)
                }
                (Ok(()), TransactionError::Database(error)) => CommitError::Fatal(error.into()),
                (Ok(()), TransactionError::Fenced) => CommitError::Fatal(StoreError::Fenced),
            },
        }
    }

    /// The connection was lost before COMMIT was sent, so that nothing of the batch can have happened.
    fn give_up_connection(&mut self) -> CommitError {
        match self.reconnect_and_resolve() {
            Err(error) => CommitError::Fatal(error),
            Ok(true) => {
                let what = "a batch was committed that was not finished";
                CommitError::Fatal(StoreError::diverged(self.head.seq, what))
            }
            Ok(false) => CommitError::NothingHappened(StoreError::Unreachable),
        }
    }

    /// COMMIT was sent, and what became of it is unknown.
    pub(super) fn resolve(&mut self) -> Result<(), CommitError> {
        match self.reconnect_and_resolve() {
            Ok(true) => Ok(()),
            Ok(false) => Err(CommitError::NothingHappened(StoreError::Unreachable)),
            Err(error) => Err(CommitError::Fatal(error)),
        }
    }

    /// A new connection, and whether the batch that was being written is there. Raising the epoch makes sure
    /// that the old connection's transaction is over for good, and its own commit that all before it is replicated.
    pub(super) fn reconnect_and_resolve(&mut self) -> Result<bool, StoreError> {
        let until = Instant::now() + RESOLVE_WITHIN;
        loop {
            match self.try_reconnect() {
                Err(StoreError::Unreachable | StoreError::Postgres(_)) if Instant::now() < until => {
                    thread::sleep(RESOLVE_PAUSE);
                }
                resolved => return resolved,
            }
        }
    }

    fn try_reconnect(&mut self) -> Result<bool, StoreError> {
        let session = self.session.another()?;
        session.limit_idle_transactions(self.lease)?;
        let asked = Instant::now();
        session.run("BEGIN")?;
        let row = session.one("SELECT epoch, seq, hash, holder FROM books.ledger_head FOR UPDATE", &[])?;
        let (epoch, seq, hash): (i64, u64, Vec<u8>) = (row.get(0), stored::number(&row, 1)?, row.get(2));
        let is = |head: &JournalHead| seq == head.seq.0 && hash == head.hash;
        // The holder's name is used once, so whoever took over has written another one.
        if row.get::<_, &str>(3) != self.holder {
            return Err(StoreError::Fenced);
        }
        if !(is(&self.head) || is(&self.next_head)) {
            return Err(StoreError::diverged(self.head.seq, "the server has forgotten what it had committed"));
        }
        let has_records = self.next_head != self.head;
        let is_marked = (epoch - self.epoch) % RESOLVE_STEP == COMMIT_MARK;
        let committed = if has_records { is(&self.next_head) } else { is_marked };
        let sql = "UPDATE books.ledger_head SET epoch = $1, lease_until = clock_timestamp() + make_interval(secs => $2)
                   WHERE one";
        session.execute(sql, &[&(epoch + RESOLVE_STEP), &self.lease.as_secs_f64()])?;
        session.take_warning();
        session.run("COMMIT")?;
        if session.take_warning() {
            return Err(StoreError::Unreachable);
        }
        (self.session, self.epoch, self.renewed) = (session, epoch + RESOLVE_STEP, asked);
        if committed {
            self.head = self.next_head;
        } else {
            self.next_head = self.head;
        }
        Ok(committed)
    }
}

/// Whether the server or the way to it failed for a moment, and not the statement: the connection is gone, the server
/// goes down or comes up, somebody cancelled, a deadlock was broken, memory or locks ran out.
pub(crate) fn is_transient(error: &tokio_postgres::Error) -> bool {
    let is_io = || error.source().is_some_and(|source| source.is::<std::io::Error>());
    match error.code().map(SqlState::code) {
        Some(code) => ["08", "25P03", "40", "53", "55", "57"].iter().any(|class| code.starts_with(class)),
        None => error.is_closed() || is_io(),
    }
}

/// Where a journal ends, for the row that fences.
pub(super) fn head_values(head: &JournalHead) -> (i64, i64, i64, Vec<u8>) {
    (sql_number(head.batch), sql_number(head.seq.0), sql_number(head.at.0), head.hash.to_vec())
}
