//! The scanner (role `indexer`): one step reads some blocks and writes what they changed, in one write of rows.
//!
//! | phase | what happens | if the process dies behind it |
//! | --- | --- | --- |
//! | where are we | cursor and remembered headers | nothing has happened |
//! | where is the node | its head, and whether it has our newest block | nothing has happened |
//! | fork | down the remembered headers to one that the node has too | nothing has happened |
//! | blocks | each verified whole by `chains/evm` | nothing has happened |
//! | what came to us | each block continues the one before; who is watched is asked only here | nothing has happened |
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

use bankroll_chains_evm::{At, Block, Header, Node, NodeError};
use bankroll_ledger::Time;
use bankroll_store::Rows;

use crate::{
    DepositId, Rules, WatchList,
    course::{Change, Course, Point},
    error::ScanError,
    rows,
    sighting::sightings,
};

/// Deposits after which a step takes no further block, so that one write stays small.
const SIGHTINGS_MAX: usize = 1_000;
/// Transactions after which it reads none either, so that its blocks fit into memory.
const TRANSACTIONS_MAX: usize = 20_000;

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

/// What is ahead on the chain: read, verified, and not yet looked at for what came to us.
#[derive(Debug)]
pub struct Ahead(Way);

#[derive(Debug)]
enum Way {
    /// There is no new block.
    Nothing,
    /// The block before the first one that is read.
    Begins(Header),
    /// Blocks behind a fork, which is where we are if nothing was replaced.
    Blocks { cursor: Point, fork: Point, blocks: Vec<Block> },
}

/// One step, for who watches the same as before.
///
/// # Errors
/// See [`ScanError`]; nothing has changed then, or it is not known whether the rows were written, and the next step sees.
pub fn step(scanning: &Scanning, now: Time, node: &Node, store: &Rows) -> Result<Scanned, ScanError> {
    take(scanning, look(scanning, node, store)?, now, store)
}

/// The first half of a step: reads what is ahead. New addresses and new payers are added to what is watched behind it, and
/// before [`take`]: then whoever was known when a block was made is known when it is looked at.
///
/// # Errors
/// See [`ScanError`]; nothing has changed.
pub fn look(scanning: &Scanning, node: &Node, store: &Rows) -> Result<Ahead, ScanError> {
    let head = newest(node)?;
    let Some(cursor) = rows::cursor(store, scanning.rules.chain.as_str())? else {
        return Ok(Ahead(Way::Begins(before_first(scanning, node, head)?)));
    };
    if head < cursor.number {
        return Err(ScanError::Lagging { theirs: head, ours: cursor.number });
    }
    let fork = fork(scanning, node, store, cursor, head)?;
    if head == cursor.number && fork == cursor {
        return Ok(Ahead(Way::Nothing));
    }
    let last = head.min(cursor.number.saturating_add(scanning.blocks_per_step.max(1)));
    Ok(Ahead(Way::Blocks { cursor, fork, blocks: read(node, fork, cursor, last, head)? }))
}

/// The second half: what of it came to us, written down.
///
/// # Errors
/// See [`ScanError`]; nothing has changed then, or it is not known whether the rows were written, and the next step sees.
pub fn take(scanning: &Scanning, ahead: Ahead, now: Time, store: &Rows) -> Result<Scanned, ScanError> {
    let (cursor, fork, blocks) = match ahead.0 {
        Way::Nothing => return Ok(Scanned::UpToDate),
        Way::Begins(header) => {
            let to = Point::from(&header);
            store.write(rows::step(scanning, None, to, &[Change::HeaderNew(header)], now))?;
            return Ok(Scanned::Moved { to, unwound_to: None, deposits: Vec::new() });
        }
        Way::Blocks { cursor, fork, blocks } => (cursor, fork, blocks),
    };
    let (mut seen, mut named) = (Vec::with_capacity(blocks.len()), Vec::<DepositId>::new());
    for block in &blocks {
        let sightings = sightings(&scanning.rules, &scanning.watch, block).map_err(NodeError::from)?;
        named.extend(sightings.iter().map(|sighting| sighting.id.clone()));
        seen.push((block.header, sightings));
        if named.len() > SIGHTINGS_MAX && block.header.number >= cursor.number {
            break;
        }
    }
    let chain = scanning.rules.chain.as_str();
    let mut course = Course::new(cursor, rows::deposits(store, chain, fork.number, &named)?);
    course.unwind(fork);
    for (header, sightings) in seen {
        course.advance(header, sightings)?;
    }
    store.write(rows::step(scanning, Some(cursor), course.head(), course.changes(), now))?;
    let unwound_to = (fork != cursor).then_some(fork.number);
    Ok(Scanned::Moved { to: course.head(), unwound_to, deposits: told(course.changes()) })
}

fn before_first(scanning: &Scanning, node: &Node, head: u64) -> Result<Header, ScanError> {
    let before = scanning.start.saturating_sub(1);
    if head < before {
        return Err(ScanError::Lagging { theirs: head, ours: before });
    }
    node.header(At::Number(before))?.ok_or(ScanError::Missing { number: before, head })
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

/// The blocks behind the fork, at least up to our own height.
fn read(node: &Node, fork: Point, cursor: Point, last: u64, head: u64) -> Result<Vec<Block>, ScanError> {
    let (mut blocks, mut transactions) = (Vec::new(), 0_usize);
    for number in fork.number.saturating_add(1)..=last {
        let block = node.block(At::Number(number))?.ok_or(ScanError::Missing { number, head })?;
        transactions = transactions.saturating_add(block.transactions.len());
        blocks.push(block);
        if transactions > TRANSACTIONS_MAX && number >= cursor.number {
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
