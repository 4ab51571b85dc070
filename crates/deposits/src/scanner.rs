//! The scanner: one step reads some blocks and writes what they changed, in one write of rows.
//!
//! | phase | what happens | if the process dies after it |
//! | --- | --- | --- |
//! | our position | cursor and remembered headers | nothing has happened |
//! | the RPC node's position | its head, and whether it has our newest block | nothing has happened |
//! | fork | down the remembered headers to one that the RPC node has too | nothing has happened |
//! | blocks | each verified whole by `chains/evm` | nothing has happened |
//! | sightings | each block continues the one before; the watch list is used only here | nothing has happened |
//! | balances | what no header vouches for is compared with balances before and after its block | nothing has happened |
//! | write | cursor, headers, deposits, events: all or none | the next step continues from here |
//!
//! It guarantees:
//! - an RPC node that is unreachable, behind, or contradicts itself changes nothing, and the error says why;
//! - nothing is unwound before the blocks that replace it have been read, up to our own height at least: an RPC
//!   node that shows another branch and does not have its blocks changes nothing;
//! - a reorganisation below every remembered header is never followed automatically.
//!
//! It has no clock, thread or randomness of its own. It does not know the books: whether a deposit is credited is
//! not its concern.

use std::collections::BTreeMap;

use bankroll_chains_evm::{
    Address, Block, BlockHeader, BlockTag, FinalMark, FinalityMark, InternalTransfer, Providers, Quantity, ReadPlan,
    RpcError, RpcNode, TracedBlock,
};
use bankroll_ledger::{AssetId, Time};
use bankroll_store::{Rows, Statement};

use crate::{
    DepositId, DepositRules, Doubt, OutgoingTransaction, Purpose, UnexplainedNonce, WatchList,
    agreement::{self, ProviderVerdict},
    balance_check::{AbsentTransfer, BlockCheck, CheckedSightings},
    balance_word::BalanceReader,
    chain_event::Inclusion,
    error::ScanError,
    event_log,
    follower::{BlockPoint, ChainChange, ChainFollower, FinalityBounds, PlacedChange},
    outgoing,
    rows::{self, Cursor},
    sighting::{BlockSearch, OddTransferLog},
};

/// Deposits after which a step applies no further block, so that one write stays small.
const SIGHTINGS_MAX: usize = 1_000;
/// Transactions after which a step reads no further block, so that its blocks fit into memory.
const TRANSACTIONS_MAX: usize = 20_000;
/// Connections to a node while there is much to read.
const CONNECTIONS: usize = 4;
/// Blocks in one request.
const BATCH: usize = 50;

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
    /// Whether what contracts move is read from traces. Without, such deposits are seen by reconciliation only.
    pub traces: bool,
    /// What, beyond depth, makes a block final on this chain.
    pub finality: FinalityMark,
}

/// Where blocks are read, and who else is asked whether they are on the chain.
#[derive(Clone, Copy, Debug)]
pub struct ChainSource<'a> {
    pub node: &'a RpcNode,
    /// All providers of the chain, the node's own among them.
    pub providers: Option<&'a Providers>,
}

impl<'a> From<&'a RpcNode> for ChainSource<'a> {
    fn from(node: &'a RpcNode) -> Self {
        Self { node, providers: None }
    }
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
        notices: Vec<ScanNotice>,
    },
}

/// What was seen and credits nothing. A person should know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanNotice {
    /// A listed token logged a transfer in a form that cannot be read.
    Odd(OddTransferLog),
    /// A transfer was logged or traced, and nothing arrived.
    Absent(AbsentTransfer),
    /// A wallet of ours sent more transactions than the node shows.
    Nonce(UnexplainedNonce),
}

