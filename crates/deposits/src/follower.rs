//! Following the chain: forward by `advance`, back by `unwind`. Pure.
//!
//! Both work on the same values (our position, the deposits that can still change) and return what changes as
//! values, so that a step is one write. For any chain, advancing over a block and unwinding it leaves every deposit
//! as it was, except that an orphaned one remembers its epoch: the next inclusion has the next epoch.
//!
//! It does not know RPC nodes, tables, and whether a deposit was credited: crediting reads the rows, and acts.

use std::collections::BTreeMap;

use bankroll_chains_evm::{B256, BlockHeader, Quantity, confirmations};

use crate::{ChainState, DepositId, Sighting};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPoint {
    pub number: u64,
    pub hash: B256,
}

impl From<&BlockHeader> for BlockPoint {
    fn from(header: &BlockHeader) -> Self {
        Self { number: header.number, hash: header.hash }
    }
}

/// A deposit as far as the chain can still change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackedDeposit {
    /// Which inclusion this is, from 1.
    pub epoch: u64,
    pub state: ChainState,
    /// The block of this inclusion.
    pub block: u64,
    /// Confirmations until it is final.
    pub required: u64,
    /// In base units.
    pub value: Quantity,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainChange {
    /// A deposit was included: for the first time, or again.
    Included {
        sighting: Box<Sighting>,
        /// Which inclusion this is, from 1.
        epoch: u64,
    },
    /// A deposit is deep enough.
    Final { id: DepositId, epoch: u64 },
    /// The block of a deposit is no longer canonical.
    Orphaned {
        id: DepositId,
        epoch: u64,
        /// Orphaned, or orphaned after it was final.
        state: ChainState,
    },
    /// Blocks above this number are no longer canonical.
    HeadersGone { above: u64 },
    /// A block is canonical now.
    HeaderNew(BlockHeader),
}

/// Our position on the chain during one step, and what the step changes.
#[derive(Clone, Debug)]
pub struct ChainFollower {
    head: BlockPoint,
    deposits: BTreeMap<DepositId, TrackedDeposit>,
    changes: Vec<ChainChange>,
}

/// A block that does not continue the chain: nothing that this RPC node sent is believed in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("block {number} does not continue {expected}: it names {parent} as its parent")]
pub struct BrokenParent {
    pub number: u64,
    pub expected: B256,
    pub parent: B256,
}

impl ChainFollower {
    /// Starts at our position, with the deposits that are not final yet, those above the block that will be unwound
    /// to, and those that the next blocks include again.
    #[must_use]
    pub const fn new(head: BlockPoint, deposits: BTreeMap<DepositId, TrackedDeposit>) -> Self {
        Self { head, deposits, changes: Vec::new() }
    }

    /// Goes over the next block, with its deposits.
    ///
    /// # Errors
    /// If it is not the next block; nothing has changed then.
    pub fn advance(&mut self, header: BlockHeader, sightings: Vec<Sighting>) -> Result<(), BrokenParent> {
        if header.parent != self.head.hash || Some(header.number) != self.head.number.checked_add(1) {
            return Err(BrokenParent { number: header.number, expected: self.head.hash, parent: header.parent });
        }
        self.head = BlockPoint::from(&header);
        self.changes.push(ChainChange::HeaderNew(header));
        for sighting in sightings {
            self.include(sighting);
        }
        self.finalise();
        Ok(())
    }

    /// Goes back to an earlier block, which is still canonical.
    pub fn unwind(&mut self, to: BlockPoint) {
        if to.number >= self.head.number {
            return;
        }
        self.head = to;
        self.changes.push(ChainChange::HeadersGone { above: to.number });
        for (id, known) in self.deposits.iter_mut().filter(|(_, known)| known.block > to.number) {
            known.state = match known.state {
                ChainState::Included => ChainState::Orphaned,
                ChainState::Final => ChainState::OrphanedAfterFinal,
                ChainState::Orphaned | ChainState::OrphanedAfterFinal => continue,
            };
            self.changes.push(ChainChange::Orphaned { id: id.clone(), epoch: known.epoch, state: known.state });
        }
    }

    #[must_use]
    pub const fn head(&self) -> BlockPoint {
        self.head
    }

    /// In order.
    #[must_use]
    pub fn changes(&self) -> &[ChainChange] {
        &self.changes
    }

    /// A deposit that was given at the start, or was included since.
    #[must_use]
    pub fn tracked(&self, id: &DepositId) -> Option<&TrackedDeposit> {
        self.deposits.get(id)
    }

    fn include(&mut self, sighting: Sighting) {
        let epoch = self.deposits.get(&sighting.id).map_or(0, |known| known.epoch).saturating_add(1);
        let (block, required) = (sighting.header.number, sighting.required);
        let value = sighting.transfer.value;
        let known = TrackedDeposit { epoch, state: ChainState::Included, block, required, value };
        self.deposits.insert(sighting.id.clone(), known);
        self.changes.push(ChainChange::Included { sighting: Box::new(sighting), epoch });
    }

    fn finalise(&mut self) {
        let head = self.head.number;
        for (id, known) in &mut self.deposits {
            let have = confirmations(head, known.block);
            if known.state == ChainState::Included && have >= known.required {
                known.state = ChainState::Final;
                self.changes.push(ChainChange::Final { id: id.clone(), epoch: known.epoch });
            }
        }
    }
}
