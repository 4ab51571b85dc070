//! The course of the chain as the scanner follows it: forward by `advance`, back by `unwind`. Pure.
//!
//! Both work on the same few things (where we are, the deposits that can still change) and say what changes as values, so
//! that whatever a step does is one write. For any chain, advancing over a block and unwinding it leaves every deposit as it
//! was, except that an orphaned one remembers its epoch: the next inclusion is the next one.
//!
//! It does not know nodes, tables, and whether a deposit was credited: the books look at what it says, and act.

use std::collections::BTreeMap;

use bankroll_chains_evm::{B256, Header};

use crate::{ChainState, DepositId, Sighting};

/// A block's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its height.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
}

impl From<&Header> for Point {
    fn from(header: &Header) -> Self {
        Self { number: header.number, hash: header.hash }
    }
}

/// A deposit as far as the chain can still change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Which inclusion this is, from 1.
    pub epoch: u64,
    /// Where the chain has it.
    pub state: ChainState,
    /// The block of this inclusion.
    pub block: u64,
    /// How many confirmations it takes.
    pub required: u64,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A deposit was included: for the first time, or again.
    Included {
        /// What was seen.
        sighting: Box<Sighting>,
        /// Which inclusion this is, from 1.
        epoch: u64,
    },
    /// A deposit is deep enough.
    Final {
        /// Which.
        id: DepositId,
        /// Of this inclusion.
        epoch: u64,
    },
    /// The block of a deposit is no longer canonical.
    Orphaned {
        /// Which.
        id: DepositId,
        /// Of this inclusion.
        epoch: u64,
        /// Where it is now: orphaned, or orphaned after it was final.
        state: ChainState,
    },
    /// Blocks above this number are no longer canonical.
    HeadersGone {
        /// The last that still is.
        above: u64,
    },
    /// A block is canonical now.
    HeaderNew(Header),
}

/// The chain as we follow it, while a step is made.
#[derive(Clone, Debug)]
pub struct Course {
    head: Point,
    deposits: BTreeMap<DepositId, Known>,
    changes: Vec<Change>,
}

/// A block that does not continue the chain: whoever gave it is not to be believed in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("block {number} does not continue {expected}: it names {parent} as its parent")]
pub struct Gap {
    /// The block.
    pub number: u64,
    /// The hash it should continue.
    pub expected: B256,
    /// The hash it continues.
    pub parent: B256,
}

impl Course {
    /// From where we are, with the deposits that are not final yet, those above the block that will be unwound to, and those
    /// that the next blocks include again.
    #[must_use]
    pub const fn new(head: Point, deposits: BTreeMap<DepositId, Known>) -> Self {
        Self { head, deposits, changes: Vec::new() }
    }

    /// Over the next block, with what of it came to us.
    ///
    /// # Errors
    /// If it is not the next block; nothing has changed then.
    pub fn advance(&mut self, header: Header, sightings: Vec<Sighting>) -> Result<(), Gap> {
        if header.parent != self.head.hash || Some(header.number) != self.head.number.checked_add(1) {
            return Err(Gap { number: header.number, expected: self.head.hash, parent: header.parent });
        }
        self.head = Point::from(&header);
        self.changes.push(Change::HeaderNew(header));
        for sighting in sightings {
            self.include(sighting);
        }
        self.finalise();
        Ok(())
    }

    /// Back to an earlier block, which is still canonical.
    pub fn unwind(&mut self, to: Point) {
        if to.number >= self.head.number {
            return;
        }
        self.head = to;
        self.changes.push(Change::HeadersGone { above: to.number });
        for (id, known) in self.deposits.iter_mut().filter(|(_, known)| known.block > to.number) {
            known.state = match known.state {
                ChainState::Included => ChainState::Orphaned,
                ChainState::Final => ChainState::OrphanedAfterFinal,
                ChainState::Orphaned | ChainState::OrphanedAfterFinal => continue,
            };
            self.changes.push(Change::Orphaned { id: id.clone(), epoch: known.epoch, state: known.state });
        }
    }

    /// Where we are.
    #[must_use]
    pub const fn head(&self) -> Point {
        self.head
    }

    /// What has changed, in order.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn include(&mut self, sighting: Sighting) {
        let epoch = self.deposits.get(&sighting.id).map_or(0, |known| known.epoch).saturating_add(1);
        let (block, required) = (sighting.header.number, sighting.required);
        let known = Known { epoch, state: ChainState::Included, block, required };
        self.deposits.insert(sighting.id.clone(), known);
        self.changes.push(Change::Included { sighting: Box::new(sighting), epoch });
    }

    fn finalise(&mut self) {
        let head = self.head.number;
        for (id, known) in &mut self.deposits {
            let have = confirmations(head, known.block);
            if known.state == ChainState::Included && have >= known.required {
                known.state = ChainState::Final;
                self.changes.push(Change::Final { id: id.clone(), epoch: known.epoch });
            }
        }
    }
}

/// How many blocks a block has on it, itself included.
#[must_use]
pub const fn confirmations(head: u64, block: u64) -> u64 {
    match head.checked_sub(block) {
        Some(above) => above.saturating_add(1),
        None => 0,
    }
}