/// What happened to a deposit on the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepositChange {
    pub id: DepositId,
    /// Which inclusion, from 1.
    pub epoch: u64,
    pub asset: AssetId,
    /// In base units.
    pub value: Quantity,
    pub progress: ChainProgress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainProgress {
    Included {
        from: Address,
        purpose: Purpose,
        doubt: Option<Doubt>,
        block: u64,
        /// The block that makes it deep enough.
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
        cursor: Cursor,
        fork: BlockPoint,
        blocks: Vec<TracedBlock>,
        marks: FinalityBounds,
    },
}

/// One step with a fixed watch list. A caller whose watch list grows uses [`crate::Indexer`].
///
/// # Errors
/// See [`ScanError`]. Nothing has changed then, or it is unknown whether the rows were written; the next step finds
/// out.
pub fn step<'a>(
    config: &ScanConfig,
    now: Time,
    source: impl Into<ChainSource<'a>>,
    store: &Rows,
) -> Result<ScanOutcome, ScanError> {
    let source = source.into();
    apply_blocks(config, read_ahead(config, source, now, store)?, now, source, store)
}

/// The first half of a step: reads the blocks ahead. New addresses and new payers are added to the watch list after
/// it and before [`apply_blocks`]: then a payer who was known when a block was made is known when the block is
/// searched.
///
/// # Errors
/// See [`ScanError`]; nothing has changed.
pub fn read_ahead<'a>(
    config: &ScanConfig,
    source: impl Into<ChainSource<'a>>,
    now: Time,
    store: &Rows,
) -> Result<BlocksAhead, ScanError> {
    let source = source.into();
    let node = source.node;
    let head = newest(node)?;
    let Some(cursor) = rows::cursor(store, config.rules.chain.as_str())? else {
        return Ok(BlocksAhead(AheadKind::Begins(before_first(config, node, head)?)));
    };
    let ours = cursor.point;
    if head < ours.number {
        return Err(ScanError::Lagging { theirs: head, ours: ours.number });
    }
    // Another chain may answer since, over a connection that was renewed unnoticed. If both have their first blocks in
    // common, its blocks would be taken for ours, or for a reorganisation.
    node.check_identity()?;
    let fork = fork(config, (source, now), store, ours, head)?;
    if head == ours.number && fork == ours {
        return Ok(BlocksAhead(AheadKind::Nothing));
    }
    // Before the blocks: a mark is never newer than they are.
    let marked = finality_mark(config, source, now)?;
    let last = head.min(ours.number.saturating_add(config.blocks_per_step.max(1)));
    let blocks = read(config, node, fork, ours, last, head)?;
    let finalized = check_mark(config, store, fork, &blocks, marked)?;
    let marks = FinalityBounds { finalized, agreed: None };
    Ok(BlocksAhead(AheadKind::Blocks { cursor, fork, blocks, marks }))
}

