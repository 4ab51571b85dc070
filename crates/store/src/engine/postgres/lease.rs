//! The lease: acquiring and renewing it, and resolving a commit with an unknown outcome.

use std::{
    error::Error,
    thread,
    time::{Duration, Instant},
};

use bankroll_ledger::Time;
use tokio_postgres::error::SqlState;

use super::{Postgres, commit::TransactionError, migrate::has_books, session::Session, source::sql_number};
use crate::{
    DatabaseUrl, JournalHead, StoreError,
    engine::{CommitError, stored},
};

/// How long the writer tries to resolve a commit with an unknown outcome before it stops.
const RESOLVE_WITHIN: Duration = Duration::from_secs(20);
const RESOLVE_PAUSE: Duration = Duration::from_millis(50);

/// A commit without records raises the epoch by `COMMIT_MARK`, each attempt to resolve an unknown one by
/// `RESOLVE_STEP`: an odd difference to the writer's epoch means that the commit is stored, after any number of
/// attempts.
pub(super) const COMMIT_MARK: i64 = 1;
const RESOLVE_STEP: i64 = 2;

/// What a writer acquires the lease with.
pub(crate) struct LeaseClaim {
    /// A name that no other writer has or ever had.
    pub holder: String,
    /// Where this writer answers other nodes; empty if it does not.
    pub address: String,
    pub lease: Duration,
    /// Whether it moves books into the database, which are incomplete until it releases the lease.
    pub moves: bool,
    pub on_finding: OnFinding,
}

/// What a noted finding means for a writer that wants the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFinding {
    /// It would decide by books that are not sound: refused.
    Refuse,
    /// It repairs the books, or what it changes does not depend on the finding, which stays noted.
    Acquire,
}

