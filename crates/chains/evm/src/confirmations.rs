//! Depth in blocks, counted once for all flows.

use crate::BlockHeader;

/// How many blocks confirm a block, itself included: 1 for the newest block, 0 for one above the head.
#[must_use]
pub const fn confirmations(head: u64, block: u64) -> u64 {
    match head.checked_sub(block) {
        Some(above) => above.saturating_add(1),
        None => 0,
    }
}

impl BlockHeader {
    /// How many blocks confirm this one, itself included, while the chain's newest block has the number `head`.
    #[must_use]
    pub const fn confirmations(&self, head: u64) -> u64 {
        confirmations(head, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::confirmations;

    #[test]
    fn the_newest_block_has_one_confirmation_and_a_later_one_has_none() {
        assert_eq!(
            [confirmations(9, 9), confirmations(9, 8), confirmations(9, 0), confirmations(9, 10)],
            [1, 2, 10, 0]
        );
        assert_eq!(confirmations(u64::MAX, 0), u64::MAX);
    }
}
