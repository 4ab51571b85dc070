//! The audit of this flow's tables: every column of every row, compared with the log of what the scanner saw, and the
//! log with itself and with the journal.
//!
//! | table | compared with |
//! | --- | --- |
//! | `chain_events` | itself: each hash, each link, no gap; its end with the cursor |
//! | `deposits`, what the chain says | the log: every column |
//! | `deposits`, what people decided | the journal: the record that the row names has set it |
//! | `deposits`, what the books decided | the journal: a booked row has its credit there, an unbooked one has nothing |
//! | `chain_cursor`, `block_headers` | each other: the headers are one chain that ends at the cursor |
//!
//! Columns that facts of the journal have set are compared by the audit of the journal as well. What happened on the
//! chain is not known here: reconciliation compares with the chain.

use std::collections::BTreeMap;

use bankroll_ledger::{ColumnValue, Name, Record, Request, Row, Verdict};
use bankroll_store::{
    Reader, StoreError,
    columns::{BadRow, int, number_of, parsed, text, text_of},
};

use crate::{
    ChainEvent, DepositHistory, DepositId, EventTail, EvidenceFault, LedgerState,
    credit::credit_key,
    crediting::UNPROVEN,
    event_log::{expected_row, of_deposits, tail_of},
    review_proof,
};

/// Rows read at a time.
const PAGE: u64 = 256;

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditedDeposits {
    pub events: u64,
    pub deposits: u64,
    pub headers: u64,
}