/// Acquires the lease if it is free, and raises the epoch, so that the last holder cannot commit any more.
pub(super) fn acquire(session: &Session, claim: &LeaseClaim) -> Result<i64, StoreError> {
    session.run("BEGIN")?;
    let taken = try_acquire(session, claim);
    session.run(if taken.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    if session.take_warning() {
        // Perhaps not replicated: the caller will retry.
        return Err(StoreError::Unreachable);
    }
    taken
}

fn try_acquire(session: &Session, claim: &LeaseClaim) -> Result<i64, StoreError> {
    // Locking the row waits for a transaction of the last holder that is still in flight.
    let sql = "SELECT epoch, holder, extract(epoch FROM lease_until - clock_timestamp())::float8, finding
               FROM books.ledger_head FOR UPDATE";
    let row = session.one(sql, &[])?;
    let (epoch, last_holder, seconds_left): (i64, String, f64) = (row.get(0), row.get(1), row.get(2));
    if seconds_left > 0.0 {
        return Err(StoreError::Leased { holder: last_holder, seconds_left: seconds_left.ceil() as u64 });
    }
    if let (OnFinding::Refuse, Some(finding)) = (claim.on_finding, row.get(3)) {
        return Err(StoreError::FoundUnsound { finding });
    }
    let sql = "UPDATE books.ledger_head SET epoch = $1, holder = $2, address = $3, moves = $5,
               lease_until = clock_timestamp() + make_interval(secs => $4) WHERE one";
    let lease = claim.lease.as_secs_f64();
    session.execute(sql, &[&(epoch + 1), &claim.holder, &claim.address, &lease, &claim.moves])?;
    Ok(epoch + 1)
}

/// Ends the lease now, and removes the address, so that other nodes stop calling this one.
pub(super) fn release(session: &Session, epoch: i64) -> Result<(), tokio_postgres::Error> {
    let sql =
        "UPDATE books.ledger_head SET lease_until = clock_timestamp(), address = '', moves = false WHERE epoch = $1";
    session.execute(sql, &[&epoch]).map(drop)
}

/// Whether the database has the books of this move, which has not released its lease.
pub(crate) fn is_move_unfinished(url: &DatabaseUrl, holder: &str) -> Result<bool, StoreError> {
    let session = Session::connect(url.read()?)?;
    if !has_books(&session)? {
        return Ok(false);
    }
    let sql = "SELECT count(*) FROM books.ledger_head WHERE moves AND holder = $1";
    Ok(session.one(sql, &[&holder])?.get::<_, i64>(0) == 1)
}

/// Releases the lease of a move whose process has ended.
pub(crate) fn finish_move(url: &DatabaseUrl, holder: &str) -> Result<(), StoreError> {
    let session = Session::connect(url.read()?)?;
    let sql = "UPDATE books.ledger_head SET lease_until = clock_timestamp(), address = '', moves = false
               WHERE moves AND holder = $1";
    session.execute(sql, &[&holder])?;
    Ok(())
}

/// Where the journal ends, by the fencing row.
pub(super) fn stored_head(session: &Session) -> Result<JournalHead, StoreError> {
    let row = session.one("SELECT batch, seq, at, hash FROM books.ledger_head", &[])?;
    let (batch, seq, at) = (stored::number(&row, 0)?, stored::seq(&row, 1)?, Time(stored::number(&row, 2)?));
    Ok(JournalHead { batch, seq, at, hash: stored::hash(&row, 3)? })
}

impl Postgres {
    /// Renews the lease; an error if another writer has taken over.
    pub(crate) fn renew(&mut self) -> Result<(), StoreError> {
        let sent_at = Instant::now();
        let sql = "UPDATE books.ledger_head SET lease_until = clock_timestamp() + make_interval(secs => $2)
                   WHERE epoch = $1";
        let renewed = self.session.execute(sql, &[&self.epoch, &self.lease.as_secs_f64()]);
        match renewed {
            Ok(1) => {
                self.renewed = sent_at;
                Ok(())
            }
            Ok(_) => Err(StoreError::Fenced),
            // Whether it was renewed does not matter; whether this writer still holds the lease does.
            Err(error) if self.session.is_lost() || is_transient(&error) => self.reconnect_and_resolve().map(drop),
            Err(error) => Err(error.into()),
        }
    }

    /// Rolls the transaction back and classifies the failure.
    pub(super) fn abandon(&mut self, failure: TransactionError) -> CommitError {
        match failure {
            TransactionError::Fenced => CommitError::Fatal(StoreError::Fenced),
            _ if self.session.is_lost() => self.give_up_connection(),
            failure => match (self.session.run("ROLLBACK"), failure) {
                // A server that shuts down reports that before it closes the connection.
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
                (Ok(()), failure @ (TransactionError::Fenced | TransactionError::Lost)) => {
                    CommitError::Fatal(failure.into_error())
                }
            },
        }
    }

    /// The connection was lost before COMMIT was sent, so nothing of the batch can be stored.
    fn give_up_connection(&mut self) -> CommitError {
        match self.reconnect_and_resolve() {
            Err(error) => CommitError::Fatal(error),
            Ok(true) => {
                let what = "an unfinished batch was committed";
                CommitError::Fatal(StoreError::diverged(self.head.seq, what))
            }
            Ok(false) => CommitError::NothingHappened(StoreError::Unreachable),
        }
    }

    /// COMMIT was sent, and its outcome is unknown.
    pub(super) fn resolve(&mut self) -> Result<(), CommitError> {
        match self.reconnect_and_resolve() {
            Ok(true) => Ok(()),
            Ok(false) => Err(CommitError::NothingHappened(StoreError::Unreachable)),
            Err(error) => Err(CommitError::Fatal(error)),
        }
    }

    /// Opens a new connection; returns whether the batch that was being written is stored. Raising the epoch makes
    /// sure that the old connection's transaction is over, and committing that makes sure that everything before it
    /// is replicated.
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
        let session = self.session.connect_again()?;
        session.limit_idle_transactions(self.lease)?;
        let sent_at = Instant::now();
        session.run("BEGIN")?;
        let row = session.one("SELECT epoch, seq, hash, holder FROM books.ledger_head FOR UPDATE", &[])?;
        let (epoch, seq, hash): (i64, u64, Vec<u8>) = (row.get(0), stored::number(&row, 1)?, row.get(2));
        let is = |head: &JournalHead| seq == head.seq.0 && hash == head.hash;
        // Holder names are used once, so a writer that took over has written another one.
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
        (self.session, self.epoch, self.renewed) = (session, epoch + RESOLVE_STEP, sent_at);
        if committed {
            self.head = self.next_head;
        } else {
            self.next_head = self.head;
        }
        Ok(committed)
    }
}

/// Whether the error is transient, of the server or the connection and not of the statement: the connection is lost,
/// the server stops or starts, an operator cancelled, a deadlock was broken, memory or locks ran out.
pub(crate) fn is_transient(error: &tokio_postgres::Error) -> bool {
    let is_io = || error.source().is_some_and(|source| source.is::<std::io::Error>());
    match error.code().map(SqlState::code) {
        Some(code) => ["08", "25P03", "40", "53", "55", "57"].iter().any(|class| code.starts_with(class)),
        None => error.is_closed() || is_io(),
    }
}

/// Where a journal ends, as values of the fencing row.
pub(super) fn head_values(head: &JournalHead) -> (i64, i64, i64, Vec<u8>) {
    (sql_number(head.batch), sql_number(head.seq.0), sql_number(head.at.0), head.hash.to_vec())
}
