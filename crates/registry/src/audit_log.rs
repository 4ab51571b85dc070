//! The audit log as rows, and the acts of people as changes of the registry.
//!
//! Each entry is a fact of the request that carries it out, under a key that its number makes. So the journal has every
//! entry once, for ever: an entry that was removed from the table cannot be written again, and is missed when the
//! registry is loaded.

use std::collections::BTreeSet;

use bankroll_ledger::{ColumnValue, Fact, IdempotencyKey, Name, Namespace, Record, Row, RowKey, Scope, Verdict};
use bankroll_operators::{ActHash, AuthorName, LogEntry, Operators, Proof};
use bankroll_store::{
    Reader,
    columns::{BadRow, int, number_of, text, text_of, time},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    PlayerFreeze, REGISTRY,
    entry::{RegistryError, all, column, new_row},
};

const TABLE: &str = "audit_log";

/// An entry of the log, with the hash that covers it and all before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedAct {
    pub entry: LogEntry,
    #[serde(with = "hash_text")]
    pub hash: ActHash,
}

impl LoggedAct {
    pub(crate) fn fact(&self) -> Fact {
        let LogEntry { number, at, author, proof, .. } = &self.entry;
        let (request_key, request_hash) = match proof {
            Proof::Signed(request) => {
                let head = format!("{} {}\n", request.method, request.path);
                let hash: [u8; 32] = Sha256::new().chain_update(head).chain_update(&request.body).finalize().into();
                // A read has no key.
                let key = Some(&request.idempotency_key).filter(|key| !key.is_empty());
                (key.map_or(ColumnValue::Null, |key| text(key)), ColumnValue::Bytes(hash.to_vec()))
            }
            _ => (ColumnValue::Null, ColumnValue::Null),
        };
        let set = vec![
            column("at", time(*at)),
            column("author", text(&author_text(author))),
            column("request_key", request_key),
            column("request_hash", request_hash),
            column("entry", text(&self.entry.text())),
            column("hash", ColumnValue::Bytes(self.hash.0.to_vec())),
        ];
        new_row(TABLE, vec![column("number", int(*number))], set)
    }

    /// The ledger's key of the request that carries this entry.
    #[must_use]
    pub fn key(&self) -> IdempotencyKey {
        act_key(self.entry.number)
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        let entry = LogEntry::from_text(text_of(row, "entry")?).ok_or(BadRow { column: "entry" })?;
        if entry.number != number_of(row, "number")? {
            return Err(BadRow { column: "number" });
        }
        Ok(Self { entry, hash: hash_of(row)? })
    }
}

/// An earlier request of a person, by the key that they gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAct {
    pub act: LoggedAct,
    /// Of method, path and body: the same key with another hash is a mismatch.
    pub request_hash: Vec<u8>,
}

/// What a person asked for under this key.
///
/// # Errors
/// If the rows cannot be read.
pub fn recorded_act(reader: &Reader, person: &Name, key: &str) -> Result<Option<RecordedAct>, RegistryError> {
    let sql = "SELECT * FROM audit_log WHERE author = $1 AND request_key = $2";
    let author = text(&author_text(&AuthorName::Person(person.clone())));
    let rows = reader.rows(sql, vec![author, text(key)])?;
    let read = |row: &Row| {
        let request_hash = bytes_of(row, "request_hash")?.to_vec();
        Ok(RecordedAct { act: LoggedAct::from_row(row)?, request_hash })
    };
    rows.first().map(read).transpose().map_err(bad_row)
}

/// Entries of the log below a number, the newest first; of one author, if one is given.
///
/// # Errors
/// If the rows cannot be read.
pub fn log_page(
    reader: &Reader,
    author: Option<&AuthorName>,
    below: Option<u64>,
    most: usize,
) -> Result<Vec<LoggedAct>, RegistryError> {
    let below = int(below.unwrap_or(i64::MAX.cast_unsigned()));
    let most = int(u64::try_from(most).unwrap_or(u64::MAX));
    let rows = match author {
        Some(author) => {
            let sql = "SELECT * FROM audit_log WHERE author = $1 AND number < $2 ORDER BY number DESC LIMIT $3";
            reader.rows(sql, vec![text(&author_text(author)), below, most])?
        }
        None => {
            reader.rows("SELECT * FROM audit_log WHERE number < $1 ORDER BY number DESC LIMIT $2", vec![below, most])?
        }
    };
    rows.iter().map(LoggedAct::from_row).collect::<Result<_, _>>().map_err(bad_row)
}

/// Everyone who runs the deployment, from the log. Each entry is checked: its hash, its signature, and whether its author
/// could do it. Then the log is compared with the journal, which has the newest entry and no later one.
///
/// # Errors
/// If the rows cannot be read, or are not what was written.
pub fn load_operators(reader: &Reader) -> Result<Operators, RegistryError> {
    let rows = reader.rows("SELECT entry, hash FROM audit_log ORDER BY number", vec![])?;
    let read = |row| Ok((text_of(row, "entry")?, hash_of(row)?));
    let entries = rows.iter().map(read).collect::<Result<Vec<_>, BadRow>>().map_err(bad_row)?;
    let operators = Operators::replay(entries).map_err(RegistryError::Log)?;
    let newest = operators.entries();
    // The newest hash covers all entries: if the journal has it, it has them all.
    if newest > 0 && !is_in_journal(reader, newest, operators.head())? {
        return Err(first_unknown(reader, &rows)?);
    }
    if reader.find_key(&act_key(newest.saturating_add(1)))?.is_some() {
        return Err(RegistryError::LogCutShort { entries: newest });
    }
    Ok(operators)
}

