//! The role `indexer`: calls `bankroll_deposits::Indexer` again and again, and logs what it did.

use std::collections::BTreeMap;

use bankroll_chains_evm::RpcNode;
use bankroll_deposits::{Indexer, ScanOutcome, WatchList, indexer::wallet_of};
use bankroll_ledger::AccountKind;
use bankroll_store::{AccountFilter, Clock, Reader, Rows, StoreError};

use super::{
    FlowSetup, RowsLocation, StopFlag, deposit_log,
    pace::{LoopRound, rounds},
};
use crate::log::NodeLog;

/// Follows the chain until a stop is requested.
pub fn follow(setup: &FlowSetup, rows: &RowsLocation, log: &NodeLog, stop: &StopFlag) {
    let mut indexer_loop = IndexerLoop { setup, log, clock: Clock::machine(), open: None, nodes: Vec::new() };
    let chain = setup.chain();
    log.write(
        "follows",
        &format!("follows {chain}: deposits to {} are final after {} blocks", setup.wallet, setup.confirmations),
        &[],
    );
    rounds("indexer", setup.poll, log, stop, |turn| indexer_loop.round(rows, turn));
}

struct IndexerLoop<'a> {
    setup: &'a FlowSetup,
    log: &'a NodeLog,
    clock: Clock,
    nodes: Vec<RpcNode>,
    /// Kept while all goes well: after a failure everything is read again.
    open: Option<(Rows, Indexer)>,
}

impl IndexerLoop<'_> {
    fn round(&mut self, at: &RowsLocation, turn: usize) -> anyhow::Result<LoopRound> {
        if self.nodes.is_empty() {
            self.nodes = self.setup.nodes()?;
        }
        let node = &self.nodes[turn % self.nodes.len()];
        let (rows, mut indexer) = match self.open.take() {
            Some(open) => open,
            None => {
                let rows = Rows::open(at)?;
                let config = self.setup.scan_config(self.setup.asset(rows.reader())?, BTreeMap::new());
                (rows, Indexer::new(config))
            }
        };
        let outcome = indexer.step(self.clock.now(), node, &rows, add_players)?;
        self.open = Some((rows, indexer));
        let ScanOutcome::Moved { unwound_to, deposits, .. } = outcome else { return Ok(LoopRound::Idle) };
        if let Some(fork) = unwound_to {
            let sentence = format!("the chain was reorganised: block {fork} is the last common one");
            self.log.write("reorganised", &sentence, &[("block", fork.into())]);
        }
        deposit_log::write_seen(self.log, &self.setup.coin, &deposits);
        Ok(LoopRound::Busy)
    }
}

/// Until players sign in, an open account stands for the proof. The registry's proven wallets replace this: an account
/// that a game server opens proves nothing.
fn add_players(reader: &Reader, watch: &mut WatchList) -> Result<(), StoreError> {
    let mut filter = AccountFilter { kind: Some(AccountKind::Funds), ..AccountFilter::default() };
    loop {
        let accounts = reader.accounts(&filter, 1_000)?;
        let Some(last) = accounts.last() else { return Ok(()) };
        filter.after = Some(last.id);
        let owners = accounts.iter().filter_map(|account| account.name.owner.as_ref());
        watch.proven.extend(owners.filter_map(|owner| Some((wallet_of(owner)?, owner.clone()))));
    }
}
