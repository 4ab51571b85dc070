//! The head of the signer's memory: how much it remembers, sealed, and carried back and forth.
//!
//! Whoever asks keeps the newest head it was answered and sends it along. A memory that was put back from an older copy
//! meets a head that it has never had, and stops. The seal is made from the key of the wallet, so that nobody else can
//! make a head that stops a signer, and no loss of the memory makes heads of the past unreadable.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which memory: drawn at random when it begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MemoryId(pub [u8; 16]);

/// Where a memory stood when it answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryHead {
    /// Which memory.
    pub memory: MemoryId,
    /// How many entries it had.
    pub count: u64,
    /// The hash over all of them.
    pub hash: [u8; 32],
    /// What only the holder of the wallet's key can compute over the rest.
    pub seal: [u8; 32],
}

impl MemoryHead {
    /// What the seal is over.
    #[must_use]
    pub fn sealed_bytes(&self) -> Vec<u8> {
        let domain: &[u8] = b"bankroll signer head 1\0";
        [domain, &self.memory.0, &self.count.to_be_bytes(), &self.hash].concat()
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for MemoryHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third, fourth, ..] = self.hash;
        write!(f, "{}:{}:{}", self.memory, self.count, hex::encode([first, second, third, fourth]))
    }
}
