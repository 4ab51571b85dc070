//! A wallet's key: signs hashes and seals heads. It is never printed, cloned or serialised.

use std::fmt;

use bankroll_orders::{Address, MemoryHead};
use hmac::{Hmac, Mac};
use k256::ecdsa::{SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The signature is not the wallet's own, or could not be made. This is a bug; nothing is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key did not make the signature it should have made")]
pub struct SigningFault;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a private key of secp256k1")]
pub struct InvalidKey;

pub struct LocalKey {
    signing: SigningKey,
    sealing: Zeroizing<[u8; 32]>,
    address: Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySignature {
    pub r: [u8; 32],
    /// Never above half of the group's order.
    pub s: [u8; 32],
    /// The parity of the point, for recovering the key.
    pub odd: bool,
}

impl LocalKey {
    /// # Errors
    /// Zero, or a number outside the group.
    pub fn from_bytes(secret: &Zeroizing<[u8; 32]>) -> Result<Self, InvalidKey> {
        let signing = SigningKey::from_slice(secret.as_slice()).map_err(|_| InvalidKey)?;
        let address = Address::of(signing.verifying_key());
        // A separate key for a separate purpose; it does not reveal the signing key.
        let sealing = Sha256::new().chain_update(b"bankroll signer seal 1\0").chain_update(secret.as_slice());
        Ok(Self { signing, sealing: Zeroizing::new(sealing.finalize().into()), address })
    }

    #[must_use]
    pub const fn address(&self) -> Address {
        self.address
    }

    /// Signs a hash, and verifies that the signature recovers to this wallet before it returns it.
    ///
    /// # Errors
    /// It does not.
    pub fn sign(&self, hash: &[u8; 32]) -> Result<KeySignature, SigningFault> {
        let (signature, recovery) = self.signing.sign_prehash_recoverable(hash).map_err(|_| SigningFault)?;
        let recovered = VerifyingKey::recover_from_prehash(hash, &signature, recovery).map_err(|_| SigningFault)?;
        let sound =
            Address::of(&recovered) == self.address && signature.normalize_s().is_none() && !recovery.is_x_reduced();
        let (r, s) = signature.split_bytes();
        sound.then_some(KeySignature { r: r.into(), s: s.into(), odd: recovery.is_y_odd() }).ok_or(SigningFault)
    }

    #[must_use]
    pub fn seal(&self, mut head: MemoryHead) -> MemoryHead {
        head.seal = self.mac(&head).finalize().into_bytes().into();
        head
    }

    /// Whether this key sealed the head; in constant time.
    #[must_use]
    pub fn is_sealed(&self, head: &MemoryHead) -> bool {
        self.mac(head).verify_slice(&head.seal).is_ok()
    }

    fn mac(&self, head: &MemoryHead) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(self.sealing.as_slice()).expect("HMAC takes keys of any length");
        mac.chain_update(head.sealed_bytes())
    }
}

impl fmt::Debug for LocalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalKey({})", self.address)
    }
}
