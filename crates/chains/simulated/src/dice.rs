//! Random choices from the seed: a hashed counter, the same on every machine.

use alloy_primitives::{B256, keccak256};

#[derive(Clone, Debug)]
pub struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    pub const fn new(seed: u64) -> Self {
        Self { seed, thrown: 0 }
    }

    /// A number below the bound, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.thrown = self.thrown.wrapping_add(1);
        let hash = derived(self.seed, b"dice", self.thrown);
        let mut first = [0; 8];
        first.copy_from_slice(&hash[..8]);
        let bound = bound as u64;
        // The modulo bias of 64 bits is negligible here.
        u64::from_be_bytes(first).checked_rem(bound).map_or(0, |rest| rest as usize)
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            let other = self.below(place.saturating_add(1));
            list.swap(place, other);
        }
    }
}

/// Bytes derived from the seed for a purpose and a number.
pub fn derived(seed: u64, purpose: &[u8], number: u64) -> B256 {
    let parts = [b"bankroll simulated chain\0".as_slice(), purpose, b"\0", &seed.to_be_bytes(), &number.to_be_bytes()];
    keccak256(parts.concat())
}
