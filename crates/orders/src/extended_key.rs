//! Extended public keys of accounts (BIP-32): they derive the addresses of a seed's account and can sign nothing.
//!
//! The path of an account is `m/44'/60'/ACCOUNT'`, of its addresses `0/INDEX` below it, as in common wallets. The key is
//! public, but it links all addresses of the account; with the private key of one of them, it gives all the others.

use std::{fmt, str::FromStr};

use coins_bip32::{
    BIP32_HARDEN,
    prelude::{MainnetEncoder, Parent, XKeyEncoder, XKeyInfo, XPub},
};

use crate::Address;

/// Every text of this version and length in base58.
const TEXT_BYTES: usize = 111;
/// Accounts and indexes are below this number: the upper half is for hardened derivation.
pub const DERIVATION_INDEX_END: u32 = BIP32_HARDEN;

/// The extended public key of one account.
#[derive(Clone, Copy)]
pub struct ExtendedPublicKey(XPub);

/// Why a key is not the extended public key of an account, or gives no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtendedKeyError {
    #[error("an extended public key is xpub and 107 letters and digits; one is missing or mistyped")]
    Malformed,
    /// Addresses below another level would be addresses that no signer has a key for.
    #[error("the extended public key is not that of an account, m/44'/60'/ACCOUNT'")]
    NotAccount,
    #[error("the index of a derived address is below 2147483648")]
    IndexTooLarge,
}

impl ExtendedPublicKey {
    /// # Errors
    /// The key is of another depth, or of a child that is not hardened.
    pub fn of_account(key: XPub) -> Result<Self, ExtendedKeyError> {
        let info: &XKeyInfo = key.as_ref();
        if info.depth == 3 && info.index >= BIP32_HARDEN { Ok(Self(key)) } else { Err(ExtendedKeyError::NotAccount) }
    }

    /// The number of the account.
    #[must_use]
    pub fn account(&self) -> u32 {
        let info: &XKeyInfo = self.0.as_ref();
        info.index & !BIP32_HARDEN
    }

    /// The address at `0/INDEX` below the account.
    ///
    /// # Errors
    /// The index is too large.
    pub fn address(&self, index: u32) -> Result<Address, ExtendedKeyError> {
        let child = self.0.derive_child(0).and_then(|chain| chain.derive_child(index));
        child.map(|key| Address::of(key.as_ref())).map_err(|_| ExtendedKeyError::IndexTooLarge)
    }
}

impl FromStr for ExtendedPublicKey {
    type Err = ExtendedKeyError;

    fn from_str(text: &str) -> Result<Self, ExtendedKeyError> {
        // Before decoding: the decoder panics on short texts.
        if text.len() != TEXT_BYTES || !text.starts_with("xpub") {
            return Err(ExtendedKeyError::Malformed);
        }
        let key = MainnetEncoder::xpub_from_base58(text).map_err(|_| ExtendedKeyError::Malformed)?;
        let key = Self::of_account(key)?;
        if key.to_string() == text { Ok(key) } else { Err(ExtendedKeyError::Malformed) }
    }
}

impl fmt::Display for ExtendedPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&MainnetEncoder::xpub_to_base58(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for ExtendedPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for ExtendedPublicKey {
    /// With the chain code, which the library's comparison leaves out.
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for ExtendedPublicKey {}
