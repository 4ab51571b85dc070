//! Rebuilding the derived tables from the journal.

use rusqlite::{Connection, TransactionBehavior};

use super::commit;
use crate::{StoreError, engine::DerivedTables};

/// Whether accounts, balances and assets have lost no row: they are numbered without gaps, their last numbers are kept
/// apart, and every account has a balance. (The audit finds other losses and edits.)
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
pub(super) fn rebuild(connection: &mut Connection, derived: &DerivedTables) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "DELETE FROM assets; DELETE FROM accounts; DELETE FROM balances; DELETE FROM holds; DELETE FROM reversals;",
    )?;
    commit::write_derived(&transaction, &derived.commit())?;
    Ok(transaction.commit()?)
}
