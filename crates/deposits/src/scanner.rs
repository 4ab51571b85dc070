//! The scanner: one step reads some blocks and writes what they changed, in one write of rows.
//!
//! | phase | what happens | if the process dies after it |
//! | --- | --- | --- |
//! | our position | cursor and remembered headers | nothing has happened |
//! | the RPC node's position | its head, and whether it has our newest block | nothing has happened |
//! | fork | down the remembered headers to one that the RPC node has too | nothing has happened |
//! | blocks | each verified whole by `chains/evm` | nothing has happened |
//! | sightings | each block continues the one before; the watch list is used only here | nothing has happened |
//! | write | cursor, headers, deposits, observations, events: all or none | the next step continues from here |
//!
//! It guarantees:
//! - an RPC node that is unreachable, behind, or contradicts itself changes nothing, and the error says why;
//! - nothing is unwound before the blocks that replace it have been read, up to our own height at least: an RPC
//!   node that shows another branch and does not have its blocks changes nothing;
//! - a reorganisation below every remembered header is never followed automatically.
//!
//! It has no clock, thread or randomness of its own. It does not know the books: whether a deposit is credited is
//! not its concern.

use bankroll_chains_evm::{Address, Block, BlockHeader, BlockTag, Quantity, RpcError, RpcNode};
use bankroll_ledger::Time;
use bankroll_store::Rows;

use crate::{
    DepositId, DepositRules, Purpose, WatchList,
    error::ScanError,
    follower::{BlockPoint, ChainChange, ChainFollower},
    rows,
    sighting::{Sighting, sightings},
};

/// Deposits after which a step applies no further block, so that one write stays small.
const SIGHTINGS_MAX: usize = 1_000;
/// Transactions after which a step reads no further block, so that its blocks fit into memory.
const TRANSACTIONS_MAX: usize = 20_000;

