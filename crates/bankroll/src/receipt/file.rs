//! A receipt as a file: JSON with hashes and records in hexadecimal digits. The readable part is for people; a check
//! makes it again from the record and the openings of its accounts, and refuses a file whose readable part says anything
//! else.

use std::{fmt, fs::File, io::Write, path::Path};

use bankroll_heads::{HeadForm, HeadFormError, HeadReceipt, RECEIPT_FORMAT, SignedHead, hash_from_text};
use bankroll_ledger::{Batch, NamedReceipt, Receipt, RootedReceipt, Seq, Time, merkle::Hash};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// The keys of a receipt. Another one could say anything, and nothing would prove it.
const KEYS: [&str; 10] =
    ["format", "seq", "record", "siblings", "batch", "head", "path", "published", "accounts", "readable"];

/// Writes and syncs the file; never overwrites another.
pub fn save(path: &Path, value: &Value) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    writeln!(file, "{value:#}")?;
    file.sync_all()
}

#[derive(Deserialize)]
struct ReceiptFile {
    #[serde(rename = "format")]
    _format: String,
    seq: Seq,
    record: String,
    siblings: Vec<String>,
    batch: ReceiptFileBatch,
    head: String,
    path: Option<Vec<String>>,
    published: Option<HeadForm>,
    accounts: Option<Vec<ReceiptFileOpening>>,
}

/// The record that opened an account.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiptFileOpening {
    seq: Seq,
    record: String,
    siblings: Vec<String>,
    batch: ReceiptFileBatch,
    path: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
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
    #[error("it is not JSON (line {line}, column {column})")]
    Json { line: usize, column: usize },
    #[error("a key is there twice (line {line}, column {column})")]
    RepeatedKey { line: usize, column: usize },
    #[error(
        "a key of a receipt is missing or has a value of a wrong kind, or its batch has an unknown key; a receipt has \
         {}",
        KEYS.join(", ")
    )]
    Shape,
    #[error("the format is {found:?}, and this program supports {RECEIPT_FORMAT:?}")]
    Format { found: String },
    #[error("{what} must be 64 hexadecimal digits")]
    Digits { what: &'static str },
    #[error("record must be hexadecimal digits")]
    Record,
    #[error("its published head cannot be read")]
    Published(#[from] HeadFormError),
}

/// A receipt as its file says it.
pub struct ParsedReceipt {
    pub receipt: Receipt,
    /// The head that the file states.
    pub head: Hash,
    /// The published head that proves it and the names of its accounts, as the file states both.
    pub proof: Option<HeadReceipt>,
    /// The part for people, if the file has one.
    pub readable: Option<Value>,
    /// Keys that no receipt has.
    pub unknown_keys: Vec<String>,
}

pub fn parse(text: &str) -> Result<ParsedReceipt, ReceiptFileError> {
    let UniqueKeys(value) = serde_json::from_str::<UniqueKeys>(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        // A repeated key is the only thing that is refused in JSON that is well-formed.
        if error.is_data() {
            ReceiptFileError::RepeatedKey { line, column }
        } else {
            ReceiptFileError::Json { line, column }
        }
    })?;
    let fields = value.as_object().ok_or(ReceiptFileError::Shape)?;
    let unknown_keys = fields.keys().filter(|key| !KEYS.contains(&key.as_str())).cloned().collect();
    let readable = fields.get("readable").cloned();
    if let Some(found) = fields.get("format").and_then(Value::as_str).filter(|format| *format != RECEIPT_FORMAT) {
        return Err(ReceiptFileError::Format { found: found.to_owned() });
    }
    let written: ReceiptFile = serde_json::from_value(value).map_err(|_| ReceiptFileError::Shape)?;
    let head = hash(&written.head, "head")?;
    let receipt = receipt_of(written.seq, &written.record, &written.siblings, &written.batch)?;
    let proof = match (written.path, written.published, written.accounts) {
        (None, None, None) => None,
        (Some(path), Some(published), Some(accounts)) => Some(proof_of(receipt.clone(), &path, &published, &accounts)?),
        _ => return Err(ReceiptFileError::Shape),
    };
    Ok(ParsedReceipt { receipt, head, proof, readable, unknown_keys })
}

fn proof_of(
    receipt: Receipt,
    path: &[String],
    published: &HeadForm,
    accounts: &[ReceiptFileOpening],
) -> Result<HeadReceipt, ReceiptFileError> {
    let record = RootedReceipt { receipt, path: hashes(path, "path")? };
    let openings = accounts.iter().map(|ReceiptFileOpening { seq, record, siblings, batch, path }| {
        Ok(RootedReceipt { receipt: receipt_of(*seq, record, siblings, batch)?, path: hashes(path, "accounts.path")? })
    });
    let openings = openings.collect::<Result<_, ReceiptFileError>>()?;
    Ok(HeadReceipt { named: NamedReceipt { record, openings }, published: SignedHead::try_from(published)? })
}

fn receipt_of(
    seq: Seq,
    record: &str,
    siblings: &[String],
    batch: &ReceiptFileBatch,
) -> Result<Receipt, ReceiptFileError> {
    let ReceiptFileBatch { number, first, count, at, root, previous } = batch;
    let (root, previous) = (hash(root, "batch.root")?, hash(previous, "batch.previous")?);
    let batch = Batch { number: *number, first: *first, count: *count, at: *at, root, previous };
    let record = hex::decode(record).map_err(|_| ReceiptFileError::Record)?;
    Ok(Receipt { seq, record, siblings: hashes(siblings, "siblings")?, batch })
}

fn hashes(texts: &[String], what: &'static str) -> Result<Vec<Hash>, ReceiptFileError> {
    texts.iter().map(|text| hash(text, what)).collect()
}

/// JSON without an object that has a key twice: programs differ in which of the two values they show.
struct UniqueKeys(Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(Self)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON without a repeated key")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(UniqueKeys(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((key, UniqueKeys(value))) = entries.next_entry::<String, UniqueKeys>()? {
            if all.insert(key, value).is_some() {
                return Err(A::Error::custom("a repeated key"));
            }
        }
        Ok(Value::Object(all))
    }
}

/// A hash in hexadecimal digits, with or without 0x.
fn hash(text: &str, what: &'static str) -> Result<Hash, ReceiptFileError> {
    hash_from_text(text).ok_or(ReceiptFileError::Digits { what })
}
