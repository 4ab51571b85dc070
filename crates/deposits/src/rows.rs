//! The scanner's rows: reads the position, and turns changes into statements.
//!
//! The statement on the cursor is the first of a step and must change the row that was read: of two scanners on one
//! chain, the second writes nothing at all. What a step appends to the log follows from the tail that the cursor notes.
//! Rows of `deposits` show what the log says: one that was edited is left as it is, found by the audit, and stops
//! neither the scanner nor another deposit.

use bankroll_chains_evm::B256;
use bankroll_ledger::{ColumnValue, Row, Time};
use bankroll_store::{
    Migrations, Rows, Statement,
    columns::{any, int, number_of, one, parsed, text, time},
};

use crate::{
    ChainEvent, EventTail, Inclusion, InclusionChange,
    error::ScanError,
    event_log::tail_of,
    follower::{BlockPoint, ChainChange, PlacedChange},
    scanner::ScanConfig,
};

/// The tables of this flow.
pub const DEPOSITS: Migrations = Migrations {
    owner: "deposits",
    steps: &[include_str!("../migrations/0001_deposits.sql")],
    postgres: &[include_str!("../migrations/0001_deposits_postgres.sql")],
};

/// The scanner's position on a chain, and the end of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub point: BlockPoint,
    pub tail: EventTail,
}

/// The scanner's position on a chain; `None` before its first step.
pub(crate) fn cursor(rows: &Rows, chain: &str) -> Result<Option<Cursor>, ScanError> {
    let sql =
        "SELECT block_number AS number, block_hash AS hash, events, events_hash FROM chain_cursor WHERE chain = $1";
    let read = |row: &Row| Ok::<_, ScanError>(Cursor { point: point(row)?, tail: tail_of(row)? });
    rows.read(sql, vec![text(chain)])?.first().map(read).transpose()
}

/// The remembered canonical headers, highest first.
pub(crate) fn headers(rows: &Rows, chain: &str) -> Result<Vec<BlockPoint>, ScanError> {
    let sql = "SELECT number, hash FROM block_headers WHERE chain = $1 ORDER BY number DESC";
    rows.read(sql, vec![text(chain)])?.iter().map(point).collect()
}

/// Notes why the scanner cannot go on, or that it can; the next block that it reads removes the note, too.
pub(crate) fn note_stop(chain: &str, why: Option<&str>) -> Statement {
    let why = why.map_or(ColumnValue::Null, text);
    any("UPDATE chain_cursor SET stopped = $1 WHERE chain = $2", vec![why, text(chain)])
}

/// Everything that a step writes: the cursor first, then the changes and what else there is, then old headers are
/// deleted.
pub(crate) fn step(
    config: &ScanConfig,
    from: Option<Cursor>,
    to: BlockPoint,
    changes: &[PlacedChange],
    more: Vec<Statement>,
    now: Time,
) -> Vec<Statement> {
    let (mut log, mut statements) = (EventWriter::new(config, from, now), Vec::new());
    for PlacedChange { change, head } in changes {
        statements.extend(change_statements(change, *head, &mut log));
    }
    statements.extend(more);
    let (chain, tail) = (text(config.rules.chain.as_str()), log.tail);
    let end = [int(to.number), hash(to.hash), time(now), int(tail.number), text(&tail.hash.to_string()), chain.clone()];
    let cursor = match from {
        Some(Cursor { point, tail }) => one(
            "UPDATE chain_cursor SET block_number = $1, block_hash = $2, updated_at = $3, events = $4, events_hash = $5,
               stopped = NULL
             WHERE chain = $6 AND block_number = $7 AND block_hash = $8 AND events = $9 AND events_hash = $10",
            [&end[..], &[
                int(point.number),
                hash(point.hash),
                int(tail.number),
                text(&tail.hash.to_string()),
            ]]
            .concat(),
        ),
        None => one(
            "INSERT INTO chain_cursor (block_number, block_hash, updated_at, events, events_hash, chain)
             VALUES ($1, $2, $3, $4, $5, $6)",
            end.to_vec(),
        ),
    };
    statements.insert(0, cursor);
    let kept = to.number.saturating_sub(config.window);
    statements.push(any("DELETE FROM block_headers WHERE chain = $1 AND number < $2", vec![chain, int(kept)]));
    statements
}

/// The end of the log while a step is appended to it.
struct EventWriter<'a> {
    config: &'a ScanConfig,
    tail: EventTail,
    now: Time,
}

