//! The public log, and consistency between two of its heads. No other crate queries these tables itself.

use bankroll_ledger::merkle::{
    Hash,
    proofs::{consistency, is_consistent},
};
use bankroll_store::{
    Reader, StoreError,
    columns::{int, text},
};

use crate::{
    HeadsError, SignedHead,
    rows::{COLUMNS, HEADS, head_of},
    tree::TreeReader,
};

/// The newest published head; `None` if none was published.
///
/// # Errors
/// If the books cannot be read, or the row is not as this program writes it.
pub fn latest(reader: &Reader) -> Result<Option<SignedHead>, HeadsError> {
    if !has_tables(reader)? {
        return Ok(None);
    }
    let found = reader.rows(&format!("{COLUMNS} ORDER BY batch DESC LIMIT 1"), Vec::new())?;
    Ok(found.first().map(head_of).transpose()?)
}

/// The head that was published after exactly this batch.
///
/// # Errors
/// If the books cannot be read, or the row is not as this program writes it.
pub fn at(reader: &Reader, batch: u64) -> Result<Option<SignedHead>, HeadsError> {
    if !has_tables(reader)? {
        return Ok(None);
    }
    let found = reader.rows(&format!("{COLUMNS} WHERE batch = $1"), vec![int(batch)])?;
    Ok(found.first().map(head_of).transpose()?)
}

/// Published heads, newest first, from the one before `before`.
///
/// # Errors
/// If the books cannot be read, or a row is not as this program writes it.
pub fn newest(reader: &Reader, before: Option<u64>, most: usize) -> Result<Vec<SignedHead>, HeadsError> {
    if !has_tables(reader)? {
        return Ok(Vec::new());
    }
    let sql = format!("{COLUMNS} WHERE batch < $1 ORDER BY batch DESC LIMIT {most}");
    let found = reader.rows(&sql, vec![int(before.unwrap_or(u64::MAX))])?;
    found.iter().map(|row| Ok(head_of(row)?)).collect()
}

/// Proof that the journal of the later head begins with that of the earlier one: as RFC 9162 has it, and as
/// [`is_consistent`] checks it. `None` if the earlier one is not earlier.
///
/// # Errors
/// [`HeadsError::TreeDiffers`] if the stored tree does not prove it: then the books were edited, or the heads are not
/// of one journal. Otherwise if the books cannot be read.
pub fn consistency_of(reader: &Reader, from: &SignedHead, to: &SignedHead) -> Result<Option<Vec<Hash>>, HeadsError> {
    let tree = TreeReader::new(reader);
    let proof = consistency(from.batch, to.batch, |subtree| tree.subtree(subtree))?;
    match &proof {
        Some(hashes) if !is_consistent(from.batch, &from.root, to.batch, &to.root, hashes) => {
            Err(HeadsError::TreeDiffers { batch: to.batch })
        }
        _ => Ok(proof),
    }
}

/// Books that never were a node's have no such tables.
fn has_tables(reader: &Reader) -> Result<bool, StoreError> {
    let sql = "SELECT owner FROM migrations WHERE owner = $1";
    Ok(!reader.rows(sql, vec![text(HEADS.owner)])?.is_empty())
}
