//! Verifies a memory: SQLite's structures, every hash, every column, and that each entry is valid after the previous
//! ones.

use std::collections::HashMap;

use bankroll_money::Time;
use bankroll_orders::{MemoryId, OrderDigest};
use rusqlite::{Connection, Row};

use super::{
    MemoryState,
    log::{EntryColumns, MemoryEntry},
};
use crate::evm;

/// The tables and triggers as they were made, so that none was taken away.
const SCHEMA: &str = include_str!("schema.sql");

/// The memory's id and what follows from all entries, or the first thing that is wrong.
pub(super) fn everything(connection: &Connection) -> Result<(MemoryId, MemoryState), String> {
    let sound: String = ask(connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)))?;
    if sound != "ok" {
        return Err(sound);
    }
    if ask(schema_of(connection))? != ask(expected_schema())? {
        return Err("its tables are not as they were made".into());
    }
    let id: Vec<u8> = ask(connection.query_row("SELECT id FROM memory", [], |row| row.get(0)))?;
    let id = MemoryId(id.try_into().map_err(|_| "it has no id")?);
    let mut check = EntryCheck { state: MemoryState::new(id), unsigned: HashMap::new() };
    let mut statement = ask(connection.prepare(
        "SELECT seq, at, body, hash, order_id, intent, chain, wallet, nonce, token, paid, fees, promise
         FROM log ORDER BY seq",
    ))?;
    let mut rows = ask(statement.query([]))?;
    while let Some(row) = ask(rows.next())? {
        let seq: i64 = ask(row.get(0))?;
        check.entry(seq, row).map_err(|what| format!("entry {seq}: {what}"))?;
    }
    Ok((id, check.state))
}

struct EntryCheck {
    state: MemoryState,
    /// Content of promises that have no transaction yet.
    unsigned: HashMap<u64, OrderDigest>,
}

impl EntryCheck {
    fn entry(&mut self, seq: i64, row: &Row<'_>) -> Result<(), String> {
        let (at, body, hash): (Vec<u8>, Vec<u8>, Vec<u8>) = (ask(row.get(1))?, ask(row.get(2))?, ask(row.get(3))?);
        let at = Time(u64::from_be_bytes(at.try_into().map_err(|_| "its time is malformed")?));
        let entry = MemoryEntry::decode(&body).map_err(|error| error.to_string())?;
        let next = self.state.after(&entry, at);
        if u64::try_from(seq) != Ok(next.count) {
            return Err(format!("it should be entry {}", next.count));
        }
        if next.hash.as_slice() != hash {
            return Err("its hash does not follow from the entries before it".into());
        }
        if at < self.state.latest {
            return Err("it is older than the entry before it".into());
        }
        if ask(columns_of(row))? != entry.columns() {
            return Err("its columns contradict its body".into());
        }
        self.follows(next.count, &entry)?;
        self.state = next;
        Ok(())
    }

    /// Whether the entry is valid after the previous ones.
    fn follows(&mut self, seq: u64, entry: &MemoryEntry) -> Result<(), String> {
        match entry {
            MemoryEntry::Promised { order, .. } => {
                if !self.state.wallets.contains(&order.slot.wallet) {
                    return Err("it promises for a wallet without a history".into());
                }
                self.unsigned.insert(seq, order.content());
            }
            MemoryEntry::Signed { promise, transaction } => {
                self.unsigned.remove(promise).ok_or("its promise is missing or already signed")?;
                if evm::hash_of(&transaction.raw) != transaction.hash {
                    return Err("its transaction does not match its hash".into());
                }
            }
            MemoryEntry::Wallet(_) | MemoryEntry::Revoked(_) | MemoryEntry::Stopped(_) => {}
        }
        Ok(())
    }
}

fn columns_of(row: &Row<'_>) -> rusqlite::Result<EntryColumns> {
    Ok(EntryColumns {
        order_id: row.get(4)?,
        intent: row.get(5)?,
        chain: row.get(6)?,
        wallet: row.get(7)?,
        nonce: row.get(8)?,
        token: row.get(9)?,
        paid: row.get(10)?,
        fees: row.get(11)?,
        promise: row.get(12)?,
    })
}

fn schema_of(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn expected_schema() -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(SCHEMA)?;
    schema_of(&connection)
}

/// A read error counts as damage.
fn ask<T>(answer: rusqlite::Result<T>) -> Result<T, String> {
    answer.map_err(|error| error.to_string())
}
