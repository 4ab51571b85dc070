//! A receipt as a file: JSON with hashes and the record in hexadecimal digits. The readable part is for people
//! only; no check reads it.

use std::{fs::File, io::Write, path::Path};

use bankroll_ledger::{Batch, Receipt, Seq, Time, merkle::Hash};
use serde::Deserialize;
use serde_json::{Value, json};

pub const FORMAT: &str = "bankroll receipt 1";

pub fn to_json(receipt: &Receipt, head: &Hash, readable: Value) -> Value {
    let Batch { number, first, count, at, root, previous } = &receipt.batch;
    json!({
        "format": FORMAT,
        "seq": receipt.seq,
        "record": hex::encode(&receipt.record),
        "siblings": receipt.siblings.iter().map(hex::encode).collect::<Vec<_>>(),
        "batch": {
            "number": number, "first": first, "count": count, "at": at,
            "root": hex::encode(root), "previous": hex::encode(previous),
        },
        "head": hex::encode(head),
        "readable": readable,
    })
}

/// Writes and syncs the file; never overwrites another.
pub fn save(path: &Path, value: &Value) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    writeln!(file, "{value:#}")?;
    file.sync_all()
}

#[derive(Deserialize)]
struct ReceiptFile {
    format: String,
    seq: Seq,
    record: String,
    siblings: Vec<String>,
    batch: ReceiptFileBatch,
    head: String,
}

#[derive(Deserialize)]
struct ReceiptFileBatch {
    number: u64,
    first: Seq,
    count: u32,
    at: Time,
    root: String,
    previous: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ReceiptFileError {
    #[error("not the JSON of a receipt")]
    Shape(#[from] serde_json::Error),
    #[error("the format is {found:?}, and this program supports {FORMAT:?}")]
    Format { found: String },
    #[error("{what} must be 64 hexadecimal digits")]
    Digits { what: &'static str },
    #[error("record must be hexadecimal digits")]
    Record,
}

pub fn parse(text: &str) -> Result<(Receipt, Hash), ReceiptFileError> {
    let written: ReceiptFile = serde_json::from_str(text)?;
    if written.format != FORMAT {
        return Err(ReceiptFileError::Format { found: written.format });
    }
    let ReceiptFileBatch { number, first, count, at, root, previous } = written.batch;
    let batch = Batch {
        number,
        first,
        count,
        at,
        root: hash(&root, "batch.root")?,
        previous: hash(&previous, "batch.previous")?,
    };
    let record = hex::decode(&written.record).map_err(|_| ReceiptFileError::Record)?;
    let siblings = written.siblings.iter().map(|text| hash(text, "siblings")).collect::<Result<_, _>>()?;
    Ok((Receipt { seq: written.seq, record, siblings, batch }, hash(&written.head, "head")?))
}

pub fn hash(text: &str, what: &'static str) -> Result<Hash, ReceiptFileError> {
    let mut bytes = Hash::default();
    hex::decode_to_slice(text, &mut bytes).map_err(|_| ReceiptFileError::Digits { what })?;
    Ok(bytes)
}
