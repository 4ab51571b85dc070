//! The indexer of the product on books of its own, as a node runs it.

use std::{
    collections::BTreeMap,
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use bankroll_chains_evm::{Address, ChainIdentity, FinalityMark, HeadStream, RpcLimits, RpcNode};
use bankroll_deposits::{
    DEPOSITS, DepositRules, Indexer, Payer, ScanConfig, ScanOutcome, WatchList, WatchedAddress, view,
};
use bankroll_ledger::{AccountName, Asset, Name, Unit};
use bankroll_store::{Clock, Ledger, LedgerOptions, Reader, Rows};

use super::{
    super::seats,
    DepositMode,
    blocks::{self, DepositTotals},
    cell::CellOrder,
};

/// As the indexer of a node has them.
const CONFIRMATIONS: u64 = 12;
const WINDOW: u64 = 256;
const BLOCKS_PER_STEP: u64 = 1_000;
/// How often it looks for blocks that were not announced.
const POLL: Duration = Duration::from_secs(1);

pub(super) struct IndexedBooks {
    ledger: Ledger,
    rows: Rows,
    node: RpcNode,
    indexer: Indexer,
    clock: Clock,
    chain: Name,
}

/// The deposits that rows must show in this mode.
pub(super) fn expected(mode: DepositMode, all: &DepositTotals) -> DepositTotals {
    let counts = |kind: &str| kind != "internal" || mode == DepositMode::Traces;
    all.iter().filter(|(kind, _)| counts(kind)).map(|(kind, total)| (kind.clone(), *total)).collect()
}

/// The deposits of a chain in the books, by kind.
pub(super) fn totals(reader: &Reader, chain: &str) -> anyhow::Result<DepositTotals> {
    let mut totals = DepositTotals::new();
    for deposit in view::of_chain(reader, chain)? {
        totals.entry(deposit.kind.as_str().to_owned()).or_default().add(deposit.amount.parse()?);
    }
    Ok(totals)
}

impl IndexedBooks {
    /// New books, and a watch list with an address for each player.
    pub fn open(order: &CellOrder) -> anyhow::Result<Self> {
        let chain: Name = format!("eip155:{}", order.chain_id).parse()?;
        let ledger =
            Ledger::create(LedgerOptions { migrations: vec![DEPOSITS], ..LedgerOptions::new(order.books.clone()) })?;
        let list = |unit, decimals, symbol: &str| {
            ledger.list_asset(Asset { chain: chain.clone(), unit, decimals, symbol: symbol.into() })
        };
        let coin = list(Unit::Native, 18, "SIM")?;
        let contract = Address(blocks::TOKEN.into_array());
        let token = list(Unit::Token(contract.lower_hex().parse()?), 6, "DOLLAR")?;
        let config = ScanConfig {
            rules: DepositRules { chain: chain.clone(), coin, confirmations: CONFIRMATIONS, agreement: None },
            watch: WatchList {
                tokens: BTreeMap::from([(contract, token)]),
                ..watch_list(order.watched, &format!("@house/custody/{coin}/hot"))?
            },
            start: order.start,
            window: WINDOW,
            blocks_per_step: BLOCKS_PER_STEP,
            traces: order.mode == DepositMode::Traces,
            finality: FinalityMark::Finalized,
        };
        let identity = ChainIdentity { chain_id: order.chain_id, genesis: order.genesis };
        Ok(Self {
            chain,
            rows: Rows::open(&ledger)?,
            ledger,
            node: RpcNode::http(&order.url, identity, RpcLimits::default())?,
            indexer: Indexer::new(config),
            clock: Clock::machine(),
        })
    }

    fn step(&mut self) -> anyhow::Result<ScanOutcome> {
        Ok(self.indexer.step(self.clock.now(), (&self.node).into(), &self.rows, |_, _| Ok(()))?)
    }

    /// Reads all blocks up to this one.
    pub fn read_to(&mut self, last: u64) -> anyhow::Result<Duration> {
        let start = Instant::now();
        loop {
            match self.step()? {
                ScanOutcome::Moved { to, .. } if to.number < last => {}
                ScanOutcome::Moved { .. } => return Ok(start.elapsed()),
                ScanOutcome::UpToDate => anyhow::bail!("the indexer stopped before block {last}"),
            }
        }
    }

    /// Audits and removes the books; returns the deposits that were in them.
    pub fn close(self) -> anyhow::Result<DepositTotals> {
        let totals = totals(self.rows.reader(), self.chain.as_str())?;
        drop(self.rows);
        seats::close_and_audit(self.ledger)?;
        Ok(totals)
    }
}

/// Follows new blocks until the input of this process ends: looks when one is announced, and now and then.
pub(super) fn follow(
    books: &mut IndexedBooks,
    heads_url: &str,
    is_ready: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut heads = HeadStream::connect(heads_url, books.node.identity(), RpcLimits::default())?;
    is_ready()?;
    let ended = Arc::<AtomicBool>::default();
    let end = Arc::clone(&ended);
    std::thread::Builder::new().name("input".into()).spawn(move || {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        end.store(true, Ordering::SeqCst);
    })?;
    while !ended.load(Ordering::SeqCst) {
        if books.step()? == ScanOutcome::UpToDate {
            heads.wait(POLL)?;
        }
    }
    Ok(())
}

fn watch_list(watched: u64, custody: &str) -> anyhow::Result<WatchList> {
    let (server, custody): (Name, AccountName) = ("bench".parse()?, custody.parse()?);
    let mut watch = WatchList::default();
    for number in 0..watched {
        let address = Address(blocks::watched(number).into_array());
        let payer = Payer::Player(address.lower_hex().parse()?);
        let (server, custody) = (server.clone(), custody.clone());
        watch.addresses.insert(address, WatchedAddress { server, custody, payer, by_asset: BTreeMap::new(), since: 0 });
    }
    Ok(watch)
}