impl<'a> EventWriter<'a> {
    fn new(config: &'a ScanConfig, from: Option<Cursor>, now: Time) -> Self {
        Self { config, tail: from.map_or(EventTail::EMPTY, |cursor| cursor.tail), now }
    }

    fn append(&mut self, change: InclusionChange, inclusion: &Inclusion, head: BlockPoint) -> Statement {
        let chain = &self.config.rules.chain;
        let event = ChainEvent::after(self.tail, chain, change, inclusion.clone(), head, self.now);
        self.tail = event.tail();
        insert("chain_events", event.row(), "")
    }
}

fn change_statements(change: &ChainChange, head: BlockPoint, log: &mut EventWriter<'_>) -> Vec<Statement> {
    let chain = text(log.config.rules.chain.as_str());
    match change {
        ChainChange::HeadersGone { above } => {
            vec![any("DELETE FROM block_headers WHERE chain = $1 AND number > $2", vec![chain, int(*above)])]
        }
        ChainChange::HeaderNew(header) => vec![one(
            "INSERT INTO block_headers (chain, number, hash, parent_hash, time) VALUES ($1, $2, $3, $4, $5)",
            vec![chain, int(header.number), hash(header.hash), hash(header.parent), int(header.time)],
        )],
        ChainChange::Included(inclusion) => {
            let event = log.append(InclusionChange::Included, inclusion, head);
            vec![event, included(&chain, inclusion, log.now)]
        }
        ChainChange::Final(inclusion) => {
            let event = log.append(InclusionChange::Final, inclusion, head);
            let row = any(
                "UPDATE deposits SET chain_state = 'final', updated_at = $1
                 WHERE id = $2 AND epoch = $3 AND chain_state = 'included'",
                vec![time(log.now), text(inclusion.deposit.as_str()), int(inclusion.epoch)],
            );
            vec![event, row]
        }
        ChainChange::Orphaned { inclusion, state } => {
            let event = log.append(InclusionChange::Orphaned, inclusion, head);
            let row = any(
                "UPDATE deposits SET chain_state = $1, reorged_at = $2, updated_at = $2 WHERE id = $3 AND epoch = $4",
                vec![text(state.as_str()), time(log.now), text(inclusion.deposit.as_str()), int(inclusion.epoch)],
            );
            vec![event, row]
        }
    }
}

/// The first inclusion inserts the row. A later one says everything anew, since another block may have given the
/// transaction another result, and changes nothing that the books have written.
fn included(chain: &ColumnValue, inclusion: &Inclusion, now: Time) -> Statement {
    let mut columns = inclusion.deposit_columns();
    columns.extend([("chain_state", text("included")), ("updated_at", time(now))]);
    if inclusion.epoch == 1 {
        // People decide about it, never the scanner: a doubt belongs to an inclusion and holds it by itself.
        columns.extend([("chain", chain.clone()), ("first_seen_at", time(now)), ("review_state", text("none"))]);
        return insert("deposits", columns, " ON CONFLICT DO NOTHING");
    }
    // What the id says cannot change.
    columns.retain(|(name, _)| !["id", "tx_hash", "kind", "position"].contains(name));
    let set: Vec<String> = (1..).zip(&columns).map(|(place, (name, _))| format!("{name} = ${place}")).collect();
    let (id, epoch) = (columns.len().saturating_add(1), columns.len().saturating_add(2));
    let sql = format!("UPDATE deposits SET {} WHERE id = ${id} AND epoch = ${epoch}", set.join(", "));
    let mut values: Vec<ColumnValue> = columns.into_iter().map(|(_, value)| value).collect();
    values.extend([text(inclusion.deposit.as_str()), int(inclusion.epoch.saturating_sub(1))]);
    any(&sql, values)
}

fn insert(table: &str, row: Vec<(&'static str, ColumnValue)>, otherwise: &str) -> Statement {
    let (names, values): (Vec<&str>, Vec<ColumnValue>) = row.into_iter().unzip();
    let places = crate::event_log::places(values.len(), 1);
    let sql = format!("INSERT INTO {table} ({}) VALUES ({places}){otherwise}", names.join(", "));
    if otherwise.is_empty() { one(&sql, values) } else { any(&sql, values) }
}

fn point(row: &Row) -> Result<BlockPoint, ScanError> {
    Ok(BlockPoint { number: number_of(row, "number")?, hash: parsed(row, "hash")? })
}

fn hash(hash: B256) -> ColumnValue {
    ColumnValue::Text(format!("{hash:#x}"))
}