/// The second half: finds the deposits in these blocks and writes them.
///
/// # Errors
/// See [`ScanError`]. Nothing has changed then, or it is unknown whether the rows were written; the next step finds
/// out.
pub fn apply_blocks<'a>(
    config: &ScanConfig,
    ahead: BlocksAhead,
    now: Time,
    source: impl Into<ChainSource<'a>>,
    store: &Rows,
) -> Result<ScanOutcome, ScanError> {
    let source = source.into();
    let (cursor, fork, blocks, mut marks) = match ahead.0 {
        AheadKind::Nothing => return Ok(ScanOutcome::UpToDate),
        AheadKind::Begins(header) => {
            let to = BlockPoint::from(&header);
            let begins = PlacedChange { change: ChainChange::HeaderNew(header), head: to };
            store.write(rows::step(config, None, to, &[begins], Vec::new(), now))?;
            return Ok(ScanOutcome::Moved { to, unwound_to: None, deposits: Vec::new(), notices: Vec::new() });
        }
        AheadKind::Blocks { cursor, fork, blocks, marks } => (cursor, fork, blocks, marks),
    };
    let (mut seen, mut named, mut notices) = (Vec::with_capacity(blocks.len()), Vec::<DepositId>::new(), Vec::new());
    for TracedBlock { block, internal } in &blocks {
        let CheckedSightings { sightings, absent } = search(config, (source, now), block, internal, &mut notices)?;
        notices.extend(absent.into_iter().map(ScanNotice::Absent));
        named.extend(sightings.iter().map(|sighting| sighting.id.clone()));
        seen.push((block.header, sightings));
        if named.len() > SIGHTINGS_MAX && block.header.number >= cursor.point.number {
            break;
        }
    }
    let above = (fork != cursor.point).then_some(fork.number);
    let sent = search_outgoing(config, source.node, store, fork, &blocks[..seen.len()], &mut notices)?;
    let mut sent: Vec<Statement> = sent.iter().map(|sent| outgoing::included(&config.rules.chain, sent, now)).collect();
    if let Some(above) = above {
        sent.insert(0, outgoing::unwound(&config.rules.chain, above, now));
    }
    let known = event_log::tracked(store.reader(), &config.rules.chain, above, &named)?;
    marks.agreed = agreement::agreed(&config.rules, source, now, &known, &seen)?;
    let mut follower = ChainFollower::new(cursor.point, known, marks);
    follower.unwind(fork);
    for (header, sightings) in seen {
        follower.advance(header, sightings)?;
    }
    store.write(rows::step(config, Some(cursor), follower.head(), follower.changes(), sent, now))?;
    let deposits = follower.changes().iter().filter_map(|placed| deposit_change(&placed.change)).collect();
    Ok(ScanOutcome::Moved { to: follower.head(), unwound_to: above, deposits, notices })
}

/// What our own wallets sent in the blocks of a step.
fn search_outgoing(
    config: &ScanConfig,
    node: &RpcNode,
    store: &Rows,
    fork: BlockPoint,
    blocks: &[TracedBlock],
    notices: &mut Vec<ScanNotice>,
) -> Result<Vec<OutgoingTransaction>, ScanError> {
    let blocks: Vec<&Block> = blocks.iter().map(|traced| &traced.block).collect();
    let (sent, unexplained) = outgoing::search(&config.watch, &config.rules.chain, node, store, fork, &blocks)?;
    notices.extend(unexplained.into_iter().map(ScanNotice::Nonce));
    Ok(sent)
}

