//! A seed: the secret that all wallets of a deployment can be derived from (BIP-39, BIP-32).
//!
//! A wallet is at `m/44'/60'/ACCOUNT'/0/INDEX`, as in common wallets; there is no BIP-39 passphrase.
//!
//! It guarantees that no error and no debug output contains a word or a key, and that the words are wiped from memory.
//! The libraries do not wipe what they compute on the way: only commands that end at once open a seed; a signer that
//! runs never does.

use std::fmt;

use bankroll_orders::{DERIVATION_INDEX_END, ExtendedPublicKey};
use coins_bip32::{prelude::Hint, xkeys::XPriv};
use coins_bip39::{English, Entropy, Mnemonic};
use k256::ecdsa::SigningKey;
use rand_core::{OsRng, RngCore};
use zeroize::Zeroizing;

use crate::keystore::{self, KeystoreCost, KeystoreError};

/// The name in a signer's folder.
pub const SEED_FILE: &str = "seed.json";
/// What a seed file says about itself: no command takes it for the key of a wallet, or a key for a seed.
const CONTENT: &str = "bip39-mnemonic";

/// The words of a mnemonic, with single spaces.
pub struct Seed(Zeroizing<String>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    #[error("not a mnemonic of BIP-39: 12, 15, 18, 21 or 24 English words, the last of which is a checksum")]
    NotMnemonic,
    #[error("the numbers of accounts and indexes are below 2147483648")]
    PathTooLarge,
    /// About one path in 2^127.
    #[error("there is no key at this path; use the next one")]
    NoKey,
}

impl Seed {
    /// A new seed, of 24 words.
    #[must_use]
    pub fn generate() -> Self {
        let mut entropy = Zeroizing::new([0; 32]);
        OsRng.fill_bytes(entropy.as_mut_slice());
        Self(Zeroizing::new(Mnemonic::<English>::new_from_entropy(Entropy::ThirtyTwo(*entropy)).to_phrase()))
    }

    /// # Errors
    /// A word is missing, mistyped or in a wrong place.
    pub fn from_mnemonic(text: &str) -> Result<Self, SeedError> {
        let words: Zeroizing<String> = Zeroizing::new(text.split_whitespace().collect::<Vec<_>>().join(" "));
        Mnemonic::<English>::new_from_phrase(&words).map_err(|_| SeedError::NotMnemonic)?;
        Ok(Self(words))
    }

    /// The words. Their holder can spend the coins of every account.
    #[must_use]
    pub fn mnemonic(&self) -> &str {
        &self.0
    }

    /// The private key of a wallet.
    ///
    /// # Errors
    /// As [`SeedError`] says.
    pub fn wallet(&self, account: u32, index: u32) -> Result<Zeroizing<[u8; 32]>, SeedError> {
        let key = derived(&self.account_key(account)?, &[0, checked(index)?])?;
        let signing: &SigningKey = key.as_ref();
        Ok(Zeroizing::new(signing.to_bytes().into()))
    }

    /// The public key of an account, for deriving its addresses where no secret is.
    ///
    /// # Errors
    /// As [`SeedError`] says.
    pub fn account(&self, account: u32) -> Result<ExtendedPublicKey, SeedError> {
        ExtendedPublicKey::of_account(self.account_key(account)?.verify_key()).map_err(|_| SeedError::NoKey)
    }

    /// The text of the seed file.
    ///
    /// # Errors
    /// As [`KeystoreError`] says.
    pub fn encrypt(&self, password: &[u8], cost: KeystoreCost) -> Result<String, KeystoreError> {
        keystore::lock(self.0.as_bytes(), None, Some(CONTENT), password, cost)
    }

    /// Reads [`Seed::encrypt`] back.
    ///
    /// # Errors
    /// As [`KeystoreError`] says.
    pub fn decrypt(text: &str, password: &[u8]) -> Result<Self, KeystoreError> {
        let (words, _) = keystore::unlock(text, Some(CONTENT), password)?;
        let words = std::str::from_utf8(&words).map_err(|_| KeystoreError::Malformed)?;
        Self::from_mnemonic(words).map_err(|_| KeystoreError::Malformed)
    }

    fn account_key(&self, account: u32) -> Result<XPriv, SeedError> {
        let account = checked(account)?;
        let mnemonic = Mnemonic::<English>::new_from_phrase(&self.0).map_err(|_| SeedError::NotMnemonic)?;
        let seed = Zeroizing::new(mnemonic.to_seed(None).map_err(|_| SeedError::NoKey)?);
        // Without the hint the public key is written as `zpub`, which tools for Ethereum do not read.
        let root = XPriv::root_from_seed(seed.as_slice(), Some(Hint::Legacy)).map_err(|_| SeedError::NoKey)?;
        derived(&root, &[44, 60, account].map(|number| number | DERIVATION_INDEX_END))
    }
}

fn derived(key: &XPriv, path: &[u32]) -> Result<XPriv, SeedError> {
    key.derive_path(path).map_err(|_| SeedError::NoKey)
}

/// A number in the lower half: the upper one stands for hardened derivation.
fn checked(number: u32) -> Result<u32, SeedError> {
    if number < DERIVATION_INDEX_END { Ok(number) } else { Err(SeedError::PathTooLarge) }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed")
    }
}