/// Verifies the log from the books: its hashes, each signature and every rule, as at each load; and in addition that
/// each row is exactly the fact that the journal has for it, and that players are frozen whom the log says are. `None`
/// for books that never were a node's.
///
/// # Errors
/// If the rows cannot be read, or are not what was written. The error names the first entry that is not.
pub fn audit_operators(reader: &Reader) -> Result<Option<Operators>, RegistryError> {
    let known = reader.rows("SELECT owner FROM migrations WHERE owner = $1", vec![text(REGISTRY.owner)])?;
    if known.is_empty() {
        return Ok(None);
    }
    let operators = load_operators(reader)?;
    for row in reader.rows("SELECT * FROM audit_log ORDER BY number", vec![])? {
        let act = LoggedAct::from_row(&row).map_err(bad_row)?;
        let fact = act.fact();
        let is_same = fact.set.iter().all(|(name, value)| row.get(name) == Some(value));
        if !is_same || journal_fact(reader, act.entry.number)?.is_none_or(|known| known != fact) {
            return Err(RegistryError::LogNotInJournal { entry: act.entry.number });
        }
    }
    let freezes: Vec<PlayerFreeze> = all(reader)?;
    check_freezes(&freezes, &operators)?;
    Ok(Some(operators))
}

/// A row alone neither freezes a player nor lifts it: that takes an act of the log.
pub(crate) fn check_freezes<'a>(
    rows: impl IntoIterator<Item = &'a PlayerFreeze>,
    operators: &Operators,
) -> Result<(), RegistryError> {
    let rows: BTreeSet<&Name> = rows.into_iter().filter(|entry| entry.frozen).map(|entry| &entry.player).collect();
    let acts: BTreeSet<&Name> = operators.frozen_players().map(|(player, _)| player).collect();
    match rows.symmetric_difference(&acts).next() {
        Some(player) => Err(RegistryError::FreezeMismatch { player: (*player).clone() }),
        None => Ok(()),
    }
}

/// The first of these entries that the journal does not have.
fn first_unknown(reader: &Reader, rows: &[Row]) -> Result<RegistryError, RegistryError> {
    for (row, number) in rows.iter().zip(1..) {
        if !is_in_journal(reader, number, hash_of(row).map_err(bad_row)?)? {
            return Ok(RegistryError::LogNotInJournal { entry: number });
        }
    }
    Ok(RegistryError::LogCutShort { entries: rows.len() as u64 })
}

/// Whether the journal has the fact that wrote this entry with this hash.
fn is_in_journal(reader: &Reader, number: u64, hash: ActHash) -> Result<bool, RegistryError> {
    let hash = column("hash", ColumnValue::Bytes(hash.0.to_vec()));
    Ok(journal_fact(reader, number)?.is_some_and(|fact| fact.set.contains(&hash)))
}

/// The fact that wrote this entry.
fn journal_fact(reader: &Reader, number: u64) -> Result<Option<Fact>, RegistryError> {
    let Some(found) = reader.find_key(&act_key(number))? else { return Ok(None) };
    let Record::Decided { request, verdict: Verdict::Applied(_) } = found.record else { return Ok(None) };
    let row = RowKey { table: TABLE.to_owned(), columns: vec![column("number", int(number))] };
    Ok(request.facts.into_iter().find(|fact| fact.row == row))
}

/// The ledger's key of the request that carries an entry.
fn act_key(number: u64) -> IdempotencyKey {
    IdempotencyKey { namespace: Namespace::Registry, scope: Scope::House, text: format!("audit-log/{number}") }
}

fn author_text(author: &AuthorName) -> String {
    match author {
        AuthorName::Init => "init".to_owned(),
        AuthorName::Person(person) => format!("person:{person}"),
        AuthorName::Program(id) => format!("program:{id}"),
    }
}

fn hash_of(row: &Row) -> Result<ActHash, BadRow> {
    bytes_of(row, "hash")?.try_into().map(ActHash).map_err(|_| BadRow { column: "hash" })
}

fn bytes_of<'a>(row: &'a Row, column: &'static str) -> Result<&'a [u8], BadRow> {
    match row.get(column) {
        Some(ColumnValue::Bytes(bytes)) => Ok(bytes),
        _ => Err(BadRow { column }),
    }
}

fn bad_row(bad: BadRow) -> RegistryError {
    RegistryError::Row { table: TABLE, bad }
}

mod hash_text {
    use bankroll_operators::ActHash;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(hash: &ActHash, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(hash.0))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ActHash, D::Error> {
        let mut hash = [0; 32];
        let text = String::deserialize(deserializer)?;
        hex::decode_to_slice(text, &mut hash).map_err(D::Error::custom)?;
        Ok(ActHash(hash))
    }
}
