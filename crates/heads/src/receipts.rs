//! Receipts: a record, its path to a published root, and the same for the records that opened its accounts.

use bankroll_ledger::{
    Batch, NamedReceipt, Receipt, Record, RootedReceipt, Seq,
    merkle::{Hash, proofs},
};
use bankroll_store::{Reader, StoreError};
use serde_json::{Map, Value, json};

use crate::{HeadForm, HeadsError, SignedHead, tree::TreeReader, views};

/// The form of receipts.
pub const RECEIPT_FORMAT: &str = "bankroll receipt 3";

/// A receipt with the published head that proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadReceipt {
    pub named: NamedReceipt,
    pub published: SignedHead,
}

/// The receipt of a record under a published head; `None` if there is no such record, or the head is older than it.
///
/// # Errors
/// [`HeadsError::TreeDiffers`] if the stored tree does not prove it. Otherwise if the books cannot be read.
pub fn receipt_under(reader: &Reader, seq: Seq, published: &SignedHead) -> Result<Option<HeadReceipt>, HeadsError> {
    let tree = TreeReader::new(reader);
    let rooted = |seq| rooted(reader, &tree, seq, published.batch);
    let Some(record) = rooted(seq)? else { return Ok(None) };
    let decoded = Record::decode(&record.receipt.record).map_err(|_| damaged(seq))?;
    let mut openings = Vec::new();
    for account in decoded.accounts() {
        let opening = reader.opening_of(account)?.ok_or_else(|| damaged(seq))?;
        openings.push(rooted(opening)?.ok_or_else(|| damaged(opening))?);
    }
    let named = NamedReceipt { record, openings };
    // What it cannot prove itself, no reader could check.
    if named.names().is_none() || !named.proves_under(published.batch, &published.root) {
        return Err(HeadsError::TreeDiffers { batch: published.batch });
    }
    Ok(Some(HeadReceipt { named, published: published.clone() }))
}

/// The receipt of a record under the newest published head; `None` if there is none that covers it.
///
/// # Errors
/// As [`receipt_under`].
pub fn newest_receipt(reader: &Reader, seq: Seq) -> Result<Option<HeadReceipt>, HeadsError> {
    match views::latest(reader)? {
        Some(published) => receipt_under(reader, seq, &published),
        None => Ok(None),
    }
}

/// The receipt of a record as JSON, without a readable part. `published` is left out of a receipt that no published
/// head proves yet.
#[must_use]
pub fn to_json(receipt: &Receipt, head: &Hash, proof: Option<&HeadReceipt>) -> Value {
    let mut value = Map::new();
    value.insert("format".into(), RECEIPT_FORMAT.into());
    add_receipt(&mut value, receipt);
    value.insert("head".into(), hex::encode(head).into());
    if let Some(HeadReceipt { named, published }) = proof {
        value.insert("path".into(), hashes(&named.record.path));
        value.insert("published".into(), json!(HeadForm::from(published)));
        let accounts = named.openings.iter().map(|opening| {
            let mut account = Map::new();
            add_receipt(&mut account, &opening.receipt);
            account.insert("path".into(), hashes(&opening.path));
            Value::Object(account)
        });
        value.insert("accounts".into(), accounts.collect());
    }
    Value::Object(value)
}

fn add_receipt(value: &mut Map<String, Value>, receipt: &Receipt) {
    let Batch { number, first, count, at, root, previous } = &receipt.batch;
    value.insert("seq".into(), json!(receipt.seq));
    value.insert("record".into(), hex::encode(&receipt.record).into());
    value.insert("siblings".into(), hashes(&receipt.siblings));
    let batch = json!({
        "number": number, "first": first, "count": count, "at": at,
        "root": hex::encode(root), "previous": hex::encode(previous),
    });
    value.insert("batch".into(), batch);
}

fn hashes(all: &[Hash]) -> Value {
    all.iter().map(hex::encode).collect()
}

fn rooted(reader: &Reader, tree: &TreeReader<'_>, seq: Seq, size: u64) -> Result<Option<RootedReceipt>, HeadsError> {
    let Some((receipt, _)) = reader.receipt(seq)? else { return Ok(None) };
    let index = receipt.batch.number.saturating_sub(1);
    let path = proofs::inclusion(index, size, |subtree| tree.subtree(subtree))?;
    Ok(path.map(|path| RootedReceipt { receipt, path }))
}

fn damaged(at: Seq) -> HeadsError {
    StoreError::Diverged { at, what: "the names of its accounts cannot be proven".into() }.into()
}
