//! Which databases a demo may use: an empty one, or one whose books have play money only.

use anyhow::bail;
use bankroll_store::{DatabaseUrl, Reader, StoreError};

use super::chain::CHAIN;

/// Refuses books that no demo created. Real ones list assets of real chains, or none yet.
pub fn refuse_real_books(url: &DatabaseUrl) -> anyhow::Result<()> {
    let reader = match Reader::open(url.clone()) {
        Err(StoreError::NoBooks) => return Ok(()),
        reader => reader?,
    };
    let assets = reader.assets()?;
    if assets.is_empty() || assets.iter().any(|(_, asset)| asset.chain.as_str() != CHAIN) {
        bail!("this database has books that no demo created; give an empty one with --postgres (nothing was changed)");
    }
    Ok(())
}
