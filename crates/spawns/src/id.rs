//! The id of a spawn: `spn_` and 32 hexadecimal digits.

use std::fmt;

use bankroll_ledger::Name;
use sha2::{Digest, Sha256};

/// A spawn. The same key of the same server has the same id, and no caller can choose it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpawnId(String);

impl SpawnId {
    /// The id of the spawn that a server reserves under one of its own keys.
    #[must_use]
    pub fn new(server: &Name, request_key: &str) -> Self {
        // A zero byte is in no name, so that (ab, c) and (a, bc) differ.
        let digest = Sha256::new().chain_update(server.as_str()).chain_update([0]).chain_update(request_key);
        let short: String = hex::encode(digest.finalize()).chars().take(32).collect();
        Self(format!("spn_{short}"))
    }

    /// The id that a caller wrote; `None` if it cannot be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("spn_")?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (digits.len() == 32 && digits.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SpawnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
