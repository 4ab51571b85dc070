//! Idempotency keys: one key, one effect, for ever.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Scope;

pub const KEY_BYTES_MAX: usize = 255;

/// The group of callers that a key belongs to. The system's keys never share a namespace with a caller's, nor a
/// player's with a game's. New namespaces go to the end: the journal stores their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namespace {
    /// Game servers, developers, operators; texts that begin with `developer/` and `admin/` are not a game server's.
    Client,
    /// Credits and reversals of deposits.
    Deposits,
    /// Settlement of payouts.
    Payouts,
    /// Hands and seats of card tables.
    Tables,
    /// Entries drained from hot accounts.
    Hot,
    /// Everything else that Bankroll does by itself.
    System,
    /// Players; each may use the keys that begin with their own wallet and a slash.
    Player,
    /// Changes of the registry, and nonces that count once.
    Registry,
}

impl Namespace {
    pub const ALL: [Self; 8] = [
        Self::Client,
        Self::Deposits,
        Self::Payouts,
        Self::Tables,
        Self::Hot,
        Self::System,
        Self::Player,
        Self::Registry,
    ];
}

/// An idempotency key: unique within its namespace and scope.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdempotencyKey {
    pub namespace: Namespace,
    pub scope: Scope,
    /// 1 to 255 bytes without control characters.
    pub text: String,
}

impl IdempotencyKey {
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        (1..=KEY_BYTES_MAX).contains(&self.text.len()) && !self.text.chars().any(char::is_control)
    }

    /// What the key index stores: 128 bits of a hash, so that every key costs the same and hostile keys cannot target
    /// one slot. The records distinguish two keys with one fingerprint.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        hash.update([self.namespace as u8]);
        match &self.scope {
            Scope::House => hash.update([0]),
            Scope::Server(server) => {
                hash.update([1]);
                hash.update(server.as_str());
                // Not a legal byte of a name, so that (ab, c) and (a, bc) differ.
                hash.update([0]);
            }
        }
        hash.update(&self.text);
        let digest: [u8; 32] = hash.finalize().into();
        let (head, _) = digest.split_at(16);
        Fingerprint(u128::from_be_bytes(head.try_into().expect("sixteen bytes")))
    }
}

/// The hash of a key, as the key index stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub u128);
