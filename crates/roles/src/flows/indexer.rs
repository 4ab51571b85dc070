//! The role `indexer`: calls `bankroll_deposits::Indexer` again and again, and logs what it did.

use bankroll_chains_evm::RpcNode;
use bankroll_deposits::{Indexer, ScanOutcome};
use bankroll_ledger::Time;
use bankroll_store::{Clock, Rows, StoreError};

use super::{
    FlowSetup, RowsLocation, StopFlag, deposit_log,
    pace::{LoopRound, rounds},
};
use crate::{log::NodeLog, registry::ChainView};

/// Follows the chain until a stop is requested.
pub fn follow(setup: &FlowSetup, rows: &RowsLocation, log: &NodeLog, stop: &StopFlag) {
    let mut indexer_loop = IndexerLoop { setup, log, clock: Clock::machine(), open: None, nodes: Vec::new() };
    let chain = setup.chain();
    log.write("follows", &format!("follows {chain}: deposits are final after {} blocks", setup.confirmations), &[]);
    rounds("indexer", setup.poll, log, stop, |turn| indexer_loop.round(rows, turn));
}

struct IndexerLoop<'a> {
    setup: &'a FlowSetup,
    log: &'a NodeLog,
    clock: Clock,
    nodes: Vec<RpcNode>,
    /// Kept while all goes well: after a failure everything is read again.
    open: Option<OpenIndexer>,
}

struct OpenIndexer {
    rows: Rows,
    indexer: Indexer,
    view: ChainView,
}

impl IndexerLoop<'_> {
    fn round(&mut self, at: &RowsLocation, turn: usize) -> anyhow::Result<LoopRound> {
        if self.nodes.is_empty() {
            self.nodes = self.setup.nodes()?;
        }
        let node = &self.nodes[turn % self.nodes.len()];
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.open(at)?,
        };
        open.view.update(open.rows.reader())?;
        if !open.view.is_registered() {
            self.open = Some(open);
            return Ok(LoopRound::Waits(format!("the registry does not list {} yet", self.setup.chain())));
        }
        let outcome = open.step(self.clock.now(), node)?;
        self.open = Some(open);
        let ScanOutcome::Moved { unwound_to, deposits, .. } = outcome else { return Ok(LoopRound::Idle) };
        if let Some(fork) = unwound_to {
            let sentence = format!("the chain was reorganised: block {fork} is the last common one");
            self.log.write("reorganised", &sentence, &[("block", fork.into())]);
        }
        deposit_log::write_seen(self.log, &self.setup.coin, &deposits);
        Ok(LoopRound::Busy)
    }

    fn open(&self, at: &RowsLocation) -> anyhow::Result<OpenIndexer> {
        let rows = Rows::open(at)?;
        let view = ChainView::new(self.setup.chain(), self.setup.asset(rows.reader())?);
        Ok(OpenIndexer { rows, indexer: Indexer::new(self.setup.scan_config()), view })
    }
}

impl OpenIndexer {
    fn step(&mut self, now: Time, node: &RpcNode) -> anyhow::Result<ScanOutcome> {
        let Self { rows, indexer, view } = self;
        let mut unreadable = None;
        let scanned = indexer.step(now, node, rows, |reader, watch| {
            if let Err(error) = view.update_watch_list(reader, watch) {
                unreadable = Some(error);
                // Ends the step before anything is written; the error itself is below.
                return Err(StoreError::Unreachable);
            }
            Ok(())
        });
        match unreadable {
            Some(error) => Err(error.into()),
            None => Ok(scanned?),
        }
    }
}
