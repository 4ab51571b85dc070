//! The head of the signer's memory: the length and hash of its log, sealed.
//!
//! The caller stores the newest head it received and sends it with the next request. A memory that was restored from an
//! older copy then receives a head that it does not contain, and stops. The wallet's key makes the seal, so no one else
//! can make a head that stops a signer, and old heads stay verifiable when the memory is lost.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identifies a memory; chosen at random when it is created.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MemoryId(pub [u8; 16]);

/// The state of a memory when it answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryHead {
    pub memory: MemoryId,
    /// The number of entries.
    pub count: u64,
    /// The hash over all entries.
    pub hash: [u8; 32],
    /// A MAC over the other fields, made with the wallet's key.
    pub seal: [u8; 32],
}

impl MemoryHead {
    /// The bytes that the seal covers.
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
