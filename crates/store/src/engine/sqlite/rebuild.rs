//! Filling the derived tables again from the journal.

use bankroll_ledger::{Account, Hold, Record, Replay, Seq};
use rusqlite::{Connection, TransactionBehavior};

use super::{commit, load};
use crate::{StoreError, engine::Commit};

/// Whether accounts, balances and assets have lost no row: they are numbered without gaps, their last numbers are kept
/// apart, and every account has a balance. (What else could be lost or edited is the audit's to find.)
pub(super) fn is_complete(connection: &Connection) -> Result<bool, StoreError> {
    let sql = "SELECT (SELECT count(*) FROM accounts)
                    = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'accounts'), 0)
                  AND (SELECT count(*) FROM balances) = (SELECT count(*) FROM accounts)
                  AND (SELECT count(*) FROM assets)
                    = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'assets'), 0)
                  AND (EXISTS (SELECT * FROM assets) OR NOT EXISTS (SELECT * FROM journal))";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Empties the derived tables and fills them from the journal, in one transaction.
pub(super) fn rebuild(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "DELETE FROM assets; DELETE FROM accounts; DELETE FROM balances; DELETE FROM holds; DELETE FROM reversals;",
    )?;
    let mut replay = Replay::default();
    let mut next = Seq(1);
    loop {
        let page = load::records_from(&transaction, next, 10_000)?;
        let Some((last, _)) = page.last() else { break };
        next = last.next();
        for (seq, bytes) in &page {
            replay.apply(*seq, &Record::decode(bytes).map_err(StoreError::unreadable(*seq))?);
        }
    }
    let mut accounts: Vec<Account> = replay.books.accounts().cloned().collect();
    accounts.sort_by_key(|account| account.id);
    let holds: Vec<Hold> = replay.books.holds().copied().collect();
    let assets: Vec<_> = replay.assets.into_iter().collect();
    let reversals: Vec<_> = replay.reversals.into_iter().collect();
    let filled =
        Commit { assets: &assets, accounts: &accounts, holds: &holds, reversals: &reversals, ..Commit::default() };
    commit::write_derived(&transaction, &filled)?;
    Ok(transaction.commit()?)
}
