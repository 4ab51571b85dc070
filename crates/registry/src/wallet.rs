//! Our wallets: which address, on which chain, for what.

use std::{fmt, str::FromStr};

use bankroll_ledger::{AccountKind, AccountName, AssetId, Column, ColumnValue, Name, Row, Scope, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, int, maybe, number_of, parsed, time};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, column, maybe_parsed, maybe_shown, shown, small_of, time_of};

/// What a wallet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalletRole {
    /// Pays out; by default it also receives a server's deposits.
    Hot,
    /// Receives deposits only: its coins cannot be spent before they are swept.
    Deposit,
    /// Between hot and cold.
    Warm,
    /// Its key is offline.
    Cold,
}

/// A wallet whose key is ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredWallet {
    /// Its name in the books: the owner of its `custody` accounts.
    pub name: Name,
    pub chain: Name,
    pub address: Address,
    pub role: WalletRole,
    /// The key that it is derived from; `None` if the registry does not know.
    pub custody_key: Option<Name>,
    /// Its place under that key: `xpub/0/index`.
    pub derivation_index: Option<u32>,
    pub created_at: Time,
    pub revision: u64,
}

impl RegisteredWallet {
    /// The account that says what this wallet must hold of an asset.
    #[must_use]
    pub fn custody_account(&self, asset: AssetId) -> AccountName {
        AccountName { scope: Scope::House, kind: AccountKind::Custody, asset, owner: Some(self.name.clone()) }
    }
}

impl WalletRole {
    pub const ALL: [Self; 4] = [Self::Hot, Self::Deposit, Self::Warm, Self::Cold];

    /// The word in rows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Deposit => "deposit",
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }
}

impl fmt::Display for WalletRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for WalletRole {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(UnknownWord)
    }
}

/// A word that is none of a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an unknown word")]
pub struct UnknownWord;

impl Entry for RegisteredWallet {
    const TABLE: &'static str = "registered_wallets";

    fn key(&self) -> Vec<Column> {
        vec![column("name", shown(&self.name))]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("chain", shown(&self.chain)),
            column("address", shown(&self.address.lower_hex())),
            column("role", shown(&self.role)),
            column("custody_key", maybe_shown(self.custody_key.as_ref())),
            column("derivation_index", self.derivation_index.map_or(ColumnValue::Null, |index| int(index.into()))),
            column("created_at", time(self.created_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            name: parsed(row, "name")?,
            chain: parsed(row, "chain")?,
            address: parsed(row, "address")?,
            role: parsed(row, "role")?,
            custody_key: maybe_parsed(row, "custody_key")?,
            derivation_index: maybe(row, "derivation_index", small_of)?,
            created_at: time_of(row, "created_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}