/// The deposits of one block, compared with balances where no header vouches for them.
fn search(
    config: &ScanConfig,
    (source, now): (ChainSource<'_>, Time),
    block: &Block,
    internal: &[InternalTransfer],
    notices: &mut Vec<ScanNotice>,
) -> Result<CheckedSightings, ScanError> {
    let (rules, watch) = (&config.rules, &config.watch);
    let found = BlockSearch { rules, watch, block, internal };
    notices.extend(found.odd_logs().into_iter().map(ScanNotice::Odd));
    let sightings = found.sightings().map_err(RpcError::from)?;
    let check = BlockCheck { rules, watch, block, internal, sightings };
    let (agreement, block) = (rules.agreement.as_ref(), BlockPoint::from(&block.header));
    let (balances, mut answers) = (BalanceReader { source, agreement, block, now }, BTreeMap::new());
    for question in check.questions() {
        answers.insert(question, balances.ask(&question)?);
    }
    Ok(check.decide(&answers).map_err(RpcError::from)?)
}

/// The block that the chain itself calls final, as enough providers say.
fn finality_mark(
    config: &ScanConfig,
    source: ChainSource<'_>,
    now: Time,
) -> Result<Option<Option<BlockHeader>>, ScanError> {
    let Some(tag) = config.finality.tag() else { return Ok(None) };
    Ok(Some(match (source.providers, &config.rules.agreement) {
        (Some(providers), Some(rule)) if providers.len() >= rule.required => {
            let mark = providers.finalized(agreement::milliseconds(now), tag, rule.required);
            let is_believed = |mark: &FinalMark| agreement::judge(&mark.agreement, rule, providers, now);
            mark.filter(|mark| is_believed(mark) == ProviderVerdict::Agreed).map(|mark| mark.header)
        }
        _ => source.node.header(tag)?,
    }))
}

/// The mark, if it is on the branch that we follow. Nothing is final while the node has no mark.
fn check_mark(
    config: &ScanConfig,
    store: &Rows,
    fork: BlockPoint,
    blocks: &[TracedBlock],
    marked: Option<Option<BlockHeader>>,
) -> Result<Option<u64>, ScanError> {
    let Some(marked) = marked else { return Ok(None) };
    let Some(marked) = marked else { return Ok(Some(0)) };
    let ours = match blocks.iter().find(|read| read.block.header.number == marked.number) {
        Some(read) => Some(read.block.header.hash),
        None if marked.number <= fork.number => {
            let remembered = rows::headers(store, config.rules.chain.as_str())?;
            remembered.iter().find(|point| point.number == marked.number).map(|point| point.hash)
        }
        None => None,
    };
    match ours {
        Some(ours) if ours != marked.hash => {
            Err(ScanError::MarkElsewhere { number: marked.number, ours, theirs: marked.hash })
        }
        _ => Ok(Some(marked.number)),
    }
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
    (source, now): (ChainSource<'_>, Time),
    store: &Rows,
    cursor: BlockPoint,
    head: u64,
) -> Result<BlockPoint, ScanError> {
    let node = source.node;
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
    // Perhaps it is this provider alone that shows another chain: then the next step asks another one.
    if let (Some(lowest), Some(rule), Some(providers)) = (remembered.last(), &config.rules.agreement, source.providers)
    {
        let found = providers.agreement(agreement::milliseconds(now), lowest.number, lowest.hash);
        agreement::judge(&found, rule, providers, now);
    }
    let below = remembered.last().map_or(cursor.number, |lowest| lowest.number);
    Err(ScanError::TooDeep { below, window: config.window })
}

/// The blocks after the fork, at least up to our own height.
fn read(
    config: &ScanConfig,
    node: &RpcNode,
    fork: BlockPoint,
    cursor: BlockPoint,
    last: u64,
    head: u64,
) -> Result<Vec<TracedBlock>, ScanError> {
    let mut blocks = Vec::new();
    // A reorganisation needs all blocks up to our height at once; for the rest one look is enough.
    loop {
        let from = fork.number.saturating_add(1).saturating_add(u64::try_from(blocks.len()).unwrap_or(u64::MAX));
        if from > last || (from > cursor.number && !blocks.is_empty()) {
            return Ok(blocks);
        }
        let alone = from == last;
        let plan = ReadPlan {
            from,
            to: last,
            connections: if alone { 1 } else { CONNECTIONS },
            batch: BATCH,
            transactions_max: TRANSACTIONS_MAX,
            with_traces: config.traces,
        };
        let read = node.read_blocks(&plan)?;
        if read.is_empty() {
            return Err(ScanError::Missing { number: from, head });
        }
        blocks.extend(read);
    }
}

fn deposit_change(change: &ChainChange) -> Option<DepositChange> {
    let (inclusion, progress) = match change {
        ChainChange::Included(inclusion) => (inclusion, included(inclusion)),
        ChainChange::Final(inclusion) => (inclusion, ChainProgress::Final),
        ChainChange::Orphaned { inclusion, .. } => (inclusion, ChainProgress::Orphaned),
        ChainChange::HeadersGone { .. } | ChainChange::HeaderNew(_) => return None,
    };
    let Inclusion { deposit, epoch, asset, value, .. } = &**inclusion;
    Some(DepositChange { id: deposit.clone(), epoch: *epoch, asset: *asset, value: *value, progress })
}

fn included(inclusion: &Inclusion) -> ChainProgress {
    let block = inclusion.block.number;
    ChainProgress::Included {
        from: inclusion.from.parse().unwrap_or(Address::ZERO),
        purpose: inclusion.purpose,
        doubt: inclusion.doubt,
        block,
        final_at: block.saturating_add(inclusion.required.saturating_sub(1)),
    }
}
