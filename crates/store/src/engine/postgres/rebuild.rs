//! Rebuilding the derived tables from the journal.

use super::{Postgres, commit, session::Session};
use crate::{
    StoreError,
    engine::{Commit, DerivedTables},
};

/// Rows written at a time.
const PAGE: usize = 10_000;

/// Whether accounts, balances and assets have lost no row and none has another number: they are numbered without
/// gaps, their last numbers are kept apart, and every account has a balance. (The audit finds other losses and
/// edits.)
fn is_complete(session: &Session) -> Result<bool, StoreError> {
    let is_unbroken = |table: &str, last: &str| {
        format!(
            "(SELECT count(*) = {last} AND coalesce(max(id), 0) = {last} AND coalesce(min(id), 1) = 1 FROM books.{table})"
        )
    };
    let sql = format!(
        "SELECT {} AND {} AND {} FROM books.ledger_head",
        is_unbroken("accounts", "last_account"),
        is_unbroken("balances", "last_account"),
        is_unbroken("assets", "last_asset"),
    );
    Ok(session.one(&sql, &[])?.get(0))
}

impl Postgres {
    /// If derived tables have lost rows, fills them again from the journal.
    pub fn restore_derived(&mut self) -> Result<(), StoreError> {
        if is_complete(&self.session)? {
            return Ok(());
        }
        let derived = DerivedTables::from_journal(&self.session)?;
        // If this fails, or its outcome is unknown, the next process that opens the books checks again.
        commit::begin(self).map_err(commit::TransactionError::into_error)?;
        self.session.run(
            "UPDATE books.ledger_head SET last_account = 0, last_asset = 0;
             DELETE FROM books.assets; DELETE FROM books.accounts; DELETE FROM books.balances; DELETE FROM books.holds;
             DELETE FROM books.reversals",
        )?;
        for page in pages(&derived) {
            commit::write_derived(&self.session, &page)?;
        }
        Ok(self.session.run("COMMIT")?)
    }
}

fn pages(derived: &DerivedTables) -> impl Iterator<Item = Commit<'_>> {
    let assets = std::iter::once(Commit { assets: &derived.assets, ..Commit::default() });
    let accounts = derived.accounts.chunks(PAGE).map(|accounts| Commit { accounts, ..Commit::default() });
    let holds = derived.holds.chunks(PAGE).map(|holds| Commit { holds, ..Commit::default() });
    let reversals = derived.reversals.chunks(PAGE).map(|reversals| Commit { reversals, ..Commit::default() });
    assets.chain(accounts).chain(holds).chain(reversals)
}