/// How a chain is scanned.
#[derive(Clone, Debug)]
pub struct ScanConfig {
    pub rules: DepositRules,
    pub watch: WatchList,
    /// The first block that is read.
    pub start: u64,
    /// How many headers are remembered: how deep a reorganisation is followed. More than any deposit needs to be
    /// final.
    pub window: u64,
    /// The most blocks that one step goes forward.
    pub blocks_per_step: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScanOutcome {
    /// There is no new block.
    UpToDate,
    Moved {
        to: BlockPoint,
        /// The block that was unwound to first, if some were replaced.
        unwound_to: Option<u64>,
        deposits: Vec<DepositChange>,
    },
}

/// What happened to a deposit on the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositChange {
    pub id: DepositId,
    /// Which inclusion, from 1.
    pub epoch: u64,
    /// In base units.
    pub value: Quantity,
    pub progress: ChainProgress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainProgress {
    Included {
        from: Address,
        purpose: Purpose,
        block: u64,
        /// The block that makes it final.
        final_at: u64,
    },
    Final,
    Orphaned,
}

/// Blocks ahead on the chain: read and verified, not yet searched for deposits.
#[derive(Debug)]
pub struct BlocksAhead(AheadKind);

#[derive(Debug)]
enum AheadKind {
    Nothing,
    /// The first step ever: the block before the first one that is read.
    Begins(BlockHeader),
    /// The blocks after a fork; the fork is the cursor if nothing was replaced.
    Blocks {
        cursor: BlockPoint,
        fork: BlockPoint,
        blocks: Vec<Block>,
    },
}

/// One step with a fixed watch list. A caller whose watch list grows uses [`crate::Indexer`].
///
/// # Errors
/// See [`ScanError`]. Nothing has changed then, or it is unknown whether the rows were written; the next step finds
/// out.
pub fn step(config: &ScanConfig, now: Time, node: &RpcNode, store: &Rows) -> Result<ScanOutcome, ScanError> {
    apply_blocks(config, read_ahead(config, node, store)?, now, store)
}

/// The first half of a step: reads the blocks ahead. New addresses and new payers are added to the watch list after
/// it and before [`apply_blocks`]: then a payer who was known when a block was made is known when the block is
/// searched.
///
/// # Errors
/// See [`ScanError`]; nothing has changed.
pub fn read_ahead(config: &ScanConfig, node: &RpcNode, store: &Rows) -> Result<BlocksAhead, ScanError> {
    let head = newest(node)?;
    let Some(cursor) = rows::cursor(store, config.rules.chain.as_str())? else {
        return Ok(BlocksAhead(AheadKind::Begins(before_first(config, node, head)?)));
    };
    if head < cursor.number {
        return Err(ScanError::Lagging { theirs: head, ours: cursor.number });
    }
    let fork = fork(config, node, store, cursor, head)?;
    if head == cursor.number && fork == cursor {
        return Ok(BlocksAhead(AheadKind::Nothing));
    }
    let last = head.min(cursor.number.saturating_add(config.blocks_per_step.max(1)));
    Ok(BlocksAhead(AheadKind::Blocks { cursor, fork, blocks: read(node, fork, cursor, last, head)? }))
}

/// The second half: finds the deposits in these blocks and writes them.
///
/// # Errors
/// See [`ScanError`]. Nothing has changed then, or it is unknown whether the rows were written; the next step finds
/// out.
pub fn apply_blocks(
    config: &ScanConfig,
    ahead: BlocksAhead,
    now: Time,
    store: &Rows,
) -> Result<ScanOutcome, ScanError> {
    let (cursor, fork, blocks) = match ahead.0 {
        AheadKind::Nothing => return Ok(ScanOutcome::UpToDate),
        AheadKind::Begins(header) => {
            let to = BlockPoint::from(&header);
            store.write(rows::step(config, None, to, &[ChainChange::HeaderNew(header)], now))?;
            return Ok(ScanOutcome::Moved { to, unwound_to: None, deposits: Vec::new() });
        }
        AheadKind::Blocks { cursor, fork, blocks } => (cursor, fork, blocks),
    };
    let (mut seen, mut named) = (Vec::with_capacity(blocks.len()), Vec::<DepositId>::new());
    for block in &blocks {
        let sightings = sightings(&config.rules, &config.watch, block).map_err(RpcError::from)?;
        named.extend(sightings.iter().map(|sighting| sighting.id.clone()));
        seen.push((block.header, sightings));
        if named.len() > SIGHTINGS_MAX && block.header.number >= cursor.number {
            break;
        }
    }
    let chain = config.rules.chain.as_str();
    let mut follower = ChainFollower::new(cursor, rows::deposits(store, chain, fork.number, &named)?);
    follower.unwind(fork);
    for (header, sightings) in seen {
        follower.advance(header, sightings)?;
    }
    store.write(rows::step(config, Some(cursor), follower.head(), follower.changes(), now))?;
    let unwound_to = (fork != cursor).then_some(fork.number);
    Ok(ScanOutcome::Moved { to: follower.head(), unwound_to, deposits: deposit_changes(&follower) })
}

fn before_first(config: &ScanConfig, node: &RpcNode, head: u64) -> Result<BlockHeader, ScanError> {
    let before = config.start.saturating_sub(1);
    if head < before {
        return Err(ScanError::Lagging { theirs: head, ours: before });
    }
    node.header(BlockTag::Number(before))?.ok_or(ScanError::Missing { number: before, head })
}

fn newest(node: &RpcNode) -> Result<u64, ScanError> {
    let head = node.header(BlockTag::Latest)?;
    Ok(head.ok_or(ScanError::Missing { number: 0, head: 0 })?.number)
}

/// The highest remembered block that the RPC node has too.
fn fork(
    config: &ScanConfig,
    node: &RpcNode,
    store: &Rows,
    cursor: BlockPoint,
    head: u64,
) -> Result<BlockPoint, ScanError> {
    let has_block = |point: &BlockPoint| -> Result<bool, ScanError> {
        let header = node.header(BlockTag::Number(point.number))?;
        let header = header.ok_or(ScanError::Missing { number: point.number, head })?;
        Ok(header.hash == point.hash)
    };
    if has_block(&cursor)? {
        return Ok(cursor);
    }
    let remembered = rows::headers(store, config.rules.chain.as_str())?;
    for point in &remembered {
        if has_block(point)? {
            return Ok(*point);
        }
    }
    let below = remembered.last().map_or(cursor.number, |lowest| lowest.number);
    Err(ScanError::TooDeep { below, window: config.window })
}

/// The blocks after the fork, at least up to our own height.
fn read(node: &RpcNode, fork: BlockPoint, cursor: BlockPoint, last: u64, head: u64) -> Result<Vec<Block>, ScanError> {
    let (mut blocks, mut transactions) = (Vec::new(), 0_usize);
    for number in fork.number.saturating_add(1)..=last {
        let block = node.block(BlockTag::Number(number))?.ok_or(ScanError::Missing { number, head })?;
        transactions = transactions.saturating_add(block.transactions.len());
        blocks.push(block);
        if transactions > TRANSACTIONS_MAX && number >= cursor.number {
            break;
        }
    }
    Ok(blocks)
}

fn deposit_changes(follower: &ChainFollower) -> Vec<DepositChange> {
    let deposit_change = |change: &ChainChange| {
        let (id, epoch, progress) = match change {
            ChainChange::Included { sighting, epoch } => (&sighting.id, *epoch, included(sighting)),
            ChainChange::Final { id, epoch } => (id, *epoch, ChainProgress::Final),
            ChainChange::Orphaned { id, epoch, .. } => (id, *epoch, ChainProgress::Orphaned),
            ChainChange::HeadersGone { .. } | ChainChange::HeaderNew(_) => return None,
        };
        let value = follower.tracked(id).map_or_else(Quantity::default, |deposit| deposit.value);
        Some(DepositChange { id: id.clone(), epoch, value, progress })
    };
    follower.changes().iter().filter_map(deposit_change).collect()
}

fn included(sighting: &Sighting) -> ChainProgress {
    let (block, from, purpose) = (sighting.header.number, sighting.transfer.from, sighting.attribution.purpose);
    ChainProgress::Included {
        from,
        purpose,
        block,
        final_at: block.saturating_add(sighting.required.saturating_sub(1)),
    }
}
