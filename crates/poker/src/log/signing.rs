//! Signatures: ECDSA on secp256k1 with SHA-256, 64 bytes, and only the lower of the two values of `s`.
//!
//! Signing keys live long and identify authors; they are never the keys that seal cards. A key has one encoding (33
//! bytes, compressed), a signature has one form, and what is signed begins with a name of what it is, so that a signed
//! envelope is never a signed receipt. Nonces follow from the key and the message (RFC 6979): signing needs no
//! randomness.

use std::fmt;

use k256::ecdsa::{
    self,
    signature::{Signer as _, Verifier as _},
};
use rand_core::{CryptoRng, RngCore};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::hex::Hex;

/// A secret signing key. It is wiped when dropped, and cannot be printed.
#[derive(Clone)]
pub struct MessageSigner(ecdsa::SigningKey);

/// The public half of a signing key, which identifies its owner.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SignerKey(ecdsa::VerifyingKey);

/// A signature: `r`, then `s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signature(pub Hex<64>);

impl MessageSigner {
    pub fn generate(rng: &mut (impl CryptoRng + RngCore)) -> Self {
        Self(ecdsa::SigningKey::random(rng))
    }

    /// A stored key; none if the number is zero or beyond the order of the group.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        ecdsa::SigningKey::from_slice(bytes).ok().map(Self)
    }

    #[must_use]
    pub fn key(&self) -> SignerKey {
        SignerKey(*self.0.verifying_key())
    }

    pub(super) fn sign(&self, domain: &str, bytes: &[u8]) -> Signature {
        let signature: ecdsa::Signature = self.0.sign(&within(domain, bytes));
        Signature(Hex(signature.normalize_s().unwrap_or(signature).to_bytes().into()))
    }
}

impl SignerKey {
    /// Reads 33 bytes; none if they are not the one encoding of a key.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 33]) -> Option<Self> {
        ecdsa::VerifyingKey::from_sec1_bytes(bytes).ok().map(Self).filter(|key| key.bytes().0 == *bytes)
    }

    /// Reads lower-case hexadecimal.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        Self::from_bytes(&super::hex::read(text)?.try_into().ok()?)
    }

    /// The key's one encoding.
    #[must_use]
    pub fn bytes(&self) -> Hex<33> {
        let mut bytes = Hex::default();
        let point = self.0.to_encoded_point(true);
        bytes.0.iter_mut().zip(point.as_bytes()).for_each(|(byte, from)| *byte = *from);
        bytes
    }

    /// Whether the owner of this key signed these bytes as what the domain names.
    pub(super) fn signed(&self, domain: &str, bytes: &[u8], signature: &Signature) -> bool {
        let Ok(signature) = ecdsa::Signature::from_slice(&signature.0.0) else { return false };
        signature.normalize_s().is_none() && self.0.verify(&within(domain, bytes), &signature).is_ok()
    }
}

fn within(domain: &str, bytes: &[u8]) -> Vec<u8> {
    [domain.as_bytes(), &[0], bytes].concat()
}

impl fmt::Display for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.bytes(), f)
    }
}

impl fmt::Debug for SignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for SignerKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bytes().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SignerKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = Hex::<33>::deserialize(deserializer)?;
        Self::from_bytes(&bytes.0).ok_or_else(|| de::Error::custom("not a compressed point of secp256k1"))
    }
}
