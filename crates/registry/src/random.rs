//! Random bytes of the operating system: the one thing here that is not decided from input.

use rand_core::{OsRng, RngCore};

/// The operating system gave no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no random bytes")]
pub struct NoEntropy;

/// Random bytes for a secret, a session or a nonce.
///
/// # Errors
/// If the operating system gives none. Weak bytes are never used instead.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], NoEntropy> {
    let mut bytes = [0; N];
    OsRng.try_fill_bytes(&mut bytes).map_err(|_| NoEntropy)?;
    Ok(bytes)
}
