//! The one encoding of a value, and digests over it.
//!
//! A version, then postcard. Reading writes the value again and compares, because postcard itself would take a number
//! in more than one form.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

/// The version of everything this crate encodes. Lists of variants only ever grow at their end; whatever cannot be said
/// so gets the next version.
const VERSION: u8 = 1;

/// Bytes that are not the encoding of any value of that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are no {what}")]
pub struct MalformedMessage {
    /// What they should have been.
    pub what: &'static str,
}

/// A hash that stands for one value of one kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OrderDigest(pub [u8; 32]);

impl fmt::Display for OrderDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for OrderDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The one encoding of a value.
#[must_use]
pub fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(value, vec![VERSION]).expect("every type of this crate can be written")
}

/// Reads [`encode`] back; `what` is for the error.
///
/// # Errors
/// Bytes that are the encoding of no such value.
pub fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, MalformedMessage> {
    let malformed = MalformedMessage { what };
    let (VERSION, body) = bytes.split_first().map(|(version, body)| (*version, body)).ok_or(malformed)? else {
        return Err(malformed);
    };
    let value: T = postcard::from_bytes(body).map_err(|_| malformed)?;
    if encode(&value) == bytes { Ok(value) } else { Err(malformed) }
}

/// Stands for a value of the kind that the domain names.
#[must_use]
pub fn digest(domain: &'static str, value: &impl Serialize) -> OrderDigest {
    let hash = Sha256::new().chain_update(domain).chain_update([0]).chain_update(encode(value));
    OrderDigest(hash.finalize().into())
}
