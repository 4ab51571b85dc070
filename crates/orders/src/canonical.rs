//! The canonical encoding of a value, and digests over it.
//!
//! A version byte, then postcard. The decoder encodes the value again and compares, because postcard alone accepts
//! several forms of a number.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

/// The version of every encoding of this crate. Lists of variants only grow at their end; any other change needs the
/// next version.
const VERSION: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not the encoding of: {what}")]
pub struct MalformedMessage {
    pub what: &'static str,
}

/// A hash over one value of one kind.
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

#[must_use]
pub fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(value, vec![VERSION]).expect("every type of this crate can be encoded")
}

/// Reads [`encode`] back; `what` is for the error.
///
/// # Errors
/// The bytes are not the encoding of such a value.
pub fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, MalformedMessage> {
    let malformed = MalformedMessage { what };
    let (VERSION, body) = bytes.split_first().map(|(version, body)| (*version, body)).ok_or(malformed)? else {
        return Err(malformed);
    };
    let value: T = postcard::from_bytes(body).map_err(|_| malformed)?;
    if encode(&value) == bytes { Ok(value) } else { Err(malformed) }
}

/// The domain separates digests of different kinds of values.
#[must_use]
pub fn digest(domain: &'static str, value: &impl Serialize) -> OrderDigest {
    let hash = Sha256::new().chain_update(domain).chain_update([0]).chain_update(encode(value));
    OrderDigest(hash.finalize().into())
}
