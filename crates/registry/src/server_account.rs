//! The watch list: every address that players were ever given, with the server it belongs to.
//!
//! An entry is never removed. Players may still pay to an address that is no longer handed out.

use std::{fmt, str::FromStr};

use bankroll_ledger::{AccountKind, AccountName, AssetId, Column, Name, Row, Scope, Time};
use bankroll_orders::Address;
use bankroll_store::columns::{BadRow, int, number_of, parsed, time};
use serde::{Deserialize, Serialize};

use crate::{
    entry::{Entry, column, maybe_parsed, maybe_shown, shown, small_of, time_of},
    wallet::UnknownWord,
};

/// An address that the indexer watches, for one asset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerAccount {
    pub chain: Name,
    pub address: Address,
    pub asset: AssetId,
    pub server: Name,
    /// Our wallet of that address: the owner of its `custody` account.
    pub wallet: Name,
    /// The player it was made for; `None` if the sender tells the player.
    pub player: Option<Name>,
    /// The first block in which payments count.
    pub start_block: u64,
    pub status: ServerAccountStatus,
    pub created_at: Time,
    pub updated_at: Time,
    pub revision: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerAccountStatus {
    /// Handed out to players.
    Active,
    /// Replaced by another address; payments to it are still credited.
    Retired,
}

impl ServerAccount {
    /// The account that says what this address must hold.
    #[must_use]
    pub fn custody_account(&self) -> AccountName {
        let owner = Some(self.wallet.clone());
        AccountName { scope: Scope::House, kind: AccountKind::Custody, asset: self.asset, owner }
    }
}

impl ServerAccountStatus {
    /// The word in rows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Retired => "retired",
        }
    }
}

impl fmt::Display for ServerAccountStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ServerAccountStatus {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        [Self::Active, Self::Retired].into_iter().find(|status| status.as_str() == text).ok_or(UnknownWord)
    }
}

impl Entry for ServerAccount {
    const TABLE: &'static str = "server_accounts";

    fn key(&self) -> Vec<Column> {
        vec![
            column("chain", shown(&self.chain)),
            column("deposit_address", shown(&self.address.lower_hex())),
            column("asset", int(self.asset.0.into())),
        ]
    }

    fn columns(&self) -> Vec<Column> {
        vec![
            column("server", shown(&self.server)),
            column("wallet", shown(&self.wallet)),
            column("player", maybe_shown(self.player.as_ref())),
            column("start_block", int(self.start_block)),
            column("status", shown(&self.status)),
            column("created_at", time(self.created_at)),
            column("updated_at", time(self.updated_at)),
        ]
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn from_row(row: &Row) -> Result<Self, BadRow> {
        Ok(Self {
            chain: parsed(row, "chain")?,
            address: parsed(row, "deposit_address")?,
            asset: AssetId(small_of(row, "asset")?),
            server: parsed(row, "server")?,
            wallet: parsed(row, "wallet")?,
            player: maybe_parsed(row, "player")?,
            start_block: number_of(row, "start_block")?,
            status: parsed(row, "status")?,
            created_at: time_of(row, "created_at")?,
            updated_at: time_of(row, "updated_at")?,
            revision: number_of(row, "revision")?,
        })
    }
}
