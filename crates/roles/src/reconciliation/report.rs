//! One comparison for a person: `bankroll reconcile`. Writes nothing.

use bankroll_ledger::Time;
use bankroll_store::Reader;
use bankroll_terminal::UsageError;

use super::{
    books_side::{BooksAtBlock, read},
    chain_side::{ReconciledWallet, reconcile_at},
};
use crate::flows::FlowSetup;

/// A chain's wallets, compared at a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainComparison {
    pub block: u64,
    pub block_hash: String,
    pub wallets: Vec<ReconciledWallet>,
}

impl ChainComparison {
    /// Whether a wallet holds more or less than it should.
    #[must_use]
    pub fn differs(&self) -> bool {
        let balances = self.wallets.iter().filter_map(|(_, balance)| balance.as_ref().ok());
        balances.into_iter().any(|balance| !balance.difference().is_none())
    }

    /// Whether a balance is not known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.wallets.iter().any(|(_, balance)| balance.is_err())
    }
}

/// Compares, at the indexer's block or an older one; a difference is looked at twice. `None` if nothing was read of the
/// chain yet.
///
/// # Errors
/// If the books cannot be read, the providers do not have the block, or the block was not read yet.
pub fn compare(
    setup: &FlowSetup,
    reader: &Reader,
    at: Option<u64>,
    now: Time,
) -> anyhow::Result<Option<ChainComparison>> {
    let providers = setup.providers()?;
    let once = || -> anyhow::Result<Option<ChainComparison>> {
        let Some(books) = read(reader, setup.chain(), at, now)? else { return Ok(None) };
        refuse_unread(&books, at)?;
        let ((block, hash), wallets) = reconcile_at(&providers, now.0 / 1_000, &books)?;
        Ok(Some(ChainComparison { block, block_hash: format!("{hash:#x}"), wallets }))
    };
    let first = once()?;
    let is_sure = first.as_ref().is_none_or(|found| !found.differs() && !found.is_unknown());
    if is_sure { Ok(first) } else { once() }
}

fn refuse_unread(books: &BooksAtBlock, at: Option<u64>) -> Result<(), UsageError> {
    let read = books.cursor.number;
    match at {
        Some(at) if at > read => {
            Err(UsageError(format!("block {at} of {} is not read yet: the indexer is at block {read}", books.chain)))
        }
        _ => Ok(()),
    }
}