/// Why the tables of deposits are not what this program wrote.
#[derive(Debug, thiserror::Error)]
pub enum DepositFinding {
    #[error("the rows cannot be read")]
    Store(#[from] StoreError),
    #[error("deposit {deposit}: {fault}")]
    Deposit { deposit: String, fault: EvidenceFault },
    #[error("the scanner's log of {chain} is broken at event {number}: {fault}")]
    Log { chain: String, number: u64, fault: EvidenceFault },
    #[error("the cursor of {chain} names event {noted}, and the log ends with event {found}, or with another hash")]
    LogEnd { chain: String, noted: u64, found: u64 },
    #[error("events of {chain} have no cursor")]
    NoCursor { chain: String },
    #[error("block {number} of {chain} in block_headers does not continue the block before it, or is not the cursor's")]
    Header { chain: String, number: u64 },
    #[error("deposit {deposit}: column {column} is not what the journal says")]
    Books { deposit: String, column: &'static str },
    #[error("column {column} of table {table} has a value that this program does not know")]
    Unreadable { table: &'static str, column: &'static str },
}

/// Compares all of it. A scanner may run meanwhile: what it appends after a table was read is not missed, since each
/// chain is read in one order (cursor, log, rows).
///
/// # Errors
/// The first difference.
pub fn run(reader: &Reader) -> Result<AuditedDeposits, DepositFinding> {
    let mut audited = AuditedDeposits::default();
    let sql = "SELECT chain, block_number, block_hash, events, events_hash FROM chain_cursor ORDER BY chain";
    let cursors = reader.rows(sql, Vec::new())?;
    let mut chains = Vec::new();
    for cursor in &cursors {
        let chain: Name = parsed(cursor, "chain").map_err(unreadable("chain_cursor"))?;
        audited.events = audited.events.saturating_add(check_log(reader, &chain, cursor)?);
        audited.headers = audited.headers.saturating_add(check_headers(reader, &chain, cursor)?);
        chains.push(chain);
    }
    for (table, column) in [("chain_events", "chain"), ("block_headers", "chain")] {
        for row in reader.rows(&format!("SELECT DISTINCT {column} AS chain FROM {table}"), Vec::new())? {
            let chain = text_of(&row, "chain").map_err(unreadable("chain_events"))?;
            if chains.iter().all(|known| known.as_str() != chain) {
                return Err(DepositFinding::NoCursor { chain: chain.to_owned() });
            }
        }
    }
    audited.deposits = check_deposits(reader)?;
    Ok(audited)
}

fn unreadable(table: &'static str) -> impl Fn(BadRow) -> DepositFinding {
    move |bad| DepositFinding::Unreadable { table, column: bad.column }
}

/// Walks the log of a chain up to the end that its cursor names.
fn check_log(reader: &Reader, chain: &Name, cursor: &Row) -> Result<u64, DepositFinding> {
    let end = tail_of(cursor).map_err(unreadable("chain_cursor"))?;
    let mut tail = EventTail::EMPTY;
    let broken = |number, fault| DepositFinding::Log { chain: chain.to_string(), number, fault };
    while tail.number < end.number {
        let sql = format!("SELECT * FROM chain_events WHERE chain = $1 AND number > $2 ORDER BY number LIMIT {PAGE}");
        let rows = reader.rows(&sql, vec![text(chain.as_str()), int(tail.number)])?;
        if rows.is_empty() {
            break;
        }
        for row in &rows {
            let number = tail.number.saturating_add(1);
            let event = ChainEvent::from_row(row).map_err(|bad| broken(number, bad.into()))?;
            let place = || (chain.to_string(), event.number);
            if !event.follows(tail) {
                let (chain, number) = place();
                return Err(broken(number, EvidenceFault::Moved { chain, number }));
            }
            if !event.is_whole() {
                let (chain, number) = place();
                return Err(broken(number, EvidenceFault::Edited { chain, number }));
            }
            tail = event.tail();
            if tail == end {
                return Ok(tail.number);
            }
        }
    }
    // An empty log has no event that could differ.
    if tail == end {
        return Ok(tail.number);
    }
    Err(DepositFinding::LogEnd { chain: chain.to_string(), noted: end.number, found: tail.number })
}

/// The headers are one chain, and the highest is the cursor's block.
fn check_headers(reader: &Reader, chain: &Name, cursor: &Row) -> Result<u64, DepositFinding> {
    let end = number_of(cursor, "block_number").map_err(unreadable("chain_cursor"))?;
    let sql = "SELECT number, hash, parent_hash FROM block_headers WHERE chain = $1 AND number <= $2 ORDER BY number";
    let rows = reader.rows(sql, vec![text(chain.as_str()), int(end)])?;
    let mut before = None::<(u64, String)>;
    for row in &rows {
        let read = || {
            let (hash, parent) = (text_of(row, "hash")?.to_owned(), text_of(row, "parent_hash")?.to_owned());
            Ok::<_, BadRow>((number_of(row, "number")?, hash, parent))
        };
        let (number, hash, parent) = read().map_err(unreadable("block_headers"))?;
        let continues = |(at, above): &(u64, String)| at.checked_add(1) == Some(number) && *above == parent;
        if before.as_ref().is_some_and(|before| !continues(before)) {
            return Err(DepositFinding::Header { chain: chain.to_string(), number });
        }
        before = Some((number, hash));
    }
    let is_end = |(number, hash): &(u64, String)| *number == end && text_of(cursor, "block_hash") == Ok(hash);
    // A scanner that runs may have replaced the newest header since the cursor was read.
    if before.as_ref().is_some_and(is_end) || has_moved(reader, chain, end)? {
        return Ok(u64::try_from(rows.len()).unwrap_or(u64::MAX));
    }
    Err(DepositFinding::Header { chain: chain.to_string(), number: end })
}

fn has_moved(reader: &Reader, chain: &Name, end: u64) -> Result<bool, DepositFinding> {
    let sql = "SELECT block_number FROM chain_cursor WHERE chain = $1 AND block_number <> $2";
    Ok(!reader.rows(sql, vec![text(chain.as_str()), int(end)])?.is_empty())
}

/// Every deposit, with the events that name it; and no deposit of the log without a row.
fn check_deposits(reader: &Reader) -> Result<u64, DepositFinding> {
    let (mut count, mut after) = (0_u64, String::new());
    loop {
        let sql = format!("SELECT * FROM deposits WHERE id > $1 ORDER BY id LIMIT {PAGE}");
        let rows = reader.rows(&sql, vec![text(&after)])?;
        let Some(last) = rows.last() else { break };
        let read_to = text_of(last, "id").map_err(unreadable("deposits"))?.to_owned();
        check_page(reader, &rows)?;
        count = count.saturating_add(u64::try_from(rows.len()).unwrap_or(u64::MAX));
        after = read_to;
    }
    let sql = "SELECT min(deposit_id) AS deposit FROM chain_events
               WHERE NOT EXISTS (SELECT 1 FROM deposits WHERE id = deposit_id)";
    match reader.rows(sql, Vec::new())?.first().map(|row| text_of(row, "deposit").map(str::to_owned)) {
        Some(Ok(deposit)) => {
            Err(DepositFinding::Deposit { deposit, fault: EvidenceFault::RowDiffers { column: "id" } })
        }
        _ => Ok(count),
    }
}

fn check_page(reader: &Reader, rows: &[Row]) -> Result<(), DepositFinding> {
    let id_of = |row: &Row| text_of(row, "id").map(DepositId::from_row).map_err(unreadable("deposits"));
    let ids = rows.iter().map(id_of).collect::<Result<Vec<_>, _>>()?;
    let events = of_deposits(reader, &ids)?;
    let mut again = None::<BTreeMap<DepositId, Row>>;
    for (id, row) in ids.iter().zip(rows) {
        let found = |fault| DepositFinding::Deposit { deposit: id.to_string(), fault };
        let events = events.get(id).cloned().unwrap_or(Err(EvidenceFault::NoEvent)).map_err(found)?;
        let history = DepositHistory::of(&events).map_err(found)?;
        let mut row = row.clone();
        if differing(&history, &row).is_some() {
            // A scanner that runs may have moved it between the two queries: the row is read once more, after its events.
            let rows = match &again {
                Some(rows) => rows,
                None => again.insert(read_again(reader, &ids)?),
            };
            if let Some(newer) = rows.get(id) {
                row = newer.clone();
            }
        }
        if let Some(column) = differing(&history, &row) {
            return Err(found(EvidenceFault::RowDiffers { column }));
        }
        check_books(reader, id, &row, &events)?;
        check_people(reader, id, &row)?;
    }
    Ok(())
}

fn differing(history: &DepositHistory, row: &Row) -> Option<&'static str> {
    expected_row(history).into_iter().find(|(name, value)| row.get(*name) != Some(value)).map(|(name, _)| name)
}

fn read_again(reader: &Reader, ids: &[DepositId]) -> Result<BTreeMap<DepositId, Row>, DepositFinding> {
    let sql = format!("SELECT * FROM deposits WHERE id IN ({})", crate::event_log::places(ids.len(), 1));
    let rows = reader.rows(&sql, ids.iter().map(|id| text(id.as_str())).collect())?;
    let with_id = |row: Row| Some((DepositId::from_row(text_of(&row, "id").ok()?), row));
    Ok(rows.into_iter().filter_map(with_id).collect())
}

/// What the books decided. The values that facts have set are compared by the audit of the journal; here, that nothing
/// is set which no record of the journal can have set.
fn check_books(reader: &Reader, id: &DepositId, row: &Row, events: &[ChainEvent]) -> Result<(), DepositFinding> {
    let differs = |column| DepositFinding::Books { deposit: id.to_string(), column };
    let number = |column| number_of(row, column).map_err(unreadable("deposits"));
    let (epoch, ledger_epoch, error_epoch) = (number("epoch")?, number("ledger_epoch")?, number("ledger_error_epoch")?);
    let ledger = text_of(row, "ledger_state").ok().and_then(LedgerState::from_row);
    let is_null = |column: &str| row.get(column) == Some(&ColumnValue::Null);
    if ledger_epoch == 0 {
        if ledger != Some(LedgerState::None) {
            return Err(differs("ledger_state"));
        }
        const DECIDED: [&str; 5] =
            ["is_valid_for_server_config", "invalid_reason", "config_version", "credited_server", "credited_wallet"];
        if let Some(column) = DECIDED.into_iter().find(|column| !is_null(column)) {
            return Err(differs(column));
        }
    } else if ledger_epoch > epoch {
        return Err(differs("ledger_epoch"));
    } else {
        match decided(reader, id, ledger_epoch)? {
            Some((credit, Verdict::Applied(_))) => check_anchor(id, &credit, events)?,
            _ => return Err(differs("ledger_epoch")),
        }
    }
    let refusal = text_of(row, "ledger_error").ok();
    match refusal {
        None if is_null("ledger_error") && error_epoch == 0 => Ok(()),
        // Set because the row was not what the log says; it is now.
        Some(UNPROVEN) => Err(differs("ledger_error")),
        Some(code) if error_epoch <= epoch => {
            let decided = decided(reader, id, error_epoch)?;
            let is_so = matches!(decided, Some((_, Verdict::Rejected(why))) if why.code() == code);
            if is_so { Ok(()) } else { Err(differs("ledger_error")) }
        }
        _ => Err(differs("ledger_error")),
    }
}

/// What people decided: each column that says so was set by a record of theirs.
fn check_people(reader: &Reader, id: &DepositId, row: &Row) -> Result<(), DepositFinding> {
    let found = |fault| DepositFinding::Deposit { deposit: id.to_string(), fault };
    review_proof::review(reader, id, row)?.map_err(found)?;
    review_proof::assignment(reader, id, row)?.map_err(found)?;
    Ok(())
}

/// How the journal decided the credit of an inclusion.
fn decided(reader: &Reader, id: &DepositId, epoch: u64) -> Result<Option<(Request, Verdict)>, DepositFinding> {
    let entry = reader.find_key(&credit_key(id, epoch))?;
    Ok(entry.and_then(|entry| match entry.record {
        Record::Decided { request, verdict } => Some((request, verdict)),
        _ => None,
    }))
}

/// The journal keeps the number and the hash of the event that a credit followed from: a log that was written anew does
/// not have it.
fn check_anchor(id: &DepositId, credit: &Request, events: &[ChainEvent]) -> Result<(), DepositFinding> {
    let anchored = credit.events.iter().find_map(|event| {
        let body: serde_json::Value = serde_json::from_str(&event.body).ok()?;
        Some((body["evidence"]["number"].as_u64()?, body["evidence"]["hash"].as_str()?.to_owned()))
    });
    let has = |(number, hash): &(u64, String)| {
        events.iter().any(|event| event.number == *number && event.hash.to_string() == *hash)
    };
    if anchored.as_ref().is_some_and(has) {
        return Ok(());
    }
    let (chain, number) = (id.chain().to_owned(), anchored.map_or(0, |(number, _)| number));
    Err(DepositFinding::Deposit { deposit: id.to_string(), fault: EvidenceFault::Edited { chain, number } })
}
