//! Keys of programs: `bkp_ID_SECRET` in `Authorization: Bearer`. The books have the hash of the secret.

use bankroll_ledger::{Name, Time};
use bankroll_operators::NewProgramKey;
use bankroll_registry::{Registry, random_bytes};
use sha2::{Digest, Sha256};

use crate::{ApiError, ErrorCode};

const PREFIX: &str = "bkp_";

/// A new key: what the books keep, and the text that its program shows.
pub(crate) struct MadeProgramKey {
    pub kept: NewProgramKey,
    /// Shown once.
    pub text: String,
}

impl MadeProgramKey {
    pub fn new() -> Result<Self, ApiError> {
        let id = hex::encode(random_bytes::<8>().map_err(|_| ErrorCode::Internal)?);
        let secret: [u8; 32] = random_bytes().map_err(|_| ErrorCode::Internal)?;
        let text = format!("{PREFIX}{id}_{}", hex::encode(secret));
        let id = id.parse().map_err(|_| ErrorCode::Internal)?;
        Ok(Self { kept: NewProgramKey { id, secret_hash: hex::encode(Sha256::digest(secret)) }, text })
    }
}

/// Without the secret.
impl std::fmt::Debug for MadeProgramKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MadeProgramKey({})", self.kept.id)
    }
}

/// Whether a bearer's text has the form of such a key.
pub(super) fn is_program_key(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// The program whose key this is. One answer for a key that is unknown, wrong, expired and revoked.
pub(super) fn program_of(text: &str, registry: &Registry, now: Time) -> Result<Name, ApiError> {
    let refused = || ApiError::new(ErrorCode::SessionInvalid);
    let (id, digits) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or_else(refused)?;
    let id: Name = id.parse().map_err(|_| refused())?;
    let mut secret = [0; 32];
    hex::decode_to_slice(digits, &mut secret).map_err(|_| refused())?;
    let is_lower = !digits.bytes().any(|digit| digit.is_ascii_uppercase());
    let hash: [u8; 32] = Sha256::digest(secret).into();
    let key = registry.operators().program_key(&id).filter(|key| is_lower && key.is_live(now)).ok_or_else(refused)?;
    if is_same(&hash, &key.secret_hash) { Ok(id) } else { Err(refused()) }
}

/// Looks at every byte, however early they differ.
fn is_same(left: &[u8; 32], right: &[u8; 32]) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}
