//! Following the chain: forward by `advance`, back by `unwind`. Pure.
//!
//! Both work on the same values (our position, the deposits that can still change) and return what changes as
//! values, so that a step is one write. For any chain, advancing over a block and unwinding it leaves every deposit
//! as it was, except that an orphaned one remembers its epoch: the next inclusion has the next epoch.
//!
//! It does not know RPC nodes, tables, and whether a deposit was credited: crediting reads the rows, and acts.

use std::collections::BTreeMap;

use bankroll_chains_evm::{B256, BlockHeader, confirmations};

use crate::{ChainState, DepositId, Inclusion, Sighting};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedDeposit {
    pub inclusion: Box<Inclusion>,
    pub state: ChainState,
}

/// Up to where others vouch for the chain, beyond the number of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FinalityBounds {
    /// The newest block that the chain itself calls final; `None` if only depth counts on this chain.
    pub finalized: Option<u64>,
    /// The newest block of which enough providers say that it is on the chain. Only deposits that need it are compared.
    pub agreed: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainChange {
    /// A deposit was included: for the first time, or again.
    Included(Box<Inclusion>),
    /// A deposit is deep enough.
    Final(Box<Inclusion>),
    /// The block of a deposit is no longer canonical.
    Orphaned {
        inclusion: Box<Inclusion>,
        /// Orphaned, or orphaned after it was final.
        state: ChainState,
    },
    /// Blocks above this number are no longer canonical.
    HeadersGone { above: u64 },
    /// A block is canonical now.
    HeaderNew(BlockHeader),
}

/// A change, and our position when it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedChange {
    pub change: ChainChange,
    pub head: BlockPoint,
}

/// Our position on the chain during one step, and what the step changes.
#[derive(Clone, Debug)]
pub struct ChainFollower {
    head: BlockPoint,
    deposits: BTreeMap<DepositId, TrackedDeposit>,
    marks: FinalityBounds,
    changes: Vec<PlacedChange>,
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
    pub const fn new(head: BlockPoint, deposits: BTreeMap<DepositId, TrackedDeposit>, marks: FinalityBounds) -> Self {
        Self { head, deposits, marks, changes: Vec::new() }
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
        self.push(ChainChange::HeaderNew(header));
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
        self.push(ChainChange::HeadersGone { above: to.number });
        let above = self.deposits.values_mut().filter(|known| known.inclusion.block.number > to.number);
        for known in above {
            known.state = match known.state {
                ChainState::Included => ChainState::Orphaned,
                ChainState::Final => ChainState::OrphanedAfterFinal,
                ChainState::Orphaned | ChainState::OrphanedAfterFinal => continue,
            };
            let change = ChainChange::Orphaned { inclusion: known.inclusion.clone(), state: known.state };
            self.changes.push(PlacedChange { change, head: to });
        }
    }

    #[must_use]
    pub const fn head(&self) -> BlockPoint {
        self.head
    }

    /// In order.
    #[must_use]
    pub fn changes(&self) -> &[PlacedChange] {
        &self.changes
    }

    fn push(&mut self, change: ChainChange) {
        self.changes.push(PlacedChange { change, head: self.head });
    }

    fn include(&mut self, sighting: Sighting) {
        let known = self.deposits.get(&sighting.id);
        let epoch = known.map_or(0, |known| known.inclusion.epoch).saturating_add(1);
        let inclusion = Box::new(Inclusion::new(sighting, epoch));
        let known = TrackedDeposit { inclusion: inclusion.clone(), state: ChainState::Included };
        self.deposits.insert(inclusion.deposit.clone(), known);
        self.push(ChainChange::Included(inclusion));
    }

    fn finalise(&mut self) {
        let head = self.head;
        for known in self.deposits.values_mut() {
            let (block, required) = (known.inclusion.block.number, known.inclusion.required);
            let is_deep = confirmations(head.number, block) >= required;
            let is_marked = self.marks.finalized.is_none_or(|finalized| block <= finalized);
            let is_agreed = !known.inclusion.needs_agreement || self.marks.agreed.is_some_and(|agreed| block <= agreed);
            if known.state == ChainState::Included && is_deep && is_marked && is_agreed {
                known.state = ChainState::Final;
                self.changes.push(PlacedChange { change: ChainChange::Final(known.inclusion.clone()), head });
            }
        }
    }
}
