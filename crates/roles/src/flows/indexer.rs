//! The role `indexer`: follows the chain, block by block. What a step does is `bankroll_deposits::Indexer`'s.

use std::collections::BTreeMap;

use bankroll_chains_evm::Node;
use bankroll_deposits::{DepositChange, Indexer, Scanned};
use bankroll_store::{Clock, Rows};

use super::{
    RowsAt, Setup, Stop,
    pace::{Round, rounds},
};
use crate::log::Log;

/// Follows the chain until it is time to stop.
pub fn follow(setup: &Setup, rows: &RowsAt, log: &Log, stop: &Stop) {
    let mut follower = Follower { setup, log, clock: Clock::machine(), open: None, nodes: Vec::new() };
    let chain = setup.chain();
    log.say(
        "follows",
        &format!("follows {chain}: deposits to {} are final after {} blocks", setup.wallet, setup.confirmations),
        &[],
    );
    rounds("indexer", setup.poll, log, stop, |turn| follower.round(rows, turn));
}

struct Follower<'a> {
    setup: &'a Setup,
    log: &'a Log,
    clock: Clock,
    nodes: Vec<Node>,
    /// Kept while all goes well: after a failure everything is read again.
    open: Option<(Rows, Indexer)>,
}

impl Follower<'_> {
    fn round(&mut self, at: &RowsAt, turn: usize) -> anyhow::Result<Round> {
        if self.nodes.is_empty() {
            self.nodes = self.setup.nodes()?;
        }
        let node = &self.nodes[turn % self.nodes.len()];
        let (rows, mut indexer) = match self.open.take() {
            Some(open) => open,
            None => {
                let rows = at.open()?;
                let scanning = self.setup.scanning(self.setup.asset(rows.reader())?, BTreeMap::new());
                (rows, Indexer::new(scanning))
            }
        };
        let scanned = indexer.step(self.clock.now(), node, &rows)?;
        self.open = Some((rows, indexer));
        let Scanned::Moved { unwound_to, deposits, .. } = scanned else { return Ok(Round::Idle) };
        if let Some(fork) = unwound_to {
            let sentence = format!("the chain was reorganised: block {fork} is the last that stayed");
            self.log.say("reorganised", &sentence, &[("block", fork.into())]);
        }
        deposits.iter().for_each(|change| self.tell(change));
        Ok(Round::Busy)
    }

    fn tell(&self, change: &DepositChange) {
        let (event, id, epoch, what) = match change {
            DepositChange::Included(id, epoch) => ("deposit_included", id, epoch, "is in a block"),
            DepositChange::Final(id, epoch) => ("deposit_final", id, epoch, "is final"),
            DepositChange::Orphaned(id, epoch) => ("deposit_orphaned", id, epoch, "is no longer on the chain"),
        };
        self.log.tell(event, || {
            (format!("deposit {id} {what}"), vec![("deposit", id.to_string().into()), ("epoch", (*epoch).into())])
        });
    }
}
