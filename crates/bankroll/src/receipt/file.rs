//! A receipt as a file: JSON with hashes and the record in hexadecimal digits. The readable part is for people; a check
//! makes it again from the record, and refuses a file whose readable part says anything else.

use std::{fmt, fs::File, io::Write, path::Path};

use bankroll_ledger::{Batch, Receipt, Seq, Time, merkle::Hash};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value, json};

pub const FORMAT: &str = "bankroll receipt 2";

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

/// The keys of a receipt. Another one could say anything, and nothing would prove it.
const KEYS: [&str; 7] = ["format", "seq", "record", "siblings", "batch", "head", "readable"];

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
    #[error("the format is {found:?}, and this program supports {FORMAT:?}")]
    Format { found: String },
    #[error("{what} must be 64 hexadecimal digits")]
    Digits { what: &'static str },
    #[error("record must be hexadecimal digits")]
    Record,
}

/// A receipt as its file says it.
pub struct ParsedReceipt {
    pub receipt: Receipt,
    /// The head that the file states.
    pub head: Hash,
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
    if let Some(found) = fields.get("format").and_then(Value::as_str).filter(|format| *format != FORMAT) {
        return Err(ReceiptFileError::Format { found: found.to_owned() });
    }
    let written: ReceiptFile = serde_json::from_value(value).map_err(|_| ReceiptFileError::Shape)?;
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
    let receipt = Receipt { seq: written.seq, record, siblings, batch };
    Ok(ParsedReceipt { receipt, head: hash(&written.head, "head")?, readable, unknown_keys })
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
pub fn hash(text: &str, what: &'static str) -> Result<Hash, ReceiptFileError> {
    let mut bytes = Hash::default();
    let digits = text.strip_prefix("0x").unwrap_or(text);
    hex::decode_to_slice(digits, &mut bytes).map_err(|_| ReceiptFileError::Digits { what })?;
    Ok(bytes)
}
