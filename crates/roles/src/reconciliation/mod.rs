//! Reconciliation at the indexer's block: what each wallet holds of each asset on its chain, compared to the base unit
//! with its account in the books and with every reason why the two may differ for a while.
//!
//! | file | what it does |
//! | --- | --- |
//! | `terms` | the comparison, pure |
//! | `books_side` | reads the rows and the books, all of them at one moment |
//! | `chain_side` | asks every provider for the balances at that block |
//! | `rows` | the table `wallet_balances`: what the alerts, the command and the payouts see |
//! | `watch` | the loop of the role `books` |
//! | `report` | one comparison for a person |
//! | `halt` | why nothing new is paid on a chain |
//!
//! The rows are what the chain is at the indexer's block, whatever was unwound before: so the balance is asked at the
//! hash of exactly that block, and no block is read again. A difference counts when two rounds have seen one.
//!
//! It does not know: where a difference comes from. `bankroll reconcile --at BLOCK` finds the block.

mod books_side;
mod chain_side;
mod halt;
mod report;
mod rows;
mod terms;
#[cfg(test)]
mod tests;
mod watch;

use bankroll_store::{Migrations, RoleGrant, TableGrants, TableRight};

pub use books_side::{BooksAtBlock, WalletAsset, read};
pub use chain_side::{BalanceUnknown, ReconciledWallet, reconcile_at};
pub use halt::halt_of;
pub use report::{ChainComparison, compare};
pub use rows::{KnownBalance, differing, known, write};
pub use terms::{BalanceDifference, BalanceTerms, WalletBalance};
pub(crate) use watch::watch;

/// The table of reconciliation.
pub const RECONCILIATION: Migrations = Migrations {
    owner: "reconciliation",
    steps: &[include_str!("../../migrations/0001_reconciliation.sql")],
    postgres: &[include_str!("../../migrations/0001_reconciliation_postgres.sql")],
};

/// The rights of the roles on it.
pub const RECONCILIATION_GRANTS: &[TableGrants] = &[TableGrants {
    table: "wallet_balances",
    grants: &[RoleGrant {
        role: "books",
        rights: &[
            TableRight::Read,
            TableRight::Insert,
            TableRight::Update(&[
                "name",
                "block_number",
                "block_hash",
                "on_chain",
                "difference",
                "terms",
                "rounds",
                "since",
                "at",
            ]),
        ],
    }],
}];
