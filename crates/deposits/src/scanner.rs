//! The scanner (role `indexer`): one step reads some blocks and writes what they changed, in one write of rows.
//!
//! | phase | what happens | if the process dies behind it |
//! | --- | --- | --- |
//! | where are we | cursor and remembered headers | nothing has happened |
//! | where is the node | its head, and whether it has our newest block | nothing has happened |
//! | fork | down the remembered headers to one that the node has too | nothing has happened |
//! | blocks | each verified whole by `chains/evm`, each continuing the one before | nothing has happened |
//! | write | cursor, headers, deposits, observations, events: all or none | the next step begins behind it |
//!
//! It guarantees:
//! - a node that is out of reach, behind, or contradicts itself changes nothing, and says why;
//! - nothing is unwound before the blocks that replace it have been read, up to our own height at least: a node that shows
//!   another branch and cannot back it up moves nothing;
//! - blocks that replace others below everything that is remembered are never followed by themselves.
//!
//! It has no clock, thread or chance of its own. It does not know the books: whether a deposit is credited is not its
//! business.

use bankroll_chains_evm::{At, Header, Node, NodeError};
use bankroll_ledger::Time;
use bankroll_store::Rows;

use crate::{
    DepositId, Rules, Sighting, WatchList,
    course::{Change, Course, Point},
    error::ScanError,
    rows,
    sighting::sightings,
};

/// Deposits after which a step reads no further block, so that one write stays small.
const SIGHTINGS_MAX: usize = 1_000;

/// How a chain is scanned.
#[derive(Clone, Debug)]
pub struct Scanning {
    /// What counts on it.
    pub rules: Rules,
    /// What is watched.
    pub watch: WatchList,
    /// The first block that is read.
    pub start: u64,
    /// How many headers are remembered: how deep a reorganisation is followed. More than any deposit needs to be final.
    pub window: u64,
    /// The most blocks that one step goes forward.
    pub blocks_per_step: u64,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// There is no new block.
    UpToDate,
    /// The course went on to this block.
    Moved {
        /// Where we are now.
        to: Point,
        /// The block that was unwound to first, if some were replaced.
        unwound_to: Option<u64>,
        /// What happened to deposits.
        deposits: Vec<DepositChange>,
    },
}

/// What happened to a deposit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DepositChange {
    /// It was included, in this epoch.
    Included(DepositId, u64),
    /// It is final.
    Final(DepositId, u64),
    /// Its block is gone.
    Orphaned(DepositId, u64),
}

/// One step.
///
/// # Errors
/// See [`ScanError`]; nothing has changed then, or it is not known whether the rows were written, and the next step sees.
pub fn step(scanning: &Scanning, now: Time, node: &Node, store: &Rows) -> Result<Scanned, ScanError> {
    let chain = scanning.rules.chain.as_str();
    let head = newest(node)?;
    let Some(cursor) = rows::cursor(store, chain)? else { return begin(scanning, now, node, store, head) };
    if head < cursor.number {
        return Err(ScanError::Lagging { theirs: head, ours: cursor.number });
    }
    let fork = fork(scanning, node, store, cursor, head)?;
    if head == cursor.number && fork == cursor {
        return Ok(Scanned::UpToDate);
    }
    let last = head.min(cursor.number.saturating_add(scanning.blocks_per_step.max(1)));
    let blocks = read(scanning, node, fork, cursor, last, head)?;
    let seen = blocks.iter().flat_map(|(_, sightings)| sightings);
    let named: Vec<DepositId> = seen.map(|sighting| sighting.id.clone()).collect();
    let mut course = Course::new(cursor, rows::deposits(store, chain, fork.number, &named)?);
    course.unwind(fork);
    for (header, sightings) in blocks {
        course.advance(header, sightings)?;
    }
    store.write(rows::step(scanning, Some(cursor), course.head(), course.changes(), now))?;
    let unwound_to = (fork != cursor).then_some(fork.number);
    Ok(Scanned::Moved { to: course.head(), unwound_to, deposits: told(course.changes()) })
}

/// The first step: remembers the block before the first one that is read.
fn begin(scanning: &Scanning, now: Time, node: &Node, store: &Rows, head: u64) -> Result<Scanned, ScanError> {
    let before = scanning.start.saturating_sub(1);
    if head < before {
        return Err(ScanError::Lagging { theirs: head, ours: before });
    }
    let header = node.header(At::Number(before))?.ok_or(ScanError::Missing { number: before, head })?;
    let to = Point::from(&header);
    store.write(rows::step(scanning, None, to, &[Change::HeaderNew(header)], now))?;
    Ok(Scanned::Moved { to, unwound_to: None, deposits: Vec::new() })
}

fn newest(node: &Node) -> Result<u64, ScanError> {
    let head = node.header(At::Latest)?;
    Ok(head.ok_or(ScanError::Missing { number: 0, head: 0 })?.number)
}

/// The highest block that we remember and that the node has, too.
fn fork(scanning: &Scanning, node: &Node, store: &Rows, cursor: Point, head: u64) -> Result<Point, ScanError> {
    let is_theirs = |point: &Point| -> Result<bool, ScanError> {
        let header = node.header(At::Number(point.number))?;
        let header = header.ok_or(ScanError::Missing { number: point.number, head })?;
        Ok(header.hash == point.hash)
    };
    if is_theirs(&cursor)? {
        return Ok(cursor);
    }
    let remembered = rows::headers(store, scanning.rules.chain.as_str())?;
    for point in &remembered {
        if is_theirs(point)? {
            return Ok(*point);
        }
    }
    let below = remembered.last().map_or(cursor.number, |lowest| lowest.number);
    Err(ScanError::TooDeep { below, window: scanning.window })
}

/// The blocks behind the fork, each with what of it came to us. At least up to our own height.
fn read(
    scanning: &Scanning,
    node: &Node,
    fork: Point,
    cursor: Point,
    last: u64,
    head: u64,
) -> Result<Vec<(Header, Vec<Sighting>)>, ScanError> {
    let (mut blocks, mut seen) = (Vec::new(), 0_usize);
    for number in fork.number.saturating_add(1)..=last {
        let block = node.block(At::Number(number))?.ok_or(ScanError::Missing { number, head })?;
        let sightings = sightings(&scanning.rules, &scanning.watch, &block).map_err(NodeError::from)?;
        seen = seen.saturating_add(sightings.len());
        blocks.push((block.header, sightings));
        if seen > SIGHTINGS_MAX && number >= cursor.number {
            break;
        }
    }
    Ok(blocks)
}

fn told(changes: &[Change]) -> Vec<DepositChange> {
    let told = |change: &Change| match change {
        Change::Included { sighting, epoch } => Some(DepositChange::Included(sighting.id.clone(), *epoch)),
        Change::Final { id, epoch } => Some(DepositChange::Final(id.clone(), *epoch)),
        Change::Orphaned { id, epoch, .. } => Some(DepositChange::Orphaned(id.clone(), *epoch)),
        Change::HeadersGone { .. } | Change::HeaderNew(_) => None,
    };
    changes.iter().filter_map(told).collect()
}
