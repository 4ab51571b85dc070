//! Who writes: taking the lease, renewing it, and finding out what became of a commit.

use std::{
    thread,
    time::{Duration, Instant},
};

use bankroll_ledger::{Seq, merkle::Hash};

use super::{
    Postgres,
    commit::Trouble,
    session::Session,
    source::{number, sql_number},
};
use crate::{StoreError, engine::CommitError};

/// How long a commit whose outcome is unknown is asked after before the writer gives up and stops.
const RESOLVE_WITHIN: Duration = Duration::from_secs(20);
const RESOLVE_PAUSE: Duration = Duration::from_millis(50);

/// Takes the lease if nobody has it, and raises the epoch, so that whoever had it cannot commit any more.
pub(super) fn take(session: &Session, holder: &str, lease: Duration) -> Result<i64, StoreError> {
    session.run("BEGIN")?;
    let taken = try_take(session, holder, lease);
    session.run(if taken.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    if session.take_warning() {
        // Not replicated for certain: whoever asked will ask again.
        return Err(StoreError::Unreachable);
    }
    taken
}

fn try_take(session: &Session, holder: &str, lease: Duration) -> Result<i64, StoreError> {
    // Locking the row waits for a transaction of the last holder that is still on its way.
    let sql = "SELECT epoch, holder, extract(epoch FROM lease_until - clock_timestamp())::float8 FROM books.ledger_head
               FOR UPDATE";
    let row = session.one(sql, &[])?;
    let (epoch, last_holder, seconds_left): (i64, String, f64) = (row.get(0), row.get(1), row.get(2));
    if seconds_left > 0.0 {
        return Err(StoreError::Leased { holder: last_holder, seconds_left: seconds_left.ceil() as u64 });
    }
    let sql = "UPDATE books.ledger_head SET epoch = $1, holder = $2,
               lease_until = clock_timestamp() + make_interval(secs => $3) WHERE one";
    session.execute(sql, &[&(epoch + 1), &holder, &lease.as_secs_f64()])?;
    Ok(epoch + 1)
}

/// Lets the lease end now.
pub(super) fn give_back(session: &Session, epoch: i64) -> Result<(), tokio_postgres::Error> {
    let sql = "UPDATE books.ledger_head SET lease_until = clock_timestamp() WHERE epoch = $1";
    session.execute(sql, &[&epoch]).map(drop)
}

/// Batch, place and hash in the row that fences.
pub(super) fn stored_head(session: &Session) -> Result<(u64, Seq, Hash), StoreError> {
    let row = session.one("SELECT batch, seq, hash FROM books.ledger_head", &[])?;
    let hash: &[u8] = row.get(2);
    let hash = hash.try_into().map_err(|_| StoreError::diverged(Seq(0), "a hash that is not of 32 bytes"))?;
    Ok((number(&row, 0), Seq(number(&row, 1)), hash))
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
            Err(_) if self.session.is_lost() => self.reconnect().map(drop),
            Err(error) => Err(error.into()),
        }
    }

    /// The transaction is over; nothing of it happened unless another writer says otherwise.
    pub(super) fn give_up(&mut self, trouble: Trouble) -> CommitError {
        match trouble {
            Trouble::Fenced => CommitError::Fatal(StoreError::Fenced),
            _ if self.session.is_lost() => match self.reconnect() {
                Err(error) => CommitError::Fatal(error),
                // COMMIT was never sent, so it cannot have happened.
                Ok(true) => {
                    let what = "a batch was committed that was not finished";
                    CommitError::Fatal(StoreError::diverged(self.head.seq, what))
                }
                Ok(false) => CommitError::NothingHappened(StoreError::Unreachable),
            },
            trouble => match (self.session.run("ROLLBACK"), trouble) {
                (Err(error), _) => CommitError::Fatal(error.into()),
                (Ok(()), Trouble::Fact(place)) => CommitError::FactRefused(place),
                (Ok(()), Trouble::Full) => CommitError::NothingHappened(StoreError::Full),
                (Ok(()), Trouble::Database(error)) => CommitError::Fatal(error.into()),
                (Ok(()), Trouble::Fenced) => CommitError::Fatal(StoreError::Fenced),
            },
        }
    }

    /// COMMIT was sent, and what became of it is unknown.
    pub(super) fn resolve(&mut self) -> Result<(), CommitError> {
        match self.reconnect() {
            Ok(true) => Ok(()),
            Ok(false) => Err(CommitError::NothingHappened(StoreError::Unreachable)),
            Err(error) => Err(CommitError::Fatal(error)),
        }
    }

    /// A new connection, and whether the batch that was being written is in the journal. Raising the epoch makes sure
    /// that the old connection's transaction is over for good, and its own commit that all before it is replicated.
    fn reconnect(&mut self) -> Result<bool, StoreError> {
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
        let asked = Instant::now();
        session.run("BEGIN")?;
        let row = session.one("SELECT epoch, seq, hash, holder FROM books.ledger_head FOR UPDATE", &[])?;
        let (epoch, seq, hash): (i64, u64, Vec<u8>) = (row.get(0), number(&row, 1), row.get(2));
        let is = |head: &crate::Head| seq == head.seq.0 && hash == head.hash;
        // The holder's name is used once, so whoever took over has written another one.
        if row.get::<_, &str>(3) != self.holder || !(is(&self.head) || is(&self.head_to_be)) {
            session.run("ROLLBACK")?;
            return Err(StoreError::Fenced);
        }
        let committed = is(&self.head_to_be) && self.head_to_be != self.head;
        let sql = "UPDATE books.ledger_head SET epoch = $1, lease_until = clock_timestamp() + make_interval(secs => $2)
                   WHERE one";
        session.execute(sql, &[&(epoch + 1), &self.lease.as_secs_f64()])?;
        session.take_warning();
        session.run("COMMIT")?;
        if session.take_warning() {
            return Err(StoreError::Unreachable);
        }
        (self.session, self.epoch, self.renewed) = (session, epoch + 1, asked);
        if committed {
            self.head = self.head_to_be;
        } else {
            self.head_to_be = self.head;
        }
        Ok(committed)
    }
}

/// Where a journal ends, for the row that fences.
pub(super) fn head_values(head: &crate::Head) -> (i64, i64, i64, Vec<u8>) {
    (sql_number(head.batch), sql_number(head.seq.0), sql_number(head.at.0), head.hash.to_vec())
}
