//! Custody keys, of which the registry has the public half only.
//!
//! The signer keeps the private keys. From an extended public key (BIP-32, at the account's level `m/44'/60'/account'`)
//! the books derive addresses by themselves: `xpub/0/0` is the hot wallet, `xpub/0/1` and up are players' addresses.

use bankroll_ledger::{Column, Name, Row, Time};
use bankroll_orders::{Address, ExtendedPublicKey};
use bankroll_store::columns::{BadRow, int, number_of, parsed, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, maybe_parsed, maybe_shown, shown, small_of, time_of};

/// The public half of a key that the signer keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustodyKey {
    pub id: Name,
    /// `None` for a single key, which has one address.
    #[serde(default, with = "xpub_text")]
    pub xpub: Option<ExtendedPublicKey>,
    /// The account in the path `m/44'/60'/account'`.
    pub account: u32,
    /// The address at index 0.
    pub address: Address,
    pub created_at: Time,
    pub revision: u64,
}

impl CustodyKey {
    /// The address at an index; `None` for an index above 0 of a single key, or one that BIP-32 does not have.
    #[must_use]
    pub fn derive(&self, index: u32) -> Option<Address> {
        match (&self.xpub, index) {
            (_, 0) => Some(self.address),
            (Some(xpub), _) => xpub.address(index).ok(),
            (None, _) => None,
        }
    }
}

/// Extended keys in JSON, as text. An error does not repeat the text: it may be a private key.
pub(crate) mod xpub_text {
    use bankroll_orders::ExtendedPublicKey;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(key: &Option<ExtendedPublicKey>, serializer: S) -> Result<S::Ok, S::Error> {
        key.as_ref().map(ToString::to_string).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ExtendedPublicKey>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
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
