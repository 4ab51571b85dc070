//! The one byte form of snapshots, events and states.
//!
//! Hashes and signatures are over these bytes, so a value has exactly one form: what decodes but would be written
//! differently is refused, and so is anything after the end.

use serde::{Serialize, de::DeserializeOwned};

/// Why bytes are not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandDecodeError {
    /// Cut short, of another type, or breaking a rule of the value.
    #[error("the bytes do not decode")]
    Malformed,
    /// There is something after the value, or it could have been written shorter.
    #[error("the bytes are not in their one canonical form")]
    NotCanonical,
}

#[must_use]
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("values of this crate have a known length and no map")
}

/// The value of bytes.
///
/// # Errors
/// If they are no value, or not the form [`encode`] gives it.
pub fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, HandDecodeError> {
    let value = postcard::from_bytes(bytes).map_err(|_| HandDecodeError::Malformed)?;
    if encode(&value) == bytes { Ok(value) } else { Err(HandDecodeError::NotCanonical) }
}
