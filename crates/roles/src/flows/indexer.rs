//! The role `indexer`: calls `bankroll_deposits::Indexer` again and again, and logs what it did.

use bankroll_chains_evm::RpcNode;
use bankroll_deposits::{Indexer, ScanOutcome, WatchList, indexer::wallet_of};
use bankroll_ledger::{AccountId, AccountKind, Time};
use bankroll_store::{AccountFilter, Clock, Reader, Rows, StoreError};

use super::{
    FlowSetup, RowsLocation, SenderProof, StopFlag, deposit_log,
    pace::{LoopRound, rounds},
};
use crate::{log::NodeLog, registry::ChainView};

/// Accounts read at a time.
const PAGE: usize = 1_000;

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
    /// The last account that was read, if accounts stand for proofs.
    read_to: Option<AccountId>,
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
        let outcome = open.step(self.clock.now(), node, self.setup.senders)?;
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
        Ok(OpenIndexer { rows, indexer: Indexer::new(self.setup.scan_config()), view, read_to: None })
    }
}

impl OpenIndexer {
    fn step(&mut self, now: Time, node: &RpcNode, senders: SenderProof) -> anyhow::Result<ScanOutcome> {
        let Self { rows, indexer, view, read_to } = self;
        let mut unreadable = None;
        let scanned = indexer.step(now, node, rows, |reader, watch| {
            if let Err(error) = view.update_watch_list(reader, watch) {
                unreadable = Some(error);
                // Ends the step before anything is written; the error itself is below.
                return Err(StoreError::Unreachable);
            }
            match senders {
                SenderProof::Signature => Ok(()),
                SenderProof::Account => add_account_owners(reader, watch, read_to),
            }
        });
        match unreadable {
            Some(error) => Err(error.into()),
            None => Ok(scanned?),
        }
    }
}

/// Takes the owners of accounts that were opened since the last call for proven players.
fn add_account_owners(
    reader: &Reader,
    watch: &mut WatchList,
    read_to: &mut Option<AccountId>,
) -> Result<(), StoreError> {
    let mut filter = AccountFilter { kind: Some(AccountKind::Funds), after: *read_to, ..AccountFilter::default() };
    loop {
        let accounts = reader.accounts(&filter, PAGE)?;
        let Some(last) = accounts.last() else { return Ok(()) };
        (filter.after, *read_to) = (Some(last.id), Some(last.id));
        let owners = accounts.iter().filter_map(|account| account.name.owner.as_ref());
        let wallets = owners.filter_map(|owner| Some((wallet_of(owner)?, owner.clone())));
        for (wallet, owner) in wallets {
            watch.proven.entry(wallet).or_insert(owner);
        }
    }
}
