//! The tree over the heads of all batches: large subtrees from their rows, small ones from the batches.

use std::{
    cell::RefCell,
    collections::{BTreeMap, btree_map::Entry},
};

use bankroll_ledger::merkle::{self, GrowingTree, Hash, Subtree};
use bankroll_store::{
    Reader,
    columns::{BadRow, int},
};

use crate::{HeadsError, rows::bytes_of};

/// Subtrees of this level and above have rows: those of 256 leaves and more.
pub(crate) const STORED_LEVEL: u32 = 8;
const BLOCK: usize = 1 << STORED_LEVEL;

pub(crate) struct TreeReader<'a> {
    reader: &'a Reader,
    /// The leaves of blocks that were read: both ends of a proof are in a few of them.
    blocks: RefCell<BTreeMap<u64, Vec<Hash>>>,
}

impl<'a> TreeReader<'a> {
    pub fn new(reader: &'a Reader) -> Self {
        Self { reader, blocks: RefCell::default() }
    }

    /// The root of a full subtree.
    pub fn subtree(&self, subtree: Subtree) -> Result<Hash, HeadsError> {
        let Subtree { level, index } = subtree;
        if level >= STORED_LEVEL {
            return self.stored(subtree);
        }
        // A block has 2^above such subtrees.
        let above = STORED_LEVEL.saturating_sub(level);
        let (block, place) = (index >> above, index & (1_u64 << above).saturating_sub(1));
        let width = 1_usize << level;
        let first = usize::try_from(place).unwrap_or(BLOCK).saturating_mul(width);
        let mut blocks = self.blocks.borrow_mut();
        let leaves = match blocks.entry(block) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(entry) => entry.insert(self.leaves(block)?),
        };
        let leaves = leaves.get(first..first.saturating_add(width));
        leaves.map(merkle::root).ok_or(HeadsError::NodeMissing { level, place: index })
    }

    /// The tree of the first batches, as far as it is needed to grow.
    pub fn grown(&self, size: u64) -> Result<GrowingTree, HeadsError> {
        let peaks = GrowingTree::peaks_of(size).into_iter().map(|peak| self.subtree(peak));
        let tree = GrowingTree::from_peaks(size, peaks.collect::<Result<_, _>>()?);
        tree.ok_or(HeadsError::TreeDiffers { batch: size })
    }

    fn stored(&self, Subtree { level, index: place }: Subtree) -> Result<Hash, HeadsError> {
        let sql = "SELECT hash FROM head_nodes WHERE level = $1 AND place = $2";
        let row = self.reader.rows(sql, vec![int(level.into()), int(place)])?.pop();
        let row = row.ok_or(HeadsError::NodeMissing { level, place })?;
        bytes_of(&row, "hash").map_err(|error: BadRow| error.into())
    }

    /// The leaves of a block, as far as there are batches.
    fn leaves(&self, block: u64) -> Result<Vec<Hash>, HeadsError> {
        let first = block.saturating_mul(BLOCK as u64).saturating_add(1);
        let batches = self.reader.batches(first, BLOCK)?;
        Ok(batches.iter().map(|(_, head)| merkle::leaf(head)).collect())
    }
}
