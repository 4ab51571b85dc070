//! Hashing fingerprints for tables in memory.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Fingerprints are hashes already; this adds a secret, so that an attacker cannot search for keys that collide in the
/// table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyHasher {
    secret: u64,
    factor: u64,
}

impl KeyHasher {
    pub fn new() -> Self {
        let random = RandomState::new();
        Self { secret: random.hash_one(1), factor: random.hash_one(2) | 1 }
    }
}

impl BuildHasher for KeyHasher {
    type Hasher = FingerprintHasher;

    fn build_hasher(&self) -> FingerprintHasher {
        FingerprintHasher { state: self.secret, factor: self.factor }
    }
}

pub(crate) struct FingerprintHasher {
    state: u64,
    factor: u64,
}

impl Hasher for FingerprintHasher {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only fingerprints are hashed here");
    }

    fn write_u128(&mut self, fingerprint: u128) {
        let mixed = u128::from(self.state ^ fingerprint as u64) * u128::from(self.factor);
        self.state = (mixed as u64) ^ (mixed >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.state
    }
}
