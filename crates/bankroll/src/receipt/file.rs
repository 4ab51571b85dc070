//! A receipt as a file: JSON with hashes and the record in hexadecimal digits. What is there for people to read is for
//! them alone; nobody checks it.

use std::{fs::File, io::Write, path::Path};

use bankroll_ledger::{Batch, Receipt, Seq, Time, merkle::Hash};
use serde::Deserialize;
use serde_json::{Value, json};

/// What a receipt says of itself.
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

/// Writes it for good, and never over another file.
pub fn save(path: &Path, value: &Value) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    writeln!(file, "{value:#}")?;
    file.sync_all()
}

#[derive(Deserialize)]
struct Written {
    format: String,
    seq: Seq,
    record: String,
    siblings: Vec<String>,
    batch: WrittenBatch,
    head: String,
}

#[derive(Deserialize)]
struct WrittenBatch {
    number: u64,
    first: Seq,
    count: u32,
    at: Time,
    root: String,
    previous: String,
}

/// Why a file is no receipt.
#[derive(Debug, thiserror::Error)]
pub enum NoReceipt {
    #[error("it is not the JSON of a receipt")]
    Shape(#[from] serde_json::Error),
    #[error("its format is {found:?}, and this program knows {FORMAT:?}")]
    Format { found: String },
    #[error("{what} is not what it must be: hexadecimal digits, 64 of them for a hash")]
    Digits { what: &'static str },
}

pub fn parse(text: &str) -> Result<(Receipt, Hash), NoReceipt> {
    let written: Written = serde_json::from_str(text)?;
    if written.format != FORMAT {
        return Err(NoReceipt::Format { found: written.format });
    }
    let WrittenBatch { number, first, count, at, root, previous } = written.batch;
    let batch = Batch {
        number,
        first,
        count,
        at,
        root: hash(&root, "batch.root")?,
        previous: hash(&previous, "batch.previous")?,
    };
    let record = hex::decode(&written.record).map_err(|_| NoReceipt::Digits { what: "record" })?;
    let siblings = written.siblings.iter().map(|text| hash(text, "siblings")).collect::<Result<_, _>>()?;
    Ok((Receipt { seq: written.seq, record, siblings, batch }, hash(&written.head, "head")?))
}

pub fn hash(text: &str, what: &'static str) -> Result<Hash, NoReceipt> {
    let mut bytes = Hash::default();
    hex::decode_to_slice(text, &mut bytes).map_err(|_| NoReceipt::Digits { what })?;
    Ok(bytes)
}
