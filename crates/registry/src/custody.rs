//! Custody keys, of which the registry has the public half only.
//!
//! The signer keeps the private keys. From an extended public key (BIP-32, at the account's level `m/44'/60'/account'`)
//! the books derive addresses by themselves: `xpub/0/0` is the hot wallet, `xpub/0/1` and up are players' addresses.

use std::{fmt, str::FromStr};

use bankroll_ledger::{Column, Name, Row, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, int, number_of, parsed, time};
use coins_bip32::{
    enc::{MainnetEncoder, XKeyEncoder},
    primitives::XKeyInfo,
    xkeys::{Parent, XPub},
};
use k256::ecdsa::VerifyingKey;
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, maybe_parsed, maybe_shown, shown, small_of, time_of};

/// The public half of a key that the signer keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustodyKey {
    pub id: Name,
    /// `None` for a single key, which has one address.
    pub xpub: Option<ExtendedKey>,
    /// The account in the path `m/44'/60'/account'`.
    pub account: u32,
    /// The address at index 0.
    pub address: Address,
    pub created_at: Time,
    pub revision: u64,
}

/// An extended public key in its one spelling: base58, `xpub...`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExtendedKey(String);

/// A text that is not an extended public key. The text is not repeated: it may be a private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an extended public key is 111 characters that begin with xpub; a private key does not belong here")]
pub struct ExtendedKeyError;

impl CustodyKey {
    /// The address at an index; `None` for an index above 0 of a single key, or one that BIP-32 does not have.
    #[must_use]
    pub fn derive(&self, index: u32) -> Option<Address> {
        match (&self.xpub, index) {
            (_, 0) => Some(self.address),
            (Some(xpub), _) => xpub.address(index),
            (None, _) => None,
        }
    }
}

impl ExtendedKey {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address at `xpub/0/index`; `None` for an index that is hardened, or has no key (one in 2^127).
    #[must_use]
    pub fn address(&self, index: u32) -> Option<Address> {
        let receiving = decode(&self.0)?.derive_child(0).ok()?;
        let child = receiving.derive_child(index).ok()?;
        // Where an index has no key the crate takes the next one, which would give two indexes one address.
        let info: &XKeyInfo = child.as_ref();
        if info.index != index {
            return None;
        }
        let key: &VerifyingKey = child.as_ref();
        let point = key.to_encoded_point(false);
        let coordinates: [u8; 64] = point.as_bytes().get(1..)?.try_into().ok()?;
        Some(Address::of_public_key(&coordinates))
    }
}

fn decode(text: &str) -> Option<XPub> {
    if text.len() != 111 || !text.starts_with("xpub") || !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let key = MainnetEncoder::xpub_from_base58(text).ok()?;
    let info: &XKeyInfo = key.as_ref();
    // Two levels are derived below it.
    (info.depth < 250).then_some(key)
}

impl FromStr for ExtendedKey {
    type Err = ExtendedKeyError;

    fn from_str(text: &str) -> Result<Self, ExtendedKeyError> {
        decode(text).map(|_| Self(text.to_owned())).ok_or(ExtendedKeyError)
    }
}

impl TryFrom<String> for ExtendedKey {
    type Error = ExtendedKeyError;

    fn try_from(text: String) -> Result<Self, ExtendedKeyError> {
        text.parse()
    }
}

impl From<ExtendedKey> for String {
    fn from(key: ExtendedKey) -> Self {
        key.0
    }
}

impl fmt::Display for ExtendedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Entry for CustodyKey {
    const TABLE: &'static str = "custody_keys";

    fn key(&self) -> Vec<Column> {
        vec![column("id", shown(&self.id))]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("xpub", maybe_shown(self.xpub.as_ref())),
            column("derivation_account", int(self.account.into())),
            column("address", shown(&self.address.lower_hex())),
            column("created_at", time(self.created_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            id: parsed(row, "id")?,
            xpub: maybe_parsed(row, "xpub")?,
            account: small_of(row, "derivation_account")?,
            address: parsed(row, "address")?,
            created_at: time_of(row, "created_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}
