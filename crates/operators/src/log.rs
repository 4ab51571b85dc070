//! Entries of the audit log: who did what, when, proven by what; each hashed with the one before it.

use bankroll_ledger::{Name, Time};
use bankroll_orders::Address;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Act, SignedRequest};

/// The hash of an entry. It covers all entries before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ActHash(pub [u8; 32]);

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthorName {
    /// `bankroll init`, for the first entry alone.
    Init,
    Person(Name),
    /// By the id of its key.
    Program(Name),
}

/// What proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Nothing: the first entry.
    Init,
    /// The signature over the request. The act follows from the request.
    Signed(Box<SignedRequest>),
    /// A message to open a session, which the books have verified. It changes nothing but the list of sessions.
    Key(Address),
    /// A token, by the name of its session. Good for reading, and for ending the session itself.
    Session(String),
    /// The key of a program. Good for reading.
    ProgramKey(Name),
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogEntry {
    /// From 1, without gaps.
    pub number: u64,
    pub at: Time,
    pub author: AuthorName,
    pub act: Act,
    pub proof: Proof,
}

impl LogEntry {
    /// Its one text, which is hashed and stored.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The entry of a stored text; `None` for a text that no entry has.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let entry: Self = serde_json::from_str(text).ok()?;
        (entry.text() == text).then_some(entry)
    }
}

impl ActHash {
    /// The hash after an entry with this text.
    #[must_use]
    pub fn after(self, text: &str) -> Self {
        let hash = Sha256::new().chain_update(b"bankroll audit log 1\0").chain_update(self.0).chain_update(text);
        Self(hash.finalize().into())
    }
}
