//! A request that a person signed: what a stranger with the log needs to verify the signature again.

use bankroll_ledger::Time;
use bankroll_orders::{
    Address, ChainId,
    typed_data::{self, ApiRequest, B256, WalletSignature},
};
use serde::{Deserialize, Serialize};
use sha3::{Digest, Keccak256};

use crate::OperatorRefusal;

/// How far ahead a signature may expire, in seconds.
pub const SIGNED_AHEAD_MAX: u64 = 300;
/// How far the clocks of people may be wrong, in seconds.
pub const SIGNED_SKEW: u64 = 60;

/// An HTTP request with the signature over it (EIP-712, `ApiRequest`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedRequest {
    pub method: String,
    /// With the query.
    pub path: String,
    pub audience: String,
    pub chain_id: u64,
    pub idempotency_key: String,
    pub body: String,
    /// Seconds since 1970.
    pub expires: u64,
    pub address: Address,
    /// `0x` and 130 hexadecimal digits.
    pub signature: String,
}

impl SignedRequest {
    /// Whether the key of its address signed it, and it was good at this time.
    ///
    /// # Errors
    /// If not.
    pub fn verify(&self, at: Time) -> Result<(), OperatorRefusal> {
        let seconds = at.0 / 1_000_000;
        let latest = seconds.saturating_add(SIGNED_AHEAD_MAX).saturating_add(SIGNED_SKEW);
        if self.expires > latest || self.expires.saturating_add(SIGNED_SKEW) <= seconds {
            return Err(OperatorRefusal::SignatureExpired);
        }
        let signature: WalletSignature = self.signature.parse().map_err(|_| OperatorRefusal::SignatureInvalid)?;
        let message = ApiRequest {
            method: self.method.clone(),
            path: self.path.clone(),
            audience: self.audience.clone(),
            idempotencyKey: self.idempotency_key.clone(),
            bodyHash: B256::from_slice(&Keccak256::digest(self.body.as_bytes())),
            expires: self.expires,
        };
        let digest = typed_data::digest(&message, ChainId(self.chain_id));
        match typed_data::recover(&digest, &signature) {
            Ok(signer) if signer == self.address => Ok(()),
            _ => Err(OperatorRefusal::SignatureInvalid),
        }
    }
}
